// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

/// A program with a server-to-server key.
struct TestKey: Sendable {
    let api: TestAPI
    let key: P256.Signing.PrivateKey
    /// The ID that the server gave the key.
    let id: String

    /// Makes a pair of keys and adds the public one.
    init(
        _ api: TestAPI,
        in container: ContainerKey = ContainerKey(
            container: TestAPI.container, environment: .development)
    ) async throws {
        self.api = api
        key = P256.Signing.PrivateKey()
        id = try await api.cloud.accounts.addServerKey(
            key.publicKey.pemRepresentation, named: "test", for: container
        ).id
    }

    /// How clients differ in what they sign.
    struct Style: Sendable {
        /// Whether the query belongs to what is signed.
        var withQuery = false
        /// Whether the hash of an empty body is an empty text.
        var emptyIsEmpty = false
        /// Seconds that the client's clock is ahead.
        var ahead = 0
        /// What stands behind the seconds.
        var fraction = ""
    }

    /// The fields of a signed request.
    func headers(_ target: String, _ body: String, _ style: Style = Style()) throws -> [String:
        String]
    {
        let seconds = Double(api.clock.instant.rawValue) / 1000 + Double(style.ahead)
        let date = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
            .replacing("Z", with: style.fraction + "Z")
        let hash =
            body.isEmpty && style.emptyIsEmpty
            ? "" : Data(SHA256.hash(data: Data(body.utf8))).base64EncodedString()
        let path = style.withQuery ? target : String(target.prefix { $0 != "?" })
        let signature = try key.signature(for: Data("\(date):\(hash):\(path)".utf8))
        return [
            "X-Apple-CloudKit-Request-KeyID": id, "X-Apple-CloudKit-Request-ISO8601Date": date,
            "X-Apple-CloudKit-Request-SignatureV1": signature.derRepresentation
                .base64EncodedString(),
        ]
    }

    /// Sends a signed request.
    func send(
        _ method: HTTPRequest.Method, _ target: String, _ body: String = "",
        _ style: Style = Style()
    ) async throws -> TestAPI.Answer {
        let response = await api.cloud.respond(
            method, target, headers: try headers(target, body, style), body: Array(body.utf8))
        // The body of an open stream has no end.
        let isStream = response.status == 200 && target.contains("notifications/stream")
        return TestAPI.Answer(
            status: response.status,
            text: isStream
                ? "" : String(decoding: try await response.body.collect(), as: UTF8.self),
            headers: response.headers)
    }

    /// The target of an endpoint of the public database.
    static func target(_ path: String, query: String = "") -> String {
        "/database/1/\(TestAPI.container)/development/public/\(path)\(query)"
    }
}
