// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// Whole requests and answers of every endpoint, to the letter (web-services 3 to 6, 9).
@Suite("Exchanges as they are stored", .hangs)
struct ExchangeTests {
    private static let stories = StoredExchange.stories.map(\.name)

    @Test("Every endpoint has an exchange, by each of its methods and paths")
    func complete() {
        let exchanges = StoredExchange.stories.flatMap(\.exchanges)
        var missing: [String] = []
        for endpoint in WireProtocol.endpoints {
            let own = exchanges.filter { $0.endpoint == "\(endpoint)" }
            let route = endpoint.route
            for method in route.methods where method != .head {
                guard !own.contains(where: { $0.method == method.rawValue }) else { continue }
                missing.append("\(endpoint) by \(method.rawValue)")
            }
            for path in route.paths where path.root == .database || path.root == .device {
                let isDevice = path.root == .device
                let isThere = own.contains {
                    $0.target.hasSuffix(path.action) && $0.target.hasPrefix("device/") == isDevice
                }
                if !isThere { missing.append("\(endpoint) at \(path.action) of \(path.root)") }
            }
        }
        #expect(missing == [])
        let names = Set(WireProtocol.endpoints.map { "\($0)" })
        #expect(exchanges.compactMap(\.endpoint).filter { !names.contains($0) } == [])
    }

    @Test(
        "The server answers what is stored, and the client's side reads and writes the same",
        arguments: stories)
    func exchanges(name: String) async throws {
        let exchanges = try #require(StoredExchange.stories.first { $0.name == name }?.exchanges)
        var story = try await ExchangeStory()
        for exchange in exchanges {
            if exchange.endpoint == nil {
                try await story.run(exchange.doing)
                continue
            }
            let request = story.seen.filled(exchange.request)
            let answer = try await story.send(exchange, request)
            let expected = story.seen.filled(exchange.answer, from: answer.text)
            let type = exchange.type ?? WireProtocol.contentType
            #expect(answer.text == expected, "\(exchange)")
            #expect(answer.status == exchange.status, "\(exchange)")
            #expect(answer[header: "Content-Type"] == type, "\(exchange)")
            guard exchange.type == nil else { continue }
            let endpoint = try #require(
                WireProtocol.endpoints.first { "\($0)" == exchange.endpoint })
            if exchange.status == 200, !request.isEmpty {
                let sent = try Self.readAndWritten(request, by: endpoint)
                #expect(sent == request, "\(exchange)")
            }
            let written =
                try exchange.status == 200
                ? Self.readAndWritten(answer.text, fromAnswerOf: endpoint)
                : Self.written(answer.text, WireError.init(from:)) { $0.write(to: &$1) }
            #expect(written == answer.text, "\(exchange)")
        }
    }

    /// Returns a request as the client's side writes it that read it; files are no documents, and what only operators'
    /// programs send is read alone.
    private static func readAndWritten<Endpoint: WireEndpoint>(
        _ text: String, by endpoint: Endpoint.Type
    ) throws -> String {
        guard let body = Endpoint.Request.self as? any WireBody.Type else { return text }
        return try readAndWritten(text, body)
    }

    private static func readAndWritten<Endpoint: WireEndpoint>(
        _ text: String, fromAnswerOf endpoint: Endpoint.Type
    ) throws -> String {
        guard let body = Endpoint.Response.self as? any WireBody.Type else { return text }
        return try readAndWritten(text, body)
    }

    private static func readAndWritten<Body: WireBody>(_ text: String, _ body: Body.Type) throws
        -> String
    {
        try written(text, Body.init(from:)) { value, writer in
            // Zones are listed without it where they are asked for by POST (web-services 4.1).
            if var zones = value as? ZonesResponse, !text.contains(#""atomic""#) {
                zones.sendsAtomic = false
                return zones.write(to: &writer)
            }
            value.write(to: &writer)
        }
    }

    private static func written<Value>(
        _ text: String, _ read: (inout JSONReader) throws -> Value,
        by write: (Value, inout JSONWriter) -> Void
    ) throws -> String {
        let value = try JSONReader.read(Array(text.utf8), read)
        return String(decoding: JSONWriter.write { write(value, &$0) }, as: UTF8.self)
    }
}

