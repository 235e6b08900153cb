// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let webhooks: [Check] = [
        Check(reopening: "A webhook is kept until removed") {
            store, engine in
            let saved = try await store.write(.everything) { transaction throws in
                let first = try transaction.createWebhook(
                    for: .notes, url: "https://a.example/hook", secret: [1, 2, 3], at: .noon
                )
                #expect(
                    first
                        == StoredWebhook(
                            id: first.id, container: .notes, url: "https://a.example/hook",
                            secret: [1, 2, 3], createdAt: .noon
                        )
                )
                let second = try transaction.createWebhook(
                    for: .chess, url: "https://b.example", secret: [4], at: .noon
                )
                return [first, second]
            }
            let reopened = try await engine.reopen(store)
            #expect(try await reopened.read { try $0.webhooks() } == saved)
            #expect(try await reopened.read { try $0.webhook(saved[1].id) } == saved[1])
            try await reopened.write(.everything) { transaction throws in
                #expect(try transaction.removeWebhook(saved[1].id))
                #expect(try !transaction.removeWebhook(saved[1].id))
                #expect(try transaction.webhook(saved[1].id) == nil)
                let next = try transaction.createWebhook(
                    for: .chess, url: "https://c.example", secret: [5], at: .noon
                )
                #expect(next.id != saved[1].id)
            }
            try await reopened.close()
        },
        Check("A webhook is disabled with a reason, and enabled") { store in
            try await store.write(.everything) { transaction throws in
                let hook = try transaction.createWebhook(
                    for: .notes, url: "https://a.example", secret: [1], at: .noon
                )
                try transaction.setWebhook(hook.id, disabledBecause: "410 Gone")
                #expect(try transaction.webhook(hook.id)?.disabledReason == "410 Gone")
                try transaction.setWebhook(hook.id, disabledBecause: nil)
                #expect(try transaction.webhook(hook.id)?.disabledReason == nil)
            }
        },
        Check("Users stand in the queues of webhooks until all is delivered, and take turns") {
            store in
            try await store.write(.everything) { transaction throws in
                func user(_ name: String, _ container: ContainerKey) throws -> UserID {
                    let account = try transaction.createAccount(named: name, at: .noon)
                    let user = try transaction.makeUser(
                        of: account, in: container, recordName: "_\(name)",
                        at: Instant(rawValue: 0)
                    )
                    return user.id
                }
                let (anna, ben, dora) = try transaction.threeUsersInOnePart()
                let carl = try user("carl", .chess)
                let before = try transaction.appendNotifications([.push("0", to: anna)])[0]
                let hook = try transaction.createWebhook(
                    for: .notes, url: "https://a.example", secret: [1], at: .noon
                ).id
                func queue(_ limit: Int = 9) throws -> [DeliveryPointer] {
                    try transaction.queuedDeliveries(in: .webhook(hook), limit: limit)
                }
                #expect(try queue() == [])
                let log = try transaction.appendNotifications([
                    .push("1", to: anna), .push("2", to: carl), .push("3", to: ben),
                    .push("4", to: anna),
                ])
                #expect(try queue() == [.webhook(hook, anna), .webhook(hook, ben)])
                #expect(try queue(1) == [.webhook(hook, anna)])
                let start = try #require(try transaction.webhookCursor(hook, of: anna))
                #expect(start >= before.sequence && start < log[0].sequence)
                #expect(try transaction.webhookCursor(hook, of: carl) == nil)
                func advance(_ cursors: [UserID: NotificationSequence]) throws -> Set<UserID> {
                    try transaction.advanceWebhook(hook, to: cursors)
                }
                #expect(try advance([anna: log[0].sequence, carl: log[1].sequence]) == [anna])
                #expect(try transaction.webhookCursor(hook, of: anna) == log[0].sequence)
                #expect(try queue() == [.webhook(hook, ben), .webhook(hook, anna)])
                let unmoved = try #require(try transaction.webhookCursor(hook, of: ben))
                #expect(try advance([ben: unmoved]) == [ben])
                #expect(try transaction.webhookCursor(hook, of: ben) == unmoved)
                #expect(try queue() == [.webhook(hook, anna), .webhook(hook, ben)])
                #expect(try advance([anna: start]) == [anna])
                #expect(try transaction.webhookCursor(hook, of: anna) == log[0].sequence)
                #expect(try queue() == [.webhook(hook, ben), .webhook(hook, anna)])
                // Several go behind all others in their order.
                let later = try transaction.appendNotifications([
                    .push("5", to: dora), .push("6", to: anna),
                ])
                #expect(try advance([anna: .start, ben: .start]) == [anna, ben])
                #expect(
                    try queue()
                        == [.webhook(hook, dora), .webhook(hook, ben), .webhook(hook, anna)]
                )
                #expect(
                    try advance([anna: later[1].sequence, dora: later[0].sequence, ben: .start])
                        == [ben]
                )
                #expect(try queue() == [.webhook(hook, ben)])
                #expect(try transaction.removeWebhook(hook))
                #expect(try queue() == [])
            }
        },
        Check("A delivery is claimed by one at a time, postponed where it fails, and vests") {
            store in
            let (hook, anna, ben) = try await store.write(.everything) { transaction throws in
                let hook = try transaction.createWebhook(
                    for: .notes, url: "https://a.example", secret: [1], at: .noon
                ).id
                let (anna, ben, _) = try transaction.threeUsersInOnePart()
                _ = try transaction.appendNotifications([anna, ben].map { .push("1", to: $0) })
                return (hook, anna, ben)
            }
            func claim(
                after seconds: Int, limit: Int = 9
            ) async throws -> (leases: [DeliveryLease], users: [UserID]) {
                let now = Instant.noon.advanced(by: .seconds(seconds))
                let claimed = try await store.claimDeliveries(
                    LeaseClaim(
                        holder: LeaseHolder(rawValue: UUID()), now: now,
                        vestingAt: now.advanced(by: .seconds(30)), limit: limit
                    ),
                    in: .webhook(hook)
                )
                let users: [UserID] = claimed.leases.compactMap { lease in
                    guard case .webhook(_, let user) = lease.key else { return nil }
                    return user
                }
                return (claimed.leases, users)
            }
            let first = try await claim(after: 0, limit: 1)
            let second = try await claim(after: 0)
            #expect(first.users == [anna] && second.users == [ben])
            #expect(try await claim(after: 29).users == [])
            try await store.returnDeliveries([
                ReturnedLease(
                    second.leases[0],
                    .failed(vestingAt: .noon.advanced(by: .seconds(300))))
            ])
            // Nobody gave this one back: it vested.
            let third = try await claim(after: 30)
            #expect(third.users == [anna])
            // What is given back too late changes nothing.
            try await store.returnDeliveries([ReturnedLease(first.leases[0], .done)])
            #expect(try await claim(after: 31).users == [])
            try await store.returnDeliveries([ReturnedLease(third.leases[0], .untouched)])
            let last = try await claim(after: 300)
            #expect(last.users == [anna, ben])
            #expect(last.leases.map(\.failures) == [0, 1])
            // Failures are counted on from those of the lease, which may have had success first.
            var lease = last.leases[1]
            lease.failures = 0
            try await store.returnDeliveries([
                ReturnedLease(lease, .failed(vestingAt: .noon.advanced(by: .seconds(300))))
            ])
            #expect(try await claim(after: 301).leases.map(\.failures) == [1])
        },
        Check("What failed and left its queue is forgotten: what comes next does not wait") {
            store in
            let (hook, first) = try await store.write(.everything) { transaction throws in
                let hook = try transaction.createWebhook(
                    for: .notes, url: "https://a.example", secret: [1], at: .noon
                ).id
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let anna = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_a", at: Instant(rawValue: 0))
                return (hook, try transaction.appendNotifications([.push("1", to: anna.id)])[0])
            }
            func claim() async throws -> ClaimedLeases<DeliveryPointer> {
                try await store.claimDeliveries(
                    LeaseClaim(
                        holder: LeaseHolder(rawValue: UUID()), now: .noon,
                        vestingAt: .noon.advanced(by: .seconds(30)), limit: 9
                    ),
                    in: .webhook(hook)
                )
            }
            let later = Instant.noon.advanced(by: .seconds(300))
            try await store.returnDeliveries(
                try await claim().leases.map { ReturnedLease($0, .failed(vestingAt: later)) })
            #expect(
                try await claim()
                    == ClaimedLeases(
                        leases: [], nextVesting: later))
            try await store.write(.user(first.user)) {
                let waiting = try $0.advanceWebhook(hook, to: [first.user: first.sequence])
                #expect(waiting == [])
            }
            #expect(
                try await claim()
                    == ClaimedLeases(
                        leases: [], nextVesting: nil))
            _ = try await store.write(.user(first.user)) {
                try $0.appendNotifications([.push("2", to: first.user)])
            }
            #expect(try await claim().leases.map(\.failures) == [0])
        },
        Check("The devices of users come with their native tokens, without those of couriers") {
            store in
            try await store.write(.everything) { transaction throws in
                func register(_ client: String, _ user: UserID) throws -> StoredDevice {
                    try transaction.registerDevice(
                        clientID: client, user: user, container: .notes, at: .noon
                    )
                }
                let native = ["n1", "n2"].map {
                    StoredPushToken(
                        token: $0, apnsEnvironment: .production, courier: nil, topic: "app"
                    )
                }
                let web = StoredPushToken(
                    token: "w", apnsEnvironment: .production, courier: "c", topic: nil
                )
                let phone = try register("phone", .anna)
                let page = try register("page", .anna)
                let bens = try register("bens", .ben)
                for token in native { try transaction.putPushToken(token, notifying: phone.key) }
                for device in [phone, page] {
                    try transaction.putPushToken(web, notifying: device.key)
                }
                let annas = [
                    DeviceTokens(user: .anna, clientID: "page", tokens: []),
                    DeviceTokens(user: .anna, clientID: "phone", tokens: native),
                ]
                #expect(try transaction.devicesWithTokens(of: [.anna], at: .noon) == annas)
                #expect(
                    try transaction.devicesWithTokens(of: [.ben, .anna], at: .noon)
                        == annas + [DeviceTokens(user: .ben, clientID: bens.clientID, tokens: [])]
                )
                #expect(try transaction.devicesWithTokens(of: [], at: .noon).isEmpty)
            }
        },
    ]
}

extension StoreTransaction {
    /// Makes users of the container of notes who stand in one queue: an engine of many parts has turns in each, and its numbers say
    /// in their upper bits which one it is.
    fileprivate func threeUsersInOnePart() throws -> (UserID, UserID, UserID) {
        let users = try (1...12).map { number in
            let account = try createAccount(named: "user-\(number)", at: .noon)
            return try makeUser(
                of: account, in: .notes, recordName: "_user-\(number)", at: Instant(rawValue: 0)
            ).id
        }
        let parts = Dictionary(grouping: users) { $0.rawValue >> 48 }
        let largest = try #require(parts.values.max { $0.count < $1.count })
        return (largest[0], largest[1], try #require(largest.dropFirst(2).first))
    }
}
