// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing
import TestSupport
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellTestStores
import TidebellWire

/// A cloud with a store, a pipeline and its routes, and nothing around them.
final class World: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.example.feed", environment: .development
    )

    let folder: URL
    let store: ObservedStore
    let clock = TestClock()
    let log = TestLog()
    let tally = Tally()
    let streams: DeviceStreams
    let couriers: CourierMailboxes
    let pipeline: PushPipeline
    /// Where its writes are ended between their steps; nil where these are one commit.
    let apart: ApartStore?
    private let base: any OpenedStore
    private let end: End

    /// Opens a world on a new store, or on that of one which stopped.
    init(
        on folder: URL? = nil, losesWakeUps: Bool = false, takesStepsApart: Bool = false,
        _ configure: (inout PushConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = PushConfiguration()
        configure(&configuration)
        let name = "tidebell-push-\(UUID().uuidString)"
        self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: name)
        let opened = try TestStores.open(in: self.folder)
        apart = takesStepsApart ? ApartStore(opened) : nil
        base = apart ?? opened
        store = ObservedStore(base, losesWakeUps: losesWakeUps)
        let metrics = PushMetrics(factory: tally)
        streams = DeviceStreams(
            store: store, clock: clock, jitter: { 0.5 }, configuration: configuration,
            metrics: metrics
        )
        couriers = CourierMailboxes(
            store: store, clock: clock, now: { World.noon }, configuration: configuration,
            metrics: metrics
        )
        let end = End()
        self.end = end
        let clock = clock
        pipeline = PushPipeline(
            store: store, routes: [streams, couriers], clock: clock,
            now: { World.noon.advanced(by: clock.now.offset) },
            makeUUID: Randomness.system.makeUUID, logger: log.logger, configuration: configuration,
            metrics: metrics, reached: end.reached
        )
    }

    /// Makes the next pass die after a stage, with ``Died``.
    func die(after stage: PassStep) { end.stage.withLock { $0 = stage } }

    /// The process was killed.
    struct Died: Error {}

    /// The stage after which the process dies.
    private final class End: Sendable {
        let stage = Mutex<PassStep?>(nil)

        @Sendable func reached(_ stage: PassStep) throws {
            if self.stage.withLock({ $0 == stage }) { throw Died() }
        }
    }

    static let noon = Instant(rawValue: 1_767_268_800_000)

    /// Runs `body` in a new world and takes it down.
    static func run(
        losesWakeUps: Bool = false, takesStepsApart: Bool = false,
        _ configure: (inout PushConfiguration) -> Void = { _ in },
        _ body: (World) async throws -> Void
    ) async throws {
        let world = try World(
            losesWakeUps: losesWakeUps, takesStepsApart: takesStepsApart, configure)
        defer { try? FileManager.default.removeItem(at: world.folder) }
        try await body(world)
        try await world.store.close()
    }

    /// Stops at once, as a killed process does, and starts anew on the same file.
    func restarted() async throws -> World {
        try await store.close()
        return try World(on: folder)
    }

    /// Runs the service while `body` runs.
    func running(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.pipeline.run() }
            try await body()
            group.cancelAll()
        }
    }
}

/// A user with a private database.
struct Person: Sendable {
    var user: StoredUser
    var database: DatabaseID
}

extension World {
    /// Creates a user; a reachable one is in a container with a webhook, for which
    /// notifications are made whether the user has a device or not.
    func person(
        _ name: String, in container: ContainerKey = World.container, isReachable: Bool = true
    ) async throws -> Person {
        try await store.write(.everything) { transaction in
            if isReachable,
                try !transaction.webhooks().contains(where: { $0.container == container })
            {
                _ = try transaction.createWebhook(
                    for: container, url: "https://receiver.example", secret: [1], at: World.noon
                )
            }
            let account =
                try transaction.account(named: name)
                ?? transaction.createAccount(named: name, at: World.noon)
            let record = "_" + String(repeating: "0", count: 32 - name.count) + name
            let user = try transaction.makeUser(
                of: account, in: container, recordName: record, at: Instant(rawValue: 0)
            )
            let key = DatabaseKey(container: container, scope: .private, owner: user.id)
            return Person(user: user, database: try transaction.makeDatabase(key).id)
        }
    }

