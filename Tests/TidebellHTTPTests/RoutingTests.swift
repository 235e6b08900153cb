// SPDX-License-Identifier: Apache-2.0
import Logging
import TestSupport
import Testing
import TidebellWire
import TidebellCore
import TidebellHTTP
import TidebellServer

@Suite("Routes, methods, CORS")
struct RoutingTests {
    @Test(
        "An unknown path is 404 and named (1.1)",
        arguments: [
            "/nothing", "/database", "/database/2/c/development/private/zones/list",
            "/database/1/c/development/private/zones", "/health/of/all", "/courier/a/b",
            "/database/1/c/development/private/records/zip/prepare",
            "/database/1/c/development/private/records/explode",
            "/ext/1/c/development/tokens/create", "/device/1/c/development/zones/list",
        ]
    )
    func unknownPath(path: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", path + "?ckAPIToken=secret")
        #expect(answer.status == 404)
        #expect(
            answer.error
                == WireError(.notFound, "could not find handler for endpoint '\(path)'")
        )
        #expect(answer[header: "X-Apple-Request-UUID"] == answer.uuid)
    }

    @Test(
        "A path that names no endpoint is 400 and names the part that is wrong",
        arguments: [
            ("/database/1/c/staging/private/zones/list", "unknown environment 'staging'"),
            ("/database/1/c/development/secret/zones/list", "unknown database 'secret'"),
            ("/database/1/c%2Fd/development/private/zones/list", "container 'c/d' must be"),
            ("/database/1/c d/development/private/zones/list", "container 'c d' must be"),
            ("/database/1/%F0%28/development/private/zones/list", "the path segment '%F0%28'"),
            ("/device/1/c/staging/tokens/create", "unknown environment 'staging'"),
            (
                "/database/1/c/development/private/users/caller",
                "endpoint not applicable in the database type 'privatedb'"
            ),
        ]
    )
    func wrongPath(path: String, reason: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.send("POST", path)
        #expect(answer.status == 400)
        #expect(answer.error?.code == .badRequest)
        #expect(answer.error?.reason.hasPrefix(reason) == true, "\(answer.text)")
    }

    @Test(
        "A wrong method is 405, with the right one",
        arguments: [
            ("GET", "private/records/modify", "POST"), ("PUT", "private/zones/list", "GET, POST"),
            ("DELETE", "private/records/lookup", "POST"),
            ("HEAD", "private/zones/list", "GET, POST"),
        ]
    )
    func wrongMethod(method: String, path: String, allowed: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.send(method, api.target(path))
        #expect(answer.status == 405)
        #expect(answer[header: "Allow"] == allowed)
        #expect(answer.error == .badRequest("the method must be \(allowed), not \(method)"))
    }

    @Test("Any content type is read as JSON (10.4)", arguments: ["text/plain", "image/png", ""])
    func contentTypes(type: String) async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/zones/lookup", #"{"zones":[]}"#, headers: ["Content-Type": type]
        )
        #expect(answer.withoutHeaders == TestAPI.Answer(status: 200, text: #"{"zones":[]}"#))
    }

    @Test("A browser's question before a request is answered for any path (1.2)")
    func preflight() async throws {
        let api = try await TestAPI()
        let answer = try await api.send(
            "OPTIONS", "/database/1/c/development/private/records/modify",
            headers: [
                "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type,x-apple-cloudkit-request-keyid",
            ]
        )
        #expect(answer.status == 204)
        #expect(answer.text.isEmpty)
        #expect(answer[header: "Access-Control-Allow-Origin"] == "https://app.example")
        #expect(answer[header: "Access-Control-Allow-Methods"] == "GET, POST, OPTIONS")
        #expect(
            answer[header: "Access-Control-Allow-Headers"]
                == "content-type,x-apple-cloudkit-request-keyid"
        )
    }

    @Test("Pages of the Internet reach a private network where the operator lets them")
    func privateNetwork() async throws {
        for isOpen in [false, true] {
            var shares = ShareLimits()
            shares.opensPrivateNetwork = isOpen
            let api = try await TestAPI(shares: shares)
            for asked in [nil, "true", "no"] {
                let answer = try await api.send(
                    "OPTIONS", "/database/1/c/development/private/records/modify",
                    headers: asked.map { ["Access-Control-Request-Private-Network": $0] } ?? [:])
                #expect(
                    answer[header: "Access-Control-Allow-Private-Network"]
                        == (isOpen && asked == "true" ? "true" : nil))
            }
        }
    }

    @Test(
        "At the level info each request is a line: what was answered, to whom, in what time, why not"
    )
    func requestLog() async throws {
        let api = try await TestAPI(logLevel: .info)
        let number = try await api.cloud.store.read { try $0.account(named: Accounts.firstUser) }
        let account = try #require(number).rawValue
        let before = api.log.entries.count
        _ = try await api.get("private/zones/list")
        _ = try await api.send("GET", "/nothing?ckAPIToken=wordOfTheSecret")
        for endpoint in WireProtocol.endpoints where endpoint.route.access == .url {
            for rest in ["", "/x/y"] {
                let path = endpoint.route.path.stem + "wordOfTheSecret"
                _ = try await api.send(endpoint.route.method.rawValue, path + rest)
            }
        }
        _ = try await api.send("GET", "/database/1/a%0Afake/development/private/zones/list")
        _ = try await api.send(
            "GET", "/health",
            headers: ["X-Tidebell-Operation-Group-Name": "a\u{9B}31m\u{2028}b status=200"])
        let entries = api.log.entries[before...]
        let lines = entries.prefix(2).map { entry in
            entry.metadata.filter { $0.key != "requestID" }.sorted { $0.key < $1.key }
                .map { "\($0)=\($1)" }
        }
        #expect(entries.allSatisfy { $0.message == "request answered" && $0.level == .info })
        #expect(
            lines == [
                [
                    "account=\(account)",
                    "endpoint=/database/1/\(TestAPI.container)/development/private/zones/list",
                    "method=GET", "milliseconds=0.0", "status=200",
                ],
                [
                    "code=NOT_FOUND", "endpoint=/nothing", "method=GET", "milliseconds=0.0",
                    "reason=could not find handler for endpoint '/nothing'", "status=404",
                ],
            ])
        #expect(!"\(entries)".contains("wordOfTheSecret"))
        let group = try #require(entries.last?.metadata["groupName"])
        #expect("\(group)" == "a\u{FFFD}31m\u{FFFD}b status:200")
        let last = try #require(entries.compactMap { $0.metadata["reason"] }.last)
        #expect("\(last)".hasPrefix("container 'a\u{FFFD}fake' must be letters"))
        let quiet = try await TestAPI(logLevel: .notice)
        _ = try await quiet.get("private/zones/list")
        #expect(quiet.log.entries == [])
    }

    @Test("A page of another origin may read answers, errors too, and their headers (1.2)")
    func crossOrigin() async throws {
        let api = try await TestAPI()
        for path in ["/health", "/nothing"] {
            let answer = try await api.send("GET", path, headers: ["origin": "https://app.example"])
            #expect(answer[header: "Access-Control-Allow-Origin"] == "https://app.example")
            #expect(answer[header: "Vary"] == "Origin")
            #expect(
                answer[header: "Access-Control-Expose-Headers"]
                    == "X-Apple-CloudKit-Web-Auth-Token, X-Apple-CloudKit-Session, "
                    + "X-Apple-Request-UUID, Retry-After"
            )
        }
        let plain = try await api.send("GET", "/health")
        #expect(plain[header: "Access-Control-Allow-Origin"] == nil)
    }

    @Test("GET /health is ok while the store can be read")
    func health() async throws {
        let api = try await TestAPI()
        let answer = try await api.send("GET", "/health")
        #expect(answer.withoutHeaders == TestAPI.Answer(status: 200, text: #"{"status":"ok"}"#))
    }
}

extension TestAPI.Answer {
    /// The UUID in the body of a failed request.
    var uuid: String? {
        (try? JSONReader.read(Array(text.utf8), WireError.init(from:)))?.uuid
    }
}
