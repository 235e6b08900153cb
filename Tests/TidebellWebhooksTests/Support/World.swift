// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellTestStores
import TidebellTesting
import TidebellWebhooks
import TidebellWire

/// A store with one user, and a webhook route over it.
final class World: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.example.feed", environment: .development
    )
    static let noon = Instant(rawValue: 1_767_268_800_000)

    let store: any OpenedStore
    let clock = ManualClock()
    let receiver = ScriptedReceiver()
    let log = TestLog()
    let anna: StoredUser
    private let folder: URL

    private init() async throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "tidebell-webhooks-\(UUID().uuidString)")
        store = try TestStores.open(in: folder)
        anna = try await store.write(.everything) { transaction in
            let account = try transaction.createAccount(named: "anna", at: World.noon)
            return try transaction.makeUser(
                of: account, in: World.container, recordName: "_anna", at: Instant(rawValue: 0))
        }
    }

    /// Runs `body` in a new world and takes it down.
    static func run(_ body: (World) async throws -> Void) async throws {
        let world = try await World()
        defer { try? FileManager.default.removeItem(at: world.folder) }
        try await body(world)
        try await world.store.close()
    }

    /// Runs a route while `body` runs.
    func running(
        poster: (any WebhookPoster)? = nil,
        store watched: (any Store)? = nil,
        _ configure: (inout WebhookConfiguration) -> Void = { _ in },
        _ body: (WebhookRoute) async throws -> Void
    ) async throws {
        var configuration = WebhookConfiguration()
        configuration.requestTimeout = .patience
        configure(&configuration)
        let clock = clock
        let route = WebhookRoute(
            store: watched ?? store, naming: { "\($0) of \($1)" }, poster: poster ?? receiver,
            clock: clock,
            now: { World.noon.advanced(by: clock.now.offset) }, jitter: { 0.5 },
            makeUUID: Randomness.system.makeUUID,
            journal: DeliveryJournal(store: nil, clock: clock, logger: log.logger),
            configuration: configuration, logger: log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await route.run() }
            try await body(route)
            group.cancelAll()
            // What is held would hold up the end.
            while !group.isEmpty {
                receiver.release()
                try await group.next()
            }
        }
    }

    /// Adds a webhook for the container.
    func webhook(
        to url: String = "https://receiver.example", in container: ContainerKey = World.container
    ) async throws -> StoredWebhook {
        try await store.write(.everything) {
            try $0.createWebhook(for: container, url: url, secret: [1, 2, 3], at: World.noon)
        }
    }

    /// Appends a notification for every ID to the log.
    @discardableResult
    func push(
        _ ids: [String], to user: StoredUser? = nil, from origin: String? = nil,
        collapse: String? = nil
    ) async throws -> [StoredNotification] {
        let user = (user ?? anna).id
        let notifications = ids.map { id in
            StoredNotification(
                user: user, notificationID: id, database: DatabaseID(rawValue: 1),
                subscriptionID: "s", originClient: origin,
                payload: Array(#"{"aps":{},"ck":{"nid":"\#(id)"}}"#.utf8),
                isBackground: collapse != nil, collapseID: collapse.flatMap(CollapseID.init(text:)),
                createdAt: World.noon
            )
        }
        return try await store.write(.everything) { try $0.appendNotifications(notifications) }
    }

    /// Appends a notification to the log of a user of its own for every ID.
    @discardableResult
    func push(toOneEach ids: [String]) async throws -> [StoredNotification] {
        var pushed: [StoredNotification] = []
        for id in ids {
            let user = try await store.write(.account(nil)) { transaction in
                let account = try transaction.createAccount(named: "owner-of-\(id)", at: World.noon)
                return try transaction.makeUser(
                    of: account, in: World.container, recordName: "_\(id)",
                    at: Instant(rawValue: 0))
            }
            pushed += try await push([id], to: user)
        }
        return pushed
    }

    /// The webhook as it is stored now.
    func stored(_ webhook: StoredWebhook) async throws -> StoredWebhook? {
        try await store.read { try $0.webhook(webhook.id) }
    }

    /// Returns when the webhook's cursor in the user's log has reached a notification.
    func waitUntilDelivered(
        _ webhook: StoredWebhook, _ notification: StoredNotification
    ) async throws {
        try await eventually { try await self.isDelivered(webhook, notification) }
    }

    /// Moves the clock on, second by second, until the webhook's cursor in
    /// the user's log has reached a notification: whenever the route comes to sleep.
    func passUntilDelivered(
        _ webhook: StoredWebhook, _ notification: StoredNotification
    ) async throws {
        try await passUntil { try await self.isDelivered(webhook, notification) }
    }

    /// Moves the clock on by a wait, once somebody has begun it.
    func passWait(of wait: Duration) async {
        let end = clock.now.advanced(by: wait)
        await eventually { clock.deadlines.contains(end) }
        await clock.advance(by: wait)
    }

    /// Moves the clock on, second by second, until `condition` holds.
    func passUntil(_ condition: () async throws -> Bool) async throws {
        try await eventually {
            if try await condition() { return true }
            await clock.advance(by: .seconds(1))
            return false
        }
    }

    private func isDelivered(
        _ webhook: StoredWebhook, _ notification: StoredNotification
    ) async throws -> Bool {
        let cursor = try await store.read {
            try $0.webhookCursor(webhook.id, of: notification.user)
        }
        return cursor.map { $0 >= notification.sequence } ?? true
    }
}
