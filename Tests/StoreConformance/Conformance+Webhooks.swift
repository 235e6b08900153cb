// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let webhooks: [Check] = [
        Check(reopening: "A webhook begins at the head of the log and is kept until removed") {
            store, engine in
            let saved = try await store.write(.everything) { transaction throws in
                let head = try transaction.appendNotifications([.push("old")])[0].sequence
                let first = try transaction.createWebhook(
                    for: .notes, url: "https://a.example/hook", secret: [1, 2, 3], at: .noon
                )
                #expect(
                    first
                        == StoredWebhook(
                            id: first.id, container: .notes, url: "https://a.example/hook",
                            secret: [1, 2, 3], delivered: head, createdAt: .noon
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
        Check("A webhook's position never goes back; it is disabled with a reason, and enabled") {
            store in
            try await store.write(.everything) { transaction throws in
                let hook = try transaction.createWebhook(
                    for: .notes, url: "https://a.example", secret: [1], at: .noon
                )
                for sequence: Int64 in [5, 3, 4] {
                    try transaction.advanceWebhook(
                        hook.id, upTo: NotificationSequence(rawValue: sequence)
                    )
                }
                #expect(try transaction.webhook(hook.id)?.delivered.rawValue == 5)
                try transaction.setWebhook(hook.id, disabledBecause: "410 Gone")
                #expect(try transaction.webhook(hook.id)?.disabledReason == "410 Gone")
                try transaction.setWebhook(hook.id, disabledBecause: nil)
                #expect(try transaction.webhook(hook.id)?.disabledReason == nil)
            }
        },
        Check("The notifications of a container are those of all its users, within a range") {
            store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let other = try transaction.createAccount(named: "ben", at: .noon)
                let anna = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_a", at: Instant(rawValue: 0))
                let ben = try transaction.makeUser(
                    of: other, in: .notes, recordName: "_b", at: Instant(rawValue: 0))
                let chess = try transaction.makeUser(
                    of: account, in: .chess, recordName: "_c", at: Instant(rawValue: 0))
                let live = try transaction.makeUser(
                    of: account, in: .released, recordName: "_d", at: Instant(rawValue: 0))
                let log = try transaction.appendNotifications([
                    .push("0", to: anna.id, collapse: "x"), .push("1", to: anna.id),
                    .push("2", to: chess.id), .push("3", to: ben.id), .push("4", to: live.id),
                    .push("5", to: anna.id, collapse: "x"), .push("6", to: ben.id),
                ])
                func delivered(after start: Int, upTo end: Int, limit: Int = 9) throws -> [String] {
                    try transaction.notifications(
                        of: .notes, after: log[start].sequence, upTo: log[end].sequence,
                        limit: limit
                    ).map(\.notificationID)
                }
                #expect(
                    try transaction.notifications(
                        of: .notes, after: .start, upTo: log[6].sequence, limit: 9
                    ) == [log[1], log[3], log[5], log[6]]
                )
                #expect(try delivered(after: 1, upTo: 5) == ["3", "5"])
                #expect(try delivered(after: 0, upTo: 6, limit: 2) == ["1", "3"])
            }
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
