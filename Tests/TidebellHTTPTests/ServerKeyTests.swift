// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// Requests that programs sign (web-services 2.3).
@Suite("Server-to-server keys", .hangs)
struct ServerKeyTests {
    private static let caller = TestKey.target("users/caller")
    private static let save = #"""
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a",\#
        "recordType":"Note","fields":{"n":{"value":1}}}}]}
        """#

    private static func failed(_ reason: String) -> WireError {
        WireError(.authenticationFailed, "the request's signature is not good: \(reason)")
    }

    @Test(
        "Every way in which clients sign is good: with or without query, and both hashes of nothing (2.3)"
    )
    func styles() async throws {
        let api = try await TestAPI()
        let key = try await TestKey(api)
        for withQuery in [false, true] {
            for emptyIsEmpty in [false, true] {
                for fraction in ["", ".25"] {
                    let style = TestKey.Style(
                        withQuery: withQuery, emptyIsEmpty: emptyIsEmpty, fraction: fraction)
                    for query in ["", "?ckjsVersion=2.6&clientId=a%2Bb"] {
                        let target = TestKey.target("zones/list", query: query)
                        #expect(
                            try await key.send(.get, target, "", style).status == 200, "\(style)")
                        #expect(
                            try await key.send(.post, target, "{}", style).status == 200, "\(style)"
                        )
                        let device = "/device/1/\(TestAPI.container)/development/tokens/create"
                        #expect(
                            try await key.send(
                                .post, device + query, #"{"apnsEnvironment":"development"}"#, style
                            ).status == 200)
                    }
                }
            }
        }
    }

    @Test(
        "Below a path that a proxy takes away, a signature of the whole path is good as well (2.3)")
    func prefixes() async throws {
        let api = try await TestAPI()
        let key = try await TestKey(api)
        let services = WebServices(
            cloud: api.cloud.webServices.cloud, publicURL: "https://cloud.example/tide%20bell")
        func status(signing target: String) async throws -> Int {
            await services.respond(
                to: WebRequest(
                    .post, Self.caller, headers: HTTPFields(try key.headers(target, "{}")),
                    body: .bytes(Array("{}".utf8)))
            ).status
        }
        #expect(try await status(signing: Self.caller) == 200)
        #expect(try await status(signing: "/tide%20bell" + Self.caller) == 200)
        #expect(try await status(signing: "/other" + Self.caller) == 401)
    }

    @Test("A key is a user of its own, whose the records are that it writes (2.1)")
    func user() async throws {
        let api = try await TestAPI()
        let (one, other) = (try await TestKey(api), try await TestKey(api))
        func name(_ key: TestKey) async throws -> String {
            let answer = try await key.send(.post, Self.caller, "{}")
            return try JSONReader.read(Array(answer.text.utf8)) { try CallerResponse(from: &$0) }
                .userRecordName
        }
        let names = [try await name(one), try await name(other), api.user]
        #expect(Set(names).count == 3)
        let answer = try await one.send(.post, TestKey.target("records/modify"), Self.save)
        #expect(answer.status == 200 && answer.text.contains(names[0]), "\(answer.text)")
        #expect(answer[header: "X-Apple-CloudKit-Web-Auth-Token"] == nil)
        // It is nobody who can be listed or signed in as.
        #expect(try await api.cloud.accounts.names() == [Accounts.firstUser])
        // The key wins over tokens that come with it, good or not (2.1).
        let both = TestKey.target(
            "users/caller", query: "?ckAPIToken=x&ckWebAuthToken=\(api.webToken)")
        #expect(try await one.send(.post, both, "{}").text.contains(names[0]))
    }

    @Test("What is not signed by the key, as it is, is AUTHENTICATION_FAILED (2.3)")
    func wrong() async throws {
        let api = try await TestAPI()
        let (key, other) = (try await TestKey(api), try await TestKey(api))
        let target = TestKey.target("records/modify")
        let good = try key.headers(target, Self.save)
        let strange = try other.headers(target, Self.save)
        let signature = "X-Apple-CloudKit-Request-SignatureV1"
        let date = "X-Apple-CloudKit-Request-ISO8601Date"
        let id = "X-Apple-CloudKit-Request-KeyID"
        let mismatch = "it is not of this key, date, path and body"
        func answer(
            _ changes: [String: String], without field: String? = nil, target: String = target,
            body: String = Self.save
        ) async throws -> WireError? {
            var headers = good
            for (name, value) in changes { headers[name] = value }
            if let field { headers[field] = nil }
            let answer = try await api.send("POST", target, body, headers: headers)
            #expect(answer.status == (answer.error == nil ? 200 : 401))
            return answer.error
        }
        #expect(
            try await answer([signature: #require(strange[signature])]) == Self.failed(mismatch))
        #expect(try await answer([:], body: Self.save + " ") == Self.failed(mismatch))
        #expect(try await answer([:], body: "") == Self.failed(mismatch))
        #expect(
            try await answer([:], target: TestKey.target("records/lookup"))
                == Self.failed(mismatch))
        let moment = Date(timeIntervalSince1970: Double(TestAPI.start.rawValue) / 1000 + 1)
        #expect(try await answer([date: moment.formatted(.iso8601)]) == Self.failed(mismatch))
        #expect(
            try await answer([date: "yesterday"])
                == Self.failed("the date 'yesterday' is not of the form 2026-01-31T23:59:59Z"))
        for text in ["", "AAAA", "!"] {
            #expect(
                try await answer([signature: text])
                    == Self.failed("the signature is not ASN.1 DER of ECDSA in base64"))
        }
        #expect(
            try await answer([:], without: signature)
                == Self.failed("it has no header '\(signature)'"))
        #expect(try await answer([:], without: date) == Self.failed("it has no header '\(date)'"))
        let long = String(repeating: "A", count: 201)
        #expect(
            try await answer([signature: long])
                == Self.failed("the header '\(signature)' is longer than 200 bytes"))
        let unknown = String(repeating: "0", count: 64)
        #expect(
            try await answer([id: unknown])
                == WireError(
                    .authenticationFailed,
                    "the server-to-server key '\(WireError.shortened(unknown))' is not known for "
                        + "container 'iCloud.org.example.notes' (development)"))
        #expect(try await answer([:]) == nil)
    }

    @Test("A date is good for ten minutes before and after the server's (2.3)")
    func clockWindow() async throws {
        let api = try await TestAPI()
        let key = try await TestKey(api)
        for (ahead, status) in [(-601, 401), (-600, 200), (0, 200), (600, 200), (601, 401)] {
            let answer = try await key.send(.post, Self.caller, "{}", .init(ahead: ahead))
            #expect(answer.status == status, "\(ahead)")
            if status == 401 {
                #expect(
                    answer.error?.reason.hasSuffix("is more than ten minutes from the server's")
                        == true)
            }
        }
    }

    @Test(
        "Whoever heard a signed request changes nothing by sending it again, however it is written")
    func replay() async throws {
        let api = try await TestAPI()
        let key = try await TestKey(api)
        let target = TestKey.target("records/modify")
        let body = """
            {"operations":[{"operationType":"create","record":{"recordType":"Note","fields":{}}}]}
            """
        let headers = try key.headers(target, body)
        let first = try await api.send("POST", target, body, headers: headers)
        #expect(first.status == 200)
        // What the owner did since is not undone, and there is no second record.
        let again = try await api.send("POST", target + "?clientId=x", body, headers: headers)
        #expect(again.status == 200 && again.text == first.text)
        var turned = headers
        let name = "X-Apple-CloudKit-Request-SignatureV1"
        turned[name] = try Self.other(half: try #require(headers[name]))
        #expect(turned != headers)
        #expect(try await api.send("POST", target, body, headers: turned).text == first.text)
        // A name that is not signed makes it no other request.
        turned["X-Tidebell-Request-ID"] = "another"
        #expect(try await api.send("POST", target, body, headers: turned).text == first.text)
        // The same once more, signed anew, is another one.
        let second = try await key.send(.post, target, body)
        #expect(second.status == 200 && second.text != first.text)

        let device = "/device/1/\(TestAPI.container)/development/tokens/create"
        let create = #"{"apnsEnvironment":"development"}"#
        let signed = try key.headers(device, create)
        #expect(try await api.send("POST", device, create, headers: signed).status == 200)
        let refused = try await api.send("POST", device, create, headers: signed)
        #expect(refused.status == 401)
        #expect(
            refused.error
                == WireError(
                    .authenticationFailed,
                    "the request was sent before: sign each one with a date of its own"))
    }

    /// The other signature that is as good: `-s` for `s`, of the order of P-256.
    private static func other(half text: String) throws -> String {
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: try #require(Data(base64Encoded: text)))
        let order = try #require(
            Hex.bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
        let raw = Array(signature.rawRepresentation)
        var borrow = 0
        var negated: [UInt8] = []
        for (high, low) in zip(order, raw.suffix(32)).reversed() {
            let difference = Int(high) - Int(low) - borrow
            borrow = difference < 0 ? 1 : 0
            negated.insert(UInt8(difference + borrow * 256), at: 0)
        }
        return try P256.Signing.ECDSASignature(rawRepresentation: raw.prefix(32) + negated)
            .derRepresentation.base64EncodedString()
    }

    @Test("H3: a revoked key is refused at once, one that expired likewise; what it wrote stays")
    func ended() async throws {
        let api = try await TestAPI()
        let accounts = api.cloud.accounts
        let (key, other) = (try await TestKey(api), try await TestKey(api))
        #expect(
            try await key.send(.post, TestKey.target("records/modify"), Self.save).status == 200)
        #expect(try await accounts.revokeServerKey(String(key.id.prefix(8))).id == key.id)
        #expect(try await accounts.serverKeys().map(\.key.id) == [other.id])
        #expect(try await key.send(.post, Self.caller, "{}").status == 401)
        let lookup = #"{"records":[{"recordName":"a"}]}"#
        let found = try await other.send(.post, TestKey.target("records/lookup"), lookup)
        #expect(found.text.contains(#""recordChangeTag""#))
        await #expect(throws: OperatorError.self) { try await accounts.revokeServerKey(key.id) }

        let short = P256.Signing.PrivateKey()
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        _ = try await accounts.addServerKey(
            short.publicKey.pemRepresentation, named: "short", for: container,
            lifetime: .seconds(60))
        #expect(
            Set(try await accounts.serverKeys().map(\.expiresAt))
                == [nil, TestAPI.start.advanced(by: .seconds(60))])
    }

    @Test("The operator adds, lists and revokes keys over the network, in their container alone")
    func admin() async throws {
        let api = try await TestAPI()
        let token = try await api.cloud.accounts.makeAdminToken(named: "ops")
        let root = "/admin/1/\(TestAPI.container)/development/keys"
        func ask(_ path: String, _ body: String = "{}") async throws -> TestAPI.Answer {
            try await api.send(
                "POST", path, body, headers: ["Authorization": "Bearer \(token)"])
        }
        let pem = P256.Signing.PrivateKey().publicKey.pemRepresentation
        let json = pem.replacing("\n", with: "\\n")
        let added = try await ask(root + "/add", #"{"publicKey":"\#(json)","name":"job","days":1}"#)
        let id = try #require(added.text.firstMatch(of: /"keyID":"([0-9a-f]{64})"/)?.1)
        let start = TestAPI.start.rawValue
        #expect(
            added.text
                == #"{"keys":[{"keyID":"\#(id)","name":"job","createdAt":\#(start),"#
                + #""expiresAt":\#(start + 86_400_000)}]}"#)
        #expect(try await ask(root + "/list").text == added.text)
        let elsewhere = root.replacing("development", with: "production")
        #expect(try await ask(elsewhere + "/list").text == #"{"keys":[]}"#)
        #expect(try await ask(elsewhere + "/revoke", #"{"keyID":"\#(id)"}"#).status == 404)
        let twice = try await ask(root + "/add", #"{"publicKey":"\#(json)"}"#)
        #expect(twice.status == 409)
        #expect(twice.error?.reason == "This key is there already, as '\(id)'.")
        for (key, sentence) in [
            ("no key", "This is not a public key of the curve prime256v1 (P-256) in PEM."),
            (
                P384.Signing.PrivateKey().publicKey.pemRepresentation,
                "This is not a public key of the curve prime256v1 (P-256) in PEM."
            ),
            (
                P256.Signing.PrivateKey().pemRepresentation,
                "This is a private key, which only the signing program should have; pass the public key: "
                    + "openssl ec -in FILE -pubout."
            ),
        ] {
            let answer = try await ask(
                root + "/add", #"{"publicKey":"\#(key.replacing("\n", with: "\\n"))"}"#)
            #expect(answer.status == 400)
            #expect(answer.error?.reason == sentence)
        }
        #expect(
            try await ask(root + "/revoke", #"{"keyID":"\#(id.prefix(10))"}"#).text
                == #"{"keys":[{"keyID":"\#(id)","name":"job","createdAt":\#(start)}]}"#)
        #expect(try await ask(root + "/list").text == #"{"keys":[]}"#)
    }

    @Test(
        "H8: a container has as many keys as it may, and wrong signatures count for their address")
    func bounds() async throws {
        var shares = ShareLimits()
        shares.requestsPerSecond = 1
        shares.burstSeconds = 2
        let api = try await TestAPI(shares: shares)
        let key = try await TestKey(api)
        for _ in 1..<ServerKeyRule.mostPerContainer { _ = try await TestKey(api) }
        await #expect(throws: OperatorError.self) { _ = try await TestKey(api) }
        let address = PeerAddress("192.0.2.7")
        let headers = try key.headers(Self.caller, "{}")
        var statuses: [Int] = []
        for body in ["no", "no", "no", "{}"] {
            statuses.append(
                try await api.send("POST", Self.caller, body, headers: headers, from: address)
                    .status)
        }
        #expect(statuses == [401, 401, 429, 429])
        let elsewhere = PeerAddress("192.0.2.8")
        #expect(
            try await api.send("POST", Self.caller, "{}", headers: headers, from: elsewhere).status
                == 200)
    }
}
