// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import TidebellAPNs
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellTestStores
import TidebellWire

@testable import TidebellTesting

/// A store with a user's devices and the route to a scripted push service.
final class LaneWorld: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)

    let clock = ManualClock()
    let store: any OpenedStore
    let sender: ScriptedSender
    let log = TestLog()
    let journal: DeliveryJournal
    let user: UserID
    private let folder: URL
    private let random: Mutex<SeededGenerator>

    init(seed: UInt64, devices: Int) async throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-apns-\(UUID().uuidString)")
        store = try TestStores.open(in: folder)
        sender = ScriptedSender(seed: seed)
        journal = DeliveryJournal(store: store, clock: clock)
        random = Mutex(SeededGenerator(seed: seed &+ 1))
        user = try await store.write(.everything) { transaction in
            let account = try transaction.createAccount(named: "anna", at: Self.noon)
            let user = try transaction.makeUser(
                of: account, in: Self.container, recordName: "_anna", at: Instant(rawValue: 0)
            )
            for number in 0..<devices {
                let device = try transaction.registerDevice(
                    clientID: "device-\(number)", user: user.id, container: Self.container,
                    at: Self.noon
                )
                let token = StoredPushToken(
                    token: Self.token(number), apnsEnvironment: .development, courier: nil,
                    registeredAt: Self.noon
                )
                try transaction.putPushToken(token, notifying: device.key)
            }
            return user.id
        }
    }

    /// Registers a device whose token is of Apple's service for production.
    func addForeignToken() async throws {
        let user = user
        try await store.write(.everything) { transaction in
            let device = try transaction.registerDevice(
                clientID: "foreign", user: user, container: Self.container, at: Self.noon
            )
            let token = StoredPushToken(
                token: "ff", apnsEnvironment: .production, courier: nil, registeredAt: Self.noon
            )
            try transaction.putPushToken(token, notifying: device.key)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static let noon = Instant(rawValue: 1_767_268_800_000)

    /// The token of a device.
    static func token(_ number: Int) -> String { "a\(number)" }

    /// Makes the route anew, as a start of the server does.
    func makeRoute(
        on wrapped: (any Store)? = nil, _ configure: (inout APNsConfiguration) -> Void = { _ in }
    ) -> APNsRoute {
        let credentials = ProviderCredentials(
            keyID: "TESTKEY123", teamID: "TESTTEAM12", key: P256.Signing.PrivateKey()
        )
        var configuration = APNsConfiguration(apps: [
            .init(
                container: Self.container.container, topic: "org.example.app",
                credentials: credentials
            )
        ])
        configure(&configuration)
        let clock = clock
        return APNsRoute(
            configuration,
            APNsSurroundings(
                store: wrapped ?? store, journal: journal, clock: clock, now: { clock.instant },
                jitter: { [self] in Double(random.withLock { $0.next() } % 1000) / 1000 },
                makeUUID: Randomness.system.makeUUID, logger: log.logger
            ),
            sender: sender
        )
    }

    /// Logs notifications, each from a device or from elsewhere.
    func append(_ ids: [(id: String, origin: Int?)]) async throws {
        let user = user
        try await store.write(.everything) { transaction in
            _ = try transaction.appendNotifications(
                ids.map { id, origin in
                    StoredNotification(
                        user: user, notificationID: id, database: DatabaseID(rawValue: 1),
                        subscriptionID: "all", originClient: origin.map { "device-\($0)" },
                        payload: Array("{}".utf8), isBackground: false, collapseID: nil,
                        createdAt: Self.noon
                    )
                }
            )
        }
    }

    /// What the journal has of the first notification, once all is written.
    func journalled() async throws -> [String] {
        let (journal, user) = (journal, user)
        let run = Task { try await journal.run() }
        while journal.waitingCount > 0 { await clock.advance(by: .seconds(1)) }
        run.cancel()
        _ = await run.result
        let deliveries = try await store.read { reader in
            let first = try reader.notifications(
                for: user, after: .start, excludingOrigin: nil, limit: 1
            )
            return try first.flatMap { notification in
                try reader.deliveries(of: notification.sequence, to: user, limit: 100)
            }
        }
        return deliveries.map { "\($0.clientID ?? "nobody") \($0.route.rawValue) \($0.answer)" }
    }

    /// What stands in the queue.
    func pending() async throws -> [DeliveryPointer] {
        try await store.read {
            try $0.queuedDeliveries(in: .pushTargets(Self.container), limit: 1000)
        }
    }
}