    /// Registers a device.
    func device(_ client: String, of person: Person) async throws -> StoredDevice {
        try await store.write(.everything) { transaction in
            try transaction.registerDevice(
                clientID: client, user: person.user.id, container: person.user.container,
                at: World.noon
            )
        }
    }

    /// Saves a subscription.
    func subscribe(
        _ person: Person, _ kind: WireSubscription.Kind, id: String = "subscription",
        zone: String? = nil, type: String? = nil, filters: [WireFilter] = [],
        firesOnce: Bool = false, info: WireNotificationInfo? = WireNotificationInfo()
    ) async throws {
        var subscription = StoredSubscription(
            database: person.database, user: person.user.id,
            subscription: WireSubscription(
                subscriptionID: id, kind: kind, zoneID: zone.map { ZoneID(zoneName: $0) },
                recordType: type, firesOn: kind == .query ? [.create, .update, .delete] : [],
                firesOnce: firesOnce, notificationInfo: info
            )
        )
        subscription.subscription.filters = filters
        try await store.write(.everything) { [subscription] in
            try $0.putSubscriptions([subscription])
        }
    }

    /// Commits a change.
    func change(
        _ person: Person, zone: String = "feed", _ event: OutboxEntry.Event, origin: String?
    ) async throws {
        let entry = OutboxEntry(
            database: person.database, zoneName: zone, zoneOwner: person.user.recordName,
            event: event, originUser: person.user.id, originClient: origin,
            committedAt: World.noon
        )
        try await store.write(.everything) { try $0.appendOutbox([entry]) }
    }

    /// Commits the creation of records.
    func create(
        _ names: [String], of person: Person, zone: String = "feed", origin: String? = nil
    ) async throws {
        let changes = names.map {
            RecordChange(recordName: $0, recordType: "FeedItem", event: .created)
        }
        try await change(person, zone: zone, .records(changes), origin: origin)
    }

    /// All that a device would receive from the beginning.
    func log(of person: Person) async throws -> [StoredNotification] {
        try await store.read { reader in
            try reader.notifications(
                for: person.user.id, after: .start, excludingOrigin: nil, limit: 10_000
            )
        }
    }
}

/// The parts of a payload that tests look at.
struct DeliveredPayload: Hashable, CustomStringConvertible {
    var kind: String
    var subscription: String?
    var zone: String?
    var record: String?
    var notificationID: String?

    init(_ payload: [UInt8]) throws {
        let object = try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        let ck = try #require(object?["ck"] as? [String: Any])
        kind = ["qry", "fet", "met"].first { ck[$0] != nil } ?? "none"
        let part = ck[kind] as? [String: Any]
        subscription = part?["sid"] as? String
        zone = part?["zid"] as? String
        record = part?["rid"] as? String
        notificationID = ck["nid"] as? String
    }

    /// The payload of a server-sent event, whose form is checked on the way.
    init(_ event: StreamEvent) throws {
        let text = String(decoding: event.frame.bytes, as: UTF8.self)
        let head = "id: \(event.sequence.rawValue)\ndata: "
        #expect(text.hasPrefix(head) && text.hasSuffix("\n\n"))
        let payload = text.dropFirst(head.count).dropLast(2)
        #expect(!payload.contains("\n"))
        try self.init(Array(payload.utf8))
    }

    var description: String {
        [kind, subscription, zone, record].compactMap(\.self).joined(separator: " ")
    }
}

extension DeviceStream {
    /// Takes the next `count` events.
    func delivered(_ count: Int) async throws -> [DeliveredPayload] {
        var iterator = makeAsyncIterator()
        var delivered: [DeliveredPayload] = []
        while delivered.count < count, let event = try await iterator.next() {
            delivered.append(try DeliveredPayload(event))
        }
        return delivered
    }
}

extension WireNotificationInfo {
    /// An info that shows a text.
    static func visual(_ body: String = "New") -> WireNotificationInfo {
        var info = WireNotificationInfo()
        info.alert.body = body
        return info
    }
}
