// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellWire

@testable import TidebellHTTP

@Suite("The description of the API")
struct OpenAPITests {
    private let document: [String: Any]

    init() throws {
        let json = try JSONSerialization.jsonObject(with: Data(OpenAPI.document))
        document = try #require(json as? [String: Any])
    }

    @Test("Every endpoint of the protocol is described, and no other")
    func endpoints() {
        let known = WireProtocol.endpoints.map(ObjectIdentifier.init)
        #expect(Set(OpenAPI.documentation.keys) == Set(known))
    }

    @Test(
        "Paths and methods are those of the routes, each once, and the names in paths are parameters"
    )
    func paths() throws {
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        var expected: [String: Set<String>] = [:]
        for endpoint in WireProtocol.endpoints {
            let arguments = OpenAPI.documentation[ObjectIdentifier(endpoint)]?.arguments ?? []
            for path in endpoint.route.paths {
                expected[OpenAPI.text(of: path, with: arguments)] = Set(
                    endpoint.route.methods.map { $0.rawValue.lowercased() })
            }
        }
        #expect(paths.mapValues { Set($0.keys) } == expected)
        #expect(paths["/database/1/{container}/{environment}/{database}/records/modify"] != nil)
        #expect(paths["/database/1/{container}/{environment}/public/users/caller"] != nil)
        var names: Set<String> = []
        for (path, operations) in paths {
            let inPath = Set(path.matches(of: /{(\w+)}/).map { String($0.1) })
            for operation in operations.values {
                names.insert(try #require(operation["operationId"] as? String))
                let parameters = operation["parameters"] as? [[String: Any]] ?? []
                let declared = parameters.filter { $0["in"] as? String == "path" }
                #expect(Set(declared.compactMap { $0["name"] as? String }) == inPath, "\(path)")
            }
        }
        #expect(names.count == paths.values.reduce(0) { $0 + $1.count }, "operations have names")
    }

    @Test("What is referred to is there")
    func references() throws {
        let components = try #require(document["components"] as? [String: [String: Any]])
        let schemas = try #require(components["schemas"]).keys.map { "#/components/schemas/\($0)" }
        let text = String(decoding: OpenAPI.document, as: UTF8.self)
        let references = Set(text.matches(of: /"\$ref":"([^"]+)"/).map { String($0.1) })
        #expect(references.isSubset(of: schemas))
        // The errors of pages and of files are no objects, so not all are referred to everywhere.
        #expect(Set(schemas).subtracting(references) == [])
    }

    @Test("The server hands it out to all origins")
    func served() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/openapi.json")
        #expect(answer.status == 200)
        #expect(answer[header: "Content-Type"] == "application/json; charset=UTF-8")
        #expect(answer[header: "Access-Control-Allow-Origin"] == "*")
        #expect(Array(answer.text.utf8) == OpenAPI.document)
    }
}
