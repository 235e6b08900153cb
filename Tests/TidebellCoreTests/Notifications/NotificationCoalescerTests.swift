// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct NotificationCoalescerTests {
    private func match(
        _ subscription: StoredSubscription, entry: Int64, zone: String = "feed",
        origin: String? = "laptop", record: RecordChange? = nil
    ) -> SubscriptionMatch {
        SubscriptionMatch(
            subscription: subscription,
            entry: Fixture.entry(.zoneCreated, id: entry, zone: zone, origin: origin),
            cause: record.map { .record($0) } ?? .zone
        )
    }

    private let silent = Fixture.info { $0.shouldSendContentAvailable = true }
    private let visual = Fixture.info { $0.alert.body = "New" }

    /// What is notified of the matches, each with those it replaces.
    private func coalesced(_ matches: [SubscriptionMatch]) -> [CoalescedMatch] {
        var builder = NotificationBuilder()
        return NotificationCoalescer.coalesced(matches) { builder.collapseID(of: $0) }
    }

    @Test("PUSH-2: background pushes of one subscription and origin collapse into the newest")
    func newestStays() {
        let database = Fixture.subscription(.database, info: silent)
        let matches = (1...4).map { match(database, entry: $0, zone: "zone-\($0)") }
        #expect(
            coalesced(matches) == [
                CoalescedMatch(
                    matches[3], collapseID: .background, replaced: Array(matches.prefix(3)))
            ]
        )
    }

    @Test("PUSH-2: different subscriptions, users, databases and origins do not collapse")
    func differentKeys() {
        let database = Fixture.subscription(.database, info: silent)
        var elsewhere = database
        elsewhere.database = DatabaseID(rawValue: 8)
        let matches = [
            match(database, entry: 1),
            match(database, entry: 2, origin: "phone"),
            match(database, entry: 3, origin: nil),
            match(Fixture.subscription(.database, id: "other", info: silent), entry: 4),
            match(Fixture.subscription(.database, user: UserID(rawValue: 2)), entry: 5),
            match(elsewhere, entry: 6),
        ]
        #expect(
            coalesced(matches) == matches.map { CoalescedMatch($0, collapseID: .background) }
        )
    }

    @Test("PUSH-2: visual pushes and query pushes, silent ones too, are all sent")
    func neverMerged() {
        let query = Fixture.subscription(.query, type: "FeedItem", info: silent)
        let zone = Fixture.subscription(.zone, zone: "feed", info: visual)
        let matches = [
            match(query, entry: 1, record: Fixture.change("a")),
            match(query, entry: 1, record: Fixture.change("b")),
            match(zone, entry: 1), match(zone, entry: 2),
        ]
        #expect(coalesced(matches) == matches.map { CoalescedMatch($0) })
    }

    @Test("PUSH-2: what stays keeps its order")
    func order() {
        let first = Fixture.subscription(.database, id: "1", info: silent)
        let second = Fixture.subscription(.zone, id: "2", zone: "feed", info: silent)
        let third = Fixture.subscription(.zone, id: "3", zone: "feed", info: visual)
        let matches = [
            match(first, entry: 1), match(second, entry: 1), match(third, entry: 1),
            match(second, entry: 2), match(first, entry: 3),
        ]
        #expect(
            coalesced(matches).map(\.match) == [matches[2], matches[3], matches[4]]
        )
    }

    @Test("PUSH-2, NINFO-15: query pushes, visual ones too, collapse where the app asks for it")
    func chosenIDs() {
        let info = Fixture.info {
            $0.alert.body = "New"
            $0.collapseIDKey = "thread"
        }
        let query = Fixture.subscription(.query, type: "FeedItem", info: info)
        let other = Fixture.subscription(.query, id: "other", type: "FeedItem", info: info)
        func message(
            _ name: String, in thread: String, of subscription: StoredSubscription,
            entry: Int64 = 1, origin: String? = "laptop"
        ) -> SubscriptionMatch {
            let change = Fixture.change(name, fields: ["thread": Field(.string(thread))])
            return match(subscription, entry: entry, origin: origin, record: change)
        }
        let matches = [
            message("a", in: "1", of: query), message("b", in: "2", of: query),
            message("c", in: "1", of: other), message("d", in: "1", of: query, origin: "phone"),
            message("e", in: "1", of: query), message("f", in: "1", of: query, entry: 2),
        ]
        #expect(
            coalesced(matches) == [
                CoalescedMatch(matches[1], collapseID: .chosen("2")),
                CoalescedMatch(matches[2], collapseID: .chosen("1")),
                CoalescedMatch(matches[3], collapseID: .chosen("1")),
                CoalescedMatch(
                    matches[5], collapseID: .chosen("1"), replaced: [matches[0], matches[4]]),
            ]
        )
    }
}