/// A cloud that is asked what a file says, with its users anna, otto and stranger, and mia, who is signed in nowhere.
private struct ExchangeStory {
    private let api: TestAPI
    private let key: TestKey
    private var tokens: [String: String] = [:]
    private let adminToken: String
    var seen = SeenValues()

    static let password = "correct horse"

    init() async throws {
        var shares = ShareLimits()
        shares.giveTime(.seconds(600))
        let provider = OpenIDProvider.Configuration(
            issuer: "https://id.example", clientID: "tidebell", clientSecret: nil, name: "Example")
        api = try await TestAPI(
            shares: shares, metricsText: { "tidebell_example 1\n" }, hasControls: true,
            provider: (provider, { _ in throw CancellationError() }))
        key = try await TestKey(api)
        adminToken = try await api.cloud.accounts.makeAdminToken(named: "exchanges")
        seen["apiToken"] = api.apiToken
        seen["keyID"] = key.id
        for name in ["anna", "otto", "stranger", "mia"] {
            _ = try await api.cloud.accounts.add(named: name)
            try await api.cloud.accounts.setPassword(Self.password, of: name, cost: .least)
            guard name != "mia" else { continue }
            tokens[name] = try await api.cloud.accounts.makeWebToken(for: name)
            let caller = try await api.send(
                "GET",
                TestAPI.target(
                    "public/users/caller", apiToken: api.apiToken, webToken: tokens[name] ?? ""))
            seen[name] = try JSONReader.read(Array(caller.text.utf8)) {
                try CallerResponse(from: &$0)
            }.userRecordName
        }
    }

    /// Does what people do.
    func run(_ doing: String) async throws {
        let words = seen.filled(doing).split(separator: " ").map(String.init)
        switch (words[0], words[1]) {
        case (let name, "has"):
            _ = try await api.cloud.accounts.addAddress(words[2], of: name, isVerified: true)
        case (let name, "enters"):
            #expect(try await api.enter(words[2], as: name))
        default: Issue.record("nobody does: \(doing)")
        }
    }

    /// Sends a request, and what it notifies of.
    mutating func send(_ exchange: StoredExchange, _ body: String) async throws -> TestAPI.Answer {
        var headers = ["Host": "here"]
        if exchange.isExtended { headers[WireProtocol.extensionsHeader] = "1" }
        var target = path(seen.filled(exchange.target))
        switch exchange.caller {
        case "nobody": break
        case "operator": headers["Authorization"] = "Bearer \(adminToken)"
        case "key": headers.merge(try key.headers(target, body)) { $1 }
        case let name:
            target += (target.contains("?") ? "&" : "?") + "ckAPIToken=\(api.apiToken)"
            if let token = tokens[name] { target += "&ckWebAuthToken=\(token)" }
        }
        let method = try #require(HTTPRequest.Method(exchange.method))
        let response = await api.cloud.respond(
            to: WebRequest(
                method, target, headers: HTTPFields(headers), body: .bytes(Array(body.utf8)),
                from: api.origin(nil)))
        let text: String
        if response.headers[.contentType] == "text/event-stream" {
            var pieces = Pieces(response)
            text = try await pieces.next() ?? ""
        } else {
            text = String(decoding: try await response.body.collect(), as: UTF8.self)
        }
        _ = try await api.cloud.pipeline.drain()
        return TestAPI.Answer(status: response.status, text: text, headers: response.headers)
    }

    private func path(_ target: String) -> String {
        let parts = target.split(separator: "/", maxSplits: 1).map(String.init)
        guard target.first != "/", parts.count == 2 else { return target }
        let scope = DatabaseScope(rawValue: parts[0])
        let (root, rest) = scope == nil ? (parts[0], parts[1]) : ("database", target)
        return "/\(root)/1/\(TestAPI.container)/development/\(rest)"
    }
}
