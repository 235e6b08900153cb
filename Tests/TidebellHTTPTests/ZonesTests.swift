// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("zones/list, lookup, modify")
struct ZonesTests {
    @Test("A new zone is answered with its ID, token and atomic (web-services 5.8)")
    func createsZone() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        )
        let token = try #require(answer.syncToken)
        #expect(answer.status == 200)
        #expect(
            answer.text == """
                {"zones":[{"zoneID":\(api.zoneID("Notes")),"syncToken":"\(token)","atomic":true}]}
                """
        )
        #expect(answer[header: "Content-Type"] == "application/json; charset=UTF-8")
    }

    @Test("zones/list returns atomic by GET, and does not by POST with {} (4.1, 10.2)")
    func listsZones() async throws {
        let api = try await TestAPI()
        let byGet = try await api.get("private/zones/list")
        let byPost = try await api.post("private/zones/list", "{}")
        let zone = #""zoneID":\#(api.zoneID("_defaultZone"))"#
        #expect(byGet.text == #"{"zones":[{\#(zone),"atomic":false}]}"#)
        #expect(byPost.text == #"{"zones":[{\#(zone)}]}"#)
    }

    @Test(
        "A missing zone of zones/lookup is an item, without uuid, and the request succeeds (10.5)")
    func lookupOfMissingZone() async throws {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/zones/lookup", #"{"zones":[{"zoneName":"Nowhere"}]}"#
        )
        #expect(answer.status == 200)
        #expect(
            answer.text == """
                {"zones":[{"zoneID":{"zoneName":"Nowhere","zoneType":"REGULAR_CUSTOM_ZONE"},\
                "reason":"Zone 'Nowhere' does not exist","serverErrorCode":"ZONE_NOT_FOUND"}]}
                """
        )
    }

    @Test("A deleted zone is acknowledged with deleted (5.8)")
    func deletesZone() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let answer = try await api.post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        )
        #expect(answer.text == #"{"zones":[{"zoneID":\#(api.zoneID("Notes")),"deleted":true}]}"#)
    }
}

extension TestAPI.Answer {
    /// The first sync token in the text.
    var syncToken: String? {
        text.firstMatch(of: /"syncToken":"([^"]*)"/).map { String($0.output.1) }
    }
}
