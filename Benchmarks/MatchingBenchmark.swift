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

/// What one change costs beside many query subscriptions: the pipeline in this process, on a store
/// of its own.
///
/// Whatever their number, ten of them match, or none.
struct MatchingBenchmark {
    /// What the subscriptions ask.
    enum Mix: String {
        /// A text each, and a number above zero.
        case equalities
        /// In turn: a number between two, a number above one, a text that begins with another.
        case ranges
    }

    private static let container = ContainerKey(
        container: BenchServer.container, environment: .development
    )
    private static let matches = 10
    private static let passes = 500
    private static let users = 100
    private static let savedAtOnce = 10_000

    let subscriptions: Int
    let mix: Mix

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-matching-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore.open(
            at: folder.appendingPathComponent("store.sqlite").path, time: .system,
            randomness: .system
        )
        let database = try await fill(store)
        try await measure(matches: Self.matches, in: database, of: store)
        try await measure(matches: 0, in: database, of: store)
        try await store.close()
    }

    private func measure(
        matches: Int, in database: DatabaseID, of store: SQLiteStore
    ) async throws {
        let stages = Stages()
        let pipeline = PushPipeline(
            store: store, routes: [], clock: ContinuousClock(),
            now: { Instant(rawValue: 0) }, makeUUID: Randomness.system.makeUUID,
            logger: Logger(label: "bench"),
            reached: { stages.reached($0) }
        )
        for number in 0..<Self.passes {
            let entry = change(number, isFound: matches > 0, in: database)
            try await store.write(.everything) { try $0.appendOutbox([entry]) }
            stages.begin()
            let notified = try await pipeline.drain()
            guard notified == matches else {
                throw BenchmarkError("a change matched \(notified) of \(matches) subscriptions")
            }
        }
        stages.report(
            "\(subscriptions) \(mix.rawValue), \(matches == 0 ? "none" : "\(matches)") matching")
    }

    private var rooms: Int { subscriptions / Self.matches }

    /// What a subscription asks that is about a room.
    private func filters(_ room: Int) -> [WireFilter] {
        func number(_ number: Int) -> FieldValue { .int64(Int64(number)) }
        guard mix == .ranges else {
            return [
                WireFilter(.equals, .field("room"), .string("room-\(room)")),
                WireFilter(.greaterThan, .field("weight"), .int64(0)),
            ]
        }
        switch room % 3 {
        case 0:
            return [
                WireFilter(.greaterThanOrEquals, .field("weight"), number(room * 10)),
                WireFilter(.lessThan, .field("weight"), number(room * 10 + 10)),
            ]
        case 1: return [WireFilter(.greaterThan, .field("height"), number(1000 + room))]
        default: return [WireFilter(.beginsWith, .field("code"), .string("room-\(room)-"))]
        }
    }

    /// Saves the subscriptions, ten for each room.
    private func fill(_ store: SQLiteStore) async throws -> DatabaseID {
        let (database, users) = try await store.write(.everything) { transaction in
            let key = DatabaseKey(container: Self.container, scope: .public, owner: nil)
            let users = try (0..<Self.users).map { number in
                let account = try transaction.createAccount(
                    named: "user\(number)", at: Instant(rawValue: 0)
                )
                let user = try transaction.makeUser(
                    of: account, in: Self.container, recordName: "_user\(number)",
                    at: Instant(rawValue: 0)
                ).id
                // Whom no notification can reach is not looked at.
                _ = try transaction.registerDevice(
                    clientID: "device\(number)", user: user, container: Self.container,
                    at: Instant(rawValue: 0))
                return user
            }
            return (try transaction.makeDatabase(key).id, users)
        }
        for start in stride(from: 0, to: subscriptions, by: Self.savedAtOnce) {
            let saved = (start..<min(start + Self.savedAtOnce, subscriptions)).map { number in
                var subscription = WireSubscription(
                    subscriptionID: "s\(number)", kind: .query, recordType: "Message",
                    firesOn: [.create, .update]
                )
                subscription.filters = filters(number % rooms)
                return StoredSubscription(
                    database: database, user: users[number % users.count],
                    subscription: subscription
                )
            }
            try await store.write(.everything) { try $0.putSubscriptions(saved) }
        }
        return database
    }

    /// The creation of a message in one of the rooms, or in none.
    private func change(_ number: Int, isFound: Bool, in database: DatabaseID) -> OutboxEntry {
        let room = number * 7919 % rooms
        let stamp = RecordStamp(timestamp: 0, userRecordName: "_user0", deviceID: "")
        // The lowest of all bounds is that of room 1.
        let height = isFound && room % 3 == 1 ? 1002 : 500
        let fields: [String: Field] = [
            "room": Field(.string(isFound ? "room-\(room)" : "hall")),
            "weight": Field(
                .int64(
                    mix == .equalities ? 1 : isFound && room % 3 == 0 ? Int64(room * 10 + 5) : -1)),
            "height": Field(.int64(Int64(height))),
            "code": Field(.string(isFound ? "room-\(room)-\(number)" : "hall-\(number)")),
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

    func report(_ mix: String) {
        let times = times.withLock { $0 }
        for (what, durations) in [
            ("matched", times.matched), ("notified, durable", times.published),
        ] {
            let sorted = durations.sorted()
            let text = [sorted[sorted.count / 2], sorted[sorted.count * 99 / 100]].map {
                String(format: "%.2f ms", $0 / .milliseconds(1))
            }
            let name = "a change \(what), \(mix)"
                .padding(toLength: 64, withPad: " ", startingAt: 0)
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
