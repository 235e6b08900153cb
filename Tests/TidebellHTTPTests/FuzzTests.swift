// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellHTTP
import TidebellWire
import TidebellServer
import HTTPTypes

@Suite("Damaged requests")
struct FuzzTests {
    /// Requests that are good before they are damaged.
    static let seeds: [(path: String, body: String)] = [
        ("private/zones/list", "{}"),
        ("private/zones/lookup", #"{"zones":[{"zoneName":"A","ownerRecordName":"_0f"}]}"#),
        (
            "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"B"}}}]}"#
        ),
        (
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"A"},"atomic":false,"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"a","recordType":"Note","parent":{"recordName":"b"},"fields":\
            {"s":{"value":"h\\u00e9\\n"},"i":{"type":"INT64","value":-3},"d":{"value":1.5e3},\
            "l":{"type":"STRING_LIST","value":["x","y"]},"b":{"type":"BYTES","value":"AAEC"},\
            "r":{"type":"REFERENCE","value":{"recordName":"c","action":"DELETE_SELF"}},\
            "p":{"type":"LOCATION","value":{"latitude":1,"longitude":-2.5}},\
            "t":{"type":"TIMESTAMP","value":1800000000000}}}},\
            {"operationType":"delete","record":{"recordName":"z","recordChangeTag":"1"}}]}
            """
        ),
        (
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"A"},"desiredKeys":["s"],"numbersAsStrings":true,\
            "records":[{"recordName":"a"},{"recordName":"q"}]}
            """
        ),
        (
            "private/records/query",
            """
            {"zoneID":{"zoneName":"A"},"zoneWide":true,"query":{"recordType":"Note","filterBy":[\
            {"fieldName":"s","comparator":"IN","fieldValue":{"type":"STRING_LIST","value":["h"]}},\
            {"fieldName":"p","comparator":"NEAR","distance":5e3,"fieldValue":{"type":"LOCATION",\
            "value":{"latitude":1,"longitude":-2.5}}}],"sortBy":[{"fieldName":"i",\
            "ascending":false},{"fieldName":"p","relativeLocation":{"latitude":1,"longitude":2}}]},\
            "resultsLimit":2,"desiredKeys":["s"],"numbersAsStrings":true,\
            "continuationMarker":"bm9uc2Vuc2Vub25zZW5zZQ"}
            """
        ),
        (
            "private/records/changes",
            #"{"zoneID":{"zoneName":"A"},"resultsLimit":1,"reverse":true,"syncToken":"AQQ"}"#
        ),
        ("private/zones/changes", #"{"metaSyncToken":null,"resultsLimit":5}"#),
        ("private/changes/database", #"{"syncToken":null,"resultsLimit":5}"#),
        (
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"A"},"resultsLimit":1,"reverse":true}]}"#
        ),
        (
            "public/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
            "subscriptionType":"query","firesOn":["create","delete"],"query":{"recordType":"Note",\
            "filterBy":[{"fieldName":"s","comparator":"EQUALS","fieldValue":{"value":"x"}}]},\
            "notificationInfo":{"alertBody":"hi","additionalFields":["s"]}}}]}
            """
        ),
        ("ext/notifications/changes", #"{"serverChangeToken":"AQQ","resultsLimit":5}"#),
        ("ext/notifications/markRead", #"{"notificationIDs":["6f1c2a5e","\\u00e9"]}"#),
        ("ext/notifications/badge", #"{"value":3}"#),
    ]

    /// The target of a seed.
    private static func target(_ path: String, of api: TestAPI) -> String {
        path.hasPrefix("ext/")
            ? api.target(under: "ext", String(path.dropFirst(4))) : api.target(path)
    }

    /// Rounds of each run; each damages every seed once.
    private static let rounds = 150

    @Test(
        "A damaged request is answered with JSON, never with a failure of ours",
        arguments: [UInt64(1), UInt64.random(in: 2 ... .max)]
    )
    func damagedBodies(seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let api = try await TestAPI()
        try await api.makeZone("A")
        for _ in 0..<Self.rounds {
            for (path, body) in Self.seeds {
                let bytes = damaged(Array(body.utf8), by: &random)
                let response = await api.cloud.respond(
                    .post, Self.target(path, of: api), body: bytes
                )
                try await check(response, seed: seed, request: bytes)
            }
        }
        #expect(api.log.detailedLines.isEmpty, "seed \(seed)")
    }

    @Test(
        "A damaged target is answered with JSON, never with a failure of ours",
        arguments: [UInt64(1), UInt64.random(in: 2 ... .max)]
    )
    func damagedTargets(seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let api = try await TestAPI()
        for _ in 0..<Self.rounds {
            for (path, body) in Self.seeds {
                let target = damaged(Array(Self.target(path, of: api).utf8), by: &random)
                // Without a path it is that of the start page, which is for people.
                if target.first == UInt8(ascii: "?") { continue }
                let response = await api.cloud.respond(
                    Bool.random(using: &random) ? .post : .get,
                    String(decoding: target, as: UTF8.self), body: Array(body.utf8)
                )
                try await check(response, seed: seed, request: target)
            }
        }
        #expect(api.log.detailedLines.isEmpty, "seed \(seed)")
    }

    private func check(_ response: WebResponse, seed: UInt64, request: [UInt8]) async throws {
        let body = try await response.body.collect()
        let context: Comment = "seed \(seed): \(String(decoding: request, as: UTF8.self))"
        #expect(response.status < 500, context)
        #expect((try? JSONSerialization.jsonObject(with: Data(body))) is [String: Any], context)
    }

    /// Changes, removes, repeats or swaps a few bytes.
    private func damaged(_ bytes: [UInt8], by random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard bytes.count > 1 else { break }
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            case 3: bytes.swapAt(index, Int.random(in: bytes.indices, using: &random))
            default:
                let signs = Array("{}[]\",:0-e\\tn%".utf8)
                bytes[index] = signs[Int.random(in: signs.indices, using: &random)]
            }
        }
        return bytes
    }
}
