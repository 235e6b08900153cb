// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Synchronization
import TidebellCore
import TidebellProcesses
import TidebellPush
import TidebellSQLite
import TidebellScheduling
import TidebellWire

/// What one change costs beside many query subscriptions with equality
/// predicates: the pipeline in this process, on a store of its own.
///
/// Whatever their number, ten of them match.
struct MatchingBenchmark {
    private static let container = ContainerKey(
        container: BenchServer.container, environment: .development
    )
    private static let matches = 10
    private static let passes = 500
    private static let users = 100
    private static let savedAtOnce = 10_000

    let subscriptions: Int

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-matching-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore.open(
            at: folder.appendingPathComponent("store.sqlite").path, time: .system,
            randomness: .system
        )
        let database = try await fill(store)
        let stages = Stages()
        let pipeline = PushPipeline(
            store: store, routes: [], clock: ContinuousClock(),
            now: { Instant(rawValue: 0) }, makeUUID: Randomness.system.makeUUID,
            logger: Logger(label: "bench"),
            reached: { stages.reached($0) }
        )
        for number in 0..<Self.passes {
            let entry = change(number, in: database)
            try await store.write(.everything) { try $0.appendOutbox([entry]) }
            stages.begin()
            let notified = try await pipeline.drain()
            guard notified == Self.matches else {
                throw BenchmarkError(
                    "a change matched \(notified) of \(Self.matches) subscriptions")
            }
        }
        stages.report(over: subscriptions)
        try await store.close()
    }

    private var rooms: Int { subscriptions / Self.matches }

    /// Saves the subscriptions, ten for each room.
    private func fill(_ store: SQLiteStore) async throws -> DatabaseID {
        let (database, users) = try await store.write(.everything) { transaction in
            let key = DatabaseKey(container: Self.container, scope: .public, owner: nil)
            let users = try (0..<Self.users).map { number in
                let account = try transaction.createAccount(
                    named: "user\(number)", at: Instant(rawValue: 0)
                )
                return try transaction.makeUser(
                    of: account, in: Self.container, recordName: "_user\(number)",
                    at: Instant(rawValue: 0)
                ).id
            }
            return (try transaction.makeDatabase(key).id, users)
        }
        for start in stride(from: 0, to: subscriptions, by: Self.savedAtOnce) {
            let saved = (start..<min(start + Self.savedAtOnce, subscriptions)).map { number in
                var subscription = WireSubscription(
                    subscriptionID: "s\(number)", kind: .query, recordType: "Message",
                    firesOn: [.create, .update]
                )
                subscription.filters = [
                    WireFilter(.equals, .field("room"), .string("room-\(number % rooms)")),
                    WireFilter(.greaterThan, .field("weight"), .int64(0)),
                ]
                return StoredSubscription(
                    database: database, user: users[number % users.count],
                    subscription: subscription
                )
            }
            try await store.write(.everything) { try $0.putSubscriptions(saved) }
        }
        return database
    }

    /// The creation of a message in one of the rooms.
    private func change(_ number: Int, in database: DatabaseID) -> OutboxEntry {
        let stamp = RecordStamp(timestamp: 0, userRecordName: "_user0", deviceID: "")
        let fields: [String: Field] = [
            "room": Field(.string("room-\(number * 7919 % rooms)")),
            "weight": Field(.int64(Int64(number + 1))),
            "text": Field(.string(String(repeating: "x", count: 200))),
            "tags": Field(.list(.stringList, [.string("a"), .string("b")])),
        ]
        let record = RecordChange(
            recordName: "m\(number)", recordType: "Message", event: .created,
            fields: RecordFields(fields), system: .init(created: stamp, modified: stamp)
        )
        return OutboxEntry(
            database: database, zoneName: ZoneID.defaultName, zoneOwner: ZoneID.publicOwner,
            event: .records([record]), originUser: nil, originClient: nil,
            committedAt: Instant(rawValue: 0)
        )
    }
}

/// When the stages of passes were reached.
private final class Stages: Sendable {
    private struct Times {
        var start = ContinuousClock.now
        var matched: [Duration] = []
        var published: [Duration] = []
    }

    private let times = Mutex(Times())

    func begin() {
        times.withLock { $0.start = .now }
    }

    func reached(_ step: PassStep) {
        times.withLock { times in
            let passed = times.start.duration(to: .now)
            switch step {
            case .matched: times.matched.append(passed)
            case .published: times.published.append(passed)
            case .read, .coalesced, .built, .committed: break
            }
        }
    }

    func report(over subscriptions: Int) {
        let times = times.withLock { $0 }
        for (what, durations) in [
            ("matched", times.matched), ("notified, durable", times.published),
        ] {
            let sorted = durations.sorted()
            let text = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100]].map {
                String(format: "%.2f ms", $0 / .milliseconds(1))
            }
            let name = "a change \(what), \(subscriptions) subscriptions"
                .padding(toLength: 58, withPad: " ", startingAt: 0)
            printLine("\(name)\(text[0])   (p99 \(text[1]))")
        }
    }
}

/// Why a benchmark gave up.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
