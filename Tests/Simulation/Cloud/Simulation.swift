// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import TestSupport
import TidebellCore
import TidebellHTTP
import TidebellPush
import TidebellSQLite
import TidebellScheduling
import TidebellTestStores
import TidebellServer
import TidebellWire

/// A whole cloud without sockets that goes through a walk, and whose every answer
/// and push is held against the model.
///
/// One thing happens at a time, nothing in the background: the walk decides when the
/// pipeline works, and all wake-ups are lost.
package actor Simulation {
    static let container = ContainerKey(
        container: "iCloud.org.example.walk", environment: .development
    )

    let walk: Walk
    var model = Model()
    var people: [Person] = []
    var apiToken = ""
    /// Streams that are open.
    var streams: [String: OpenStream] = [:]
    /// What the latest pass of each pipeline found when it read.
    var found: [Int: Snapshot] = [:]
    /// What happens while the pipelines run.
    var meanwhile: [Int: Interjection] = [:]
    /// The pipeline that runs now: the others stand still.
    var active = 0
    /// The pipelines, of which the first is the cloud's.
    var pipelines: [PushPipeline] = []
    /// Where a pipeline dies.
    var fatalStage: PassStep?
    /// Where the newest entry there ever was stands in the outbox of each database.
    var newestEntries: [DatabaseID: OutboxPosition] = [:]
    /// How many events devices received.
    var deliveredCount = 0
    /// How many changes there were in the outbox.
    var changeCount = 0
    /// How often the store came back from an older moment.
    var returnCount = 0
    /// What was sent under request IDs, oldest first.
    var requests: [SentRequest] = []
    /// How many request IDs were given.
    var requestCount = 0
    /// The contents whose files are gone from the disk.
    var lostContents: Set<String> = []
    /// What is broken, found while the pipeline runs by itself.
    var violation: (any Error)?
    /// What the cloud sleeps on, where it runs by itself.
    let clock = SteppedClock()
    /// What devices have that sync.
    var replicas: [String: Replica] = [:]
    /// The backups, oldest first.
    var backups: [MadeBackup] = []
    /// Where the write-ahead log can be cut, since the server started.
    var logged: [LoggedMoment] = []
    /// What is known of zones that are shared.
    var sharing: SharingState
    /// What ever stood at the positions of databases.
    var given: [GivenPosition: String] = [:]
    let folder: URL
    private let time = SimulatedTime()
    private let randomness: Randomness
    private var running: (cloud: CloudServices, store: MortalStore, base: any OpenedStore)?

    private init(_ walk: Walk) {
        self.walk = walk
        sharing = SharingState(users: walk.users)
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-walk-\(UUID().uuidString)")
        randomness = .walking(walk.seed)
    }

    /// Goes through a walk; a promise broken is thrown as a ``Violation`` that
    /// names the step.
    package static func run(_ walk: Walk) async throws -> Tally {
        let simulation = Simulation(walk)
        let result: Result<Tally, any Error>
        do {
            result = .success(try await simulation.run())
        } catch {
            result = .failure(error)
        }
        await simulation.end()
        return try result.get()
    }

    /// How much happened in a walk.
    package struct Tally: Sendable {
        package var changes = 0
        package var notifications = 0
        package var delivered = 0
        /// Of the store, to older moments.
        package var returns = 0

        /// Starts counting.
        package init() {}

        /// Adds what happened in another walk.
        package static func += (sum: inout Self, tally: Self) {
            sum.changes += tally.changes
            sum.notifications += tally.notifications
            sum.delivered += tally.delivered
            sum.returns += tally.returns
        }
    }

    // MARK: The server

    /// The cloud; only called between ``start()`` and ``end()``.
    var cloud: CloudServices {
        guard let running else { preconditionFailure("the simulation was not started") }
        return running.cloud
    }

    /// The store as the cloud sees it.
    var store: MortalStore {
        guard let running else { preconditionFailure("the simulation was not started") }
        return running.store
    }

    /// The store as nobody can break it.
    var base: any OpenedStore {
        guard let running else { preconditionFailure("the simulation was not started") }
        return running.base
    }

    var now: Instant { time.now }

    func advance(by duration: Duration) { time.advance(by: duration) }

    /// The name of the database in the data folder.
    static let databaseName = SQLiteFactory.fileName

    /// The data folder.
    var data: URL { folder.appendingPathComponent("data") }

    /// Starts the server, on what an earlier one left.
    func start() throws {
        let time = time
        let base = try TestStores.factory.open(
            in: data, for: .serving,
            time: Time(now: { time.now }, clock: ContinuousClock()),
            randomness: .walking(walk.seed)
        )
        let store = MortalStore(base)
        var push = PushConfiguration()
        push.entriesPerPass = walk.entriesPerPass
        push.notificationsPerPass = walk.notificationsPerPass
        push.waitingPerStream = walk.waitingPerStream
        // Most databases have more than two, some have less; of every other walk all are looked up.
        push.subscriptionsReadAtOnce = walk.seed.isMultiple(of: 2) ? 0 : 2
        var limits = Limits()
        limits.movedRecords = walk.movedRecords
        let begin = time.now
        let cloud = CloudServices(
            store: store,
            secret: StoreSecret(root: Array(repeating: 5, count: StoreSecret.length)),
            assets: walk.isWide || walk.hasSharing
                ? try DataFolder(data).openAssets(logger: .silent) : NoAssetStore(),
            limits: limits,
            push: push,
            time: Time(
                now: { time.now }, clock: walk.isWide ? clock : ContinuousClock(),
                elapsed: { .milliseconds(time.now.rawValue - begin.rawValue) }
            ),
            randomness: randomness,
            logger: .silent,
            reached: { [weak self] step in try await self?.reached(step, by: 0) }
        )
        running = (cloud, store, base)
        let others = (1..<max(1, walk.pipelines)).map { number in
            cloud.makePipeline { [weak self] step in try await self?.reached(step, by: number) }
        }
        pipelines = [cloud.pipeline] + others
    }

    /// Ends the server as a kill does: what is in memory is gone.
    func kill() async throws {
        streams = [:]
        found = [:]
        logged = []
        pipelines = []
        guard let running else { return }
        self.running = nil
        try await running.base.close()
    }

    private func end() async {
        // The folder is what is left, and goes as well.
        try? await kill()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// A user.
struct Person: Sendable {
    var id: UserID
    var recordName: String
    var webToken: String
    /// The courier of the user's page.
    var courier: String
}

extension Logger {
    /// Prints nothing.
    fileprivate static let silent = Logger(label: "walk") { _ in SwiftLogNoOpLogHandler() }
}

/// The time of day, which only the walk moves.
private final class SimulatedTime: Sendable {
    private let state = Mutex(Instant(rawValue: 1_800_000_000_000))

    var now: Instant { state.withLock(\.self) }

    func advance(by duration: Duration) {
        state.withLock { $0 = $0.advanced(by: duration) }
    }
}

extension Randomness {
    /// The server's chance in a walk.
    fileprivate static func walking(_ seed: UInt64) -> Randomness {
        let dice = Mutex(SeededGenerator(seed: ~seed))
        let bytes: @Sendable (Int) -> [UInt8] = { count in
            dice.withLock { dice in
                (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next() >> 32) }
            }
        }
        return Randomness(
            makeUUID: {
                var bytes = bytes(16)
                bytes[6] = bytes[6] & 0x0F | 0x40
                bytes[8] = bytes[8] & 0x3F | 0x80
                return bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
            },
            makeBytes: bytes
        )
    }
}
