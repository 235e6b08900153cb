// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct BadgeCountersTests {
    private let ben = UserID(rawValue: 2)

    private func notification(
        of user: UserID = Fixture.anna.id, counts: Bool = true, body: String = "New"
    ) -> BuiltNotification {
        let info = Fixture.info {
            $0.shouldBadge = counts
            $0.alert.body = body
        }
        let subscription = Fixture.subscription(
            .query, user: user, type: "FeedItem", info: info)
        let change = Fixture.change()
        let match = SubscriptionMatch(
            subscription: subscription, entry: Fixture.entry(.records([change])),
            cause: .record(change)
        )
        var builder = NotificationBuilder()
        let payload = builder.payload(
            for: match, in: Fixture.database(), owner: Fixture.anna, notificationID: "n"
        )
        return BuiltNotification(
            CoalescedMatch(match), payload: payload, notificationID: "n",
            createdAt: Instant(rawValue: 1), pruning: .header
        )
    }

    @Test("NINFO-11: each notification that counts has one more, each user has a counter")
    func counts() {
        var notifications = [
            notification(), notification(of: ben), notification(counts: false), notification(),
        ]
        var badges = BadgeCounters([ben: 41])
        badges.number(&notifications)
        #expect(notifications.map(\.payload.badge) == [1, 42, nil, 2])
        #expect(badges.counts == [Fixture.anna.id: 2, ben: 42])
        for notification in notifications {
            #expect(notification.notification.payload == notification.payload.encoded())
        }
    }

    @Test("NOTIF-14: counting again from another start changes the badges and nothing else")
    func countsAgain() {
        var first = [notification(), notification(counts: false), notification()]
        var badges = BadgeCounters([Fixture.anna.id: 7])
        badges.number(&first)
        var second = first
        badges = BadgeCounters([Fixture.anna.id: 7])
        badges.number(&second)
        #expect(second == first)
        badges = BadgeCounters([Fixture.anna.id: 0])
        badges.number(&second)
        #expect(second.map(\.payload.badge) == [1, nil, 2])
        for index in second.indices where index != 1 { second[index].setBadge(8 + index / 2) }
        #expect(second == first)
    }

    @Test("NINFO-11: the badge stays at its limit rather than overflow")
    func limit() {
        var badges = BadgeCounters([ben: BadgeCounters.limit - 1])
        #expect(badges.next(for: ben) == BadgeCounters.limit)
        #expect(badges.next(for: ben) == BadgeCounters.limit)
    }

    @Test("NOTIF-8, PRUNE-1: a badge that makes the payload too long prunes it")
    func pruning() {
        var body = ""
        var notification = self.notification()
        let room = PayloadPruner.limit - notification.notification.payload.count
        body = String(repeating: "x", count: room + 3)
        notification = self.notification(body: body)
        #expect(notification.notification.payload.count == PayloadPruner.limit)
        #expect(notification.notification.fullPayload == nil)
        notification.setBadge(1)
        #expect(notification.pruned == [.subscriptionOwner])
        #expect(notification.notification.payload.count <= PayloadPruner.limit)
        #expect(notification.notification.fullPayload == notification.payload.encoded())
    }
}
