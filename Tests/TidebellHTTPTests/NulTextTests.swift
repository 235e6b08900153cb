// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer
import TestSupport

/// U+0000, at which much of what reads a text ends it.
@Suite("U+0000 in requests")
struct NulTextTests {
    /// Requests of what the damaged ones leave out.
    private static let more: [(path: String, body: String)] = [
        (
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
            "subscriptionType":"zone","zoneID":{"zoneName":"A"},\
            "notificationInfo":{"shouldSendContentAvailable":true}}},\
            {"operationType":"delete","subscription":{"subscriptionID":"t"}}]}
            """
        ),
        ("private/subscriptions/lookup", #"{"subscriptions":[{"subscriptionID":"s"}]}"#),
        ("public/zones/lookup", #"{"zones":[{"zoneName":"_defaultZone"}]}"#),
        (
            "private/zones/modify",
            #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"C"}}}]}"#
        ),
        (
            "private/assets/upload",
            """
            {"zoneID":{"zoneName":"A"},"tokens":[{"recordName":"a","recordType":"Note",\
            "fieldName":"file"}]}
            """
        ),
        (
            "private/assets/rereference",
            #"{"zoneID":{"zoneName":"A"},"assets":[{"recordName":"a","fieldName":"file"}]}"#
        ),
        (
            "device/tokens/create", #"{"apnsEnvironment":"development","clientId":"phone"}"#
        ),
        (
            "device/tokens/register",
            """
            {"apnsEnvironment":"development","apnsToken":"00ff","clientId":"phone",\
            "topic":"org.example.notes"}
            """
        ),
        ("ext/account/signIn", #"{"user":"ben","password":"correct horse"}"#),
        ("ext/account/permission", #"{"permission":"USER_DISCOVERABILITY","action":"read"}"#),
    ]

    private static func target(_ path: String, of api: TestAPI) -> String {
        for root in ["ext", "device"] where path.hasPrefix(root + "/") {
            return api.target(under: root, String(path.dropFirst(root.count + 1)))
        }
        return api.target(path)
    }

    /// The documents that come of changing one string or name of a member: in its middle, at its
    /// end, and with the unchanged one beside it.
    private static func changed(_ value: Any) -> [Any] {
        switch value {
        case let text as String: return [text + "\u{0}", text + "\u{0}x", "\u{0}" + text]
        case let list as [Any]:
            return list.indices.flatMap { index in
                changed(list[index]).flatMap { twin -> [Any] in
                    var (alone, both) = (list, list)
                    alone[index] = twin
                    both.insert(twin, at: index + 1)
                    return [alone, both, Array(both.reversed())]
                }
            }
        case let object as [String: Any]:
            return object.flatMap { name, member -> [Any] in
                var renamed = object
                renamed[name] = nil
                renamed[name + "\u{0}x"] = member
                var both = object
                both[name + "\u{0}x"] = member
                return [renamed, both]
                    + changed(member).map { twin -> Any in
                        var changed = object
                        changed[name] = twin
                        return changed
                    }
            }
        default: return []
        }
    }

    @Test(
        "U+0000 in any name or text of any endpoint is an error or a text like others, and ends nothing",
        arguments: FuzzTests.seeds.indices.map { ($0, true) } + more.indices.map { ($0, false) }
    )
    func everywhere(index: Int, isFuzzed: Bool) async throws {
        let (path, body) = isFuzzed ? FuzzTests.seeds[index] : Self.more[index]
        let api = try await TestAPI()
        // What is named is there.
        for (path, body) in FuzzTests.seeds + Self.more where !path.contains("signIn") {
            _ = try await api.send("POST", Self.target(path, of: api), body)
        }
        try await api.makeZone("A")
        let document = try JSONSerialization.jsonObject(with: Data(body.utf8))
        let all = Self.changed(document)
        #expect(all.isEmpty == (body == "{}"))
        for changed in all {
            let text = String(
                decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
            let answer = try await api.send("POST", Self.target(path, of: api), text)
            // Too many sign-ins are asked to wait.
            let waits = answer.error?.code == .tryAgainLater && path.contains("signIn")
            #expect(answer.status < 500 || waits, "\(path) \(text): \(answer.text)")
            let health = try await api.send("GET", "/health")
            #expect(health.status == 200)
        }
        #expect(api.log.detailedLines.isEmpty)
    }

    @Test("A name that goes on behind U+0000 is not the name before it")
    func twins() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Z")
        let anonymous =
            "/database/1/\(TestAPI.container)/development/public/zones/lookup"
            + "?ckAPIToken=\(api.apiToken)"
        let zones = try await api.send(
            "POST", anonymous,
            #"{"zones":[{"zoneName":"_defaultZone"},{"zoneName":"_defaultZone\u0000x"}]}"#)
        #expect(zones.status == 200)
        #expect(zones.text.components(separatedBy: "ZONE_NOT_FOUND").count == 2)
        let own = try await api.post(
            "private/zones/lookup", #"{"zones":[{"zoneName":"Z"},{"zoneName":"Z\u0000x"}]}"#)
        #expect(own.text.hasPrefix(#"{"zones":[{"zoneID":\#(api.zoneID("Z"))"#))
        #expect(own.text.components(separatedBy: "ZONE_NOT_FOUND").count == 2)
        let created = try await api.post(
            "private/zones/modify",
            """
            {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Z"}}},\
            {"operationType":"create","zone":{"zoneID":{"zoneName":"Z\\u0000x"}}}]}
            """)
        #expect(created.text.components(separatedBy: "must be printable ASCII").count == 2)
    }

    @Test("A client ID has no U+0000, and is the same in each form of Unicode")
    func clientIDs() async throws {
        let api = try await TestAPI()
        let refused = try await api.post("private/zones/list", "{}", query: "&clientId=a%00b")
        #expect(refused.error == .badRequest("clientId has the character U+0000"))
        for id in ["caf\u{E9}", "cafe\u{301}"] {
            let made = try await api.send(
                "POST", api.target(under: "device", "tokens/create"),
                #"{"apnsEnvironment":"development","clientId":"\#(id)"}"#)
            #expect(made.status == 200)
        }
        let devices = try await api.cloud.webServices.cloud.store.read { reader in
            let container = ContainerKey(container: TestAPI.container, environment: .development)
            guard let user = try reader.user(recordName: api.user, in: container) else { return -1 }
            return try reader.devices(of: user.id).count
        }
        #expect(devices == 1)
    }
}
