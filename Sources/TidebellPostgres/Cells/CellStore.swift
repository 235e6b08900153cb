// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling
import TidebellWire

/// A store in several cells: a PostgreSQL cluster each, of which the first has the directory (``CellMap``).
///
/// What is spread, what the directory has alone, and what every cell has a copy of is in DESIGN.md.
///
/// Each step of a write is a write of its cell's store, so that each cell settles its own lost commits and failovers; a
/// cell that cannot be reached fails what is in it, and nothing else.
package final class CellStore: OpenedStore {
    /// Bodies of writes under way at once; each waits for its steps on a thread of its own.
    private static let bodies = PostgresWrites.writesPerCommit

    /// How long a write waits for what is on its way to another cell, and how often it looks.
    private static let patience = Duration.seconds(20)
    private static let ownPatience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(100)
    /// When changes of what is on its way, and of a cell that is away, are looked for again.
    private static let rest = Duration.seconds(1)
    /// How often a read begins anew because something moved meanwhile.
    private static let mostReads = 3

    private let map: CellMap
    private let storesByCell: [CellNumber: PostgresStore]
    private let directory: PostgresStore
    private let waiting: WriteQueue
    private let threads: [SerialThread]
    private let time: Time
    /// The place of the cell that is asked first for changes to be notified, and for what is to be delivered.
    private let outboxTurn = Atomic(0)
    private let deliveryTurn = Atomic(0)
    private let elapsed: @Sendable () -> Duration

    /// - Parameter stores: That of each cell, the directory's among them.
    init(
        _ map: CellMap, _ directory: PostgresStore, _ stores: [CellNumber: PostgresStore],
        bounds: StoreBounds, time: Time
    ) {
        self.map = map
        storesByCell = stores
        self.directory = directory
        waiting = WriteQueue(
            bounds, lanes: Self.bodies, closedError: PostgresPool.Refusal.closed)
        threads = (0..<Self.bodies).map { SerialThread("cells-\($0)") }
        self.time = time
        elapsed = time.elapsed
    }

    private var stores: [PostgresStore] {
        storesByCell.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The cells, and what is where now.
    private func cells() throws -> Cells {
        Cells(map: map, view: try map.view(), stores: storesByCell)
    }

    // MARK: - Reading and writing

    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        let start = elapsed()
        while true {
            do {
                // Not by topic: those of one database share the commits of its cell.
                return try await withCheckedThrowingContinuation { continuation in
                    waiting.submit(
                        PendingWrite(for: caller, durability: durability, body, continuation),
                        at: elapsed()
                    ) { number in threads[number].async { self.drain(number) } }
                }
            } catch let moving as IsMoving {
                // What was done of it changes nothing when it comes again. The server itself does something else
                // meanwhile.
                guard elapsed() - start < (caller == nil ? Self.ownPatience : Self.patience) else {
                    throw caller == nil ? moving : moving.error
                }
                try await time.clock.sleep(for: Self.pause)
            }
        }
    }

    private func drain(_ number: Int) {
        while let (write, _) = waiting.nextOrEnd(in: number) {
            do {
                let steps = CellSteps(caller: write.caller, durability: write.durability, cells)
                try write.run(in: steps)
                write.finish(nil)
            } catch {
                write.finish(StoreUnavailable.meant(by: error))
            }
            waiting.endUnderWay(in: number, but: [])
        }
    }

    /// By cell; all in one where that cannot be found out, which fails when it is written.
    package func parts(of users: Set<UserID>) -> [Set<UserID>] {
        guard !users.isEmpty else { return [] }
        guard let cells = try? cells() else { return [users] }
        return Dictionary(grouping: users, by: cells.cell(of:)).values.map { Set($0) }
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await read(.short, body)
    }

    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        for _ in 0..<Self.mostReads {
            let result: Result? = try await directory.read(length) { [self] reader in
                guard let reader = reader as? SQLReader else {
                    preconditionFailure("a PostgreSQL store hands out readers of its own only")
                }
                // Before the first statement, which takes the snapshot: that is no older.
                let cells = try cells()
                let readers = CellReaders(cells, in: .directory, reader)
                let result = Swift.Result { try body(CellReader(readers)) }
                    .mapError(reader.ownError)
                readers.end(isWhole: (try? result.get()) != nil)
                // What took long may have looked where something no longer was.
                return try map.hasSwitched(since: cells.view) ? nil : result.get()
            }
            if let result { return result }
        }
        throw IsMoving().error
    }

    // MARK: - Signals

    package func outboxCommits() -> AsyncStream<Void> {
        Self.merged(stores.map { $0.outboxCommits() })
    }

    package func accessCommits() -> AsyncStream<Void> {
        Self.merged(stores.map { $0.accessCommits() })
    }

    package func unsettledCommits() -> AsyncStream<Void> {
        Self.merged(stores.map { $0.unsettledCommits() })
    }

    /// Yields when any of the streams does, and ends when all have ended.
    private static func merged(_ streams: [AsyncStream<Void>]) -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                await withTaskGroup { group in
                    for stream in streams {
                        group.addTask { for await _ in stream { continuation.yield() } }
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void) {
        for store in stores { store.whenNotifiedElsewhere(body) }
    }

    package func whenLost(_ body: @escaping @Sendable (StoreOpenError) -> Void) {
        for store in stores { store.whenLost(body) }
    }

    // MARK: - What the store is

    package var identity: UInt64 { directory.identity }
    /// The latest of the cells' lives: whichever cell came back older, sync tokens of before are expired.
    package var incarnation: Incarnation { stores.map(\.incarnation).max() ?? .first }
    package var cameBackOlder: Bool { stores.contains(where: \.cameBackOlder) }
    package var troubles: StoreTroubles { directory.troubles }
    package var troublesOfCells: [String: StoreTroubles] {
        map.cells.reduce(into: [:]) { found, cell in
            found[cell.name] = storesByCell[cell.number]?.troubles
        }
    }
    package var damageSearch: DamageSearch { directory.damageSearch }
    package var isMaintainedHere: Bool { directory.isMaintainedHere }

    package func beginNewIncarnation(at now: Instant) async throws {
        for store in stores { try await store.beginNewIncarnation(at: now) }
    }

    package func close() async throws {
        waiting.close()
        for thread in threads {
            await withCheckedContinuation { continuation in
                thread.async { continuation.resume() }
            }
        }
        for store in stores.reversed() { try await store.close() }
        map.close()
    }

    // MARK: - Leases

    package func claimOutboxes<Pending: Sendable>(
        _ claim: LeaseClaim,
        reading body: @escaping @Sendable ([OutboxLease], any StoreReader) -> Pending
    ) async throws -> (claimed: ClaimedLeases<DatabaseID>, pending: Pending?) {
        let claimed = try await self.claim(
            claim, startingAt: outboxTurn, givesFailedAlone: true, in: { $0.cell(of: $1) },
            from: { try await $0.claimOutboxes($1) { _, _ in () }.claimed },
            giveBack: { try await $0.returnOutboxes($1) })
        let leases = claimed.leases
        guard !leases.isEmpty else { return (claimed, nil) }
        // Whoever holds the leases reads once more where this fails.
        return (claimed, try? await read { body(leases, $0) })
    }

    package func claimDeliveries(
        _ claim: LeaseClaim, in queue: DeliveryQueue
    ) async throws -> ClaimedLeases<DeliveryPointer> {
        try await self.claim(
            claim, startingAt: deliveryTurn, givesFailedAlone: false, in: { $0.cell(of: $1) },
            from: { try await $0.claimDeliveries($1, in: queue) },
            giveBack: { try await $0.returnDeliveries($1) })
    }

    package func returnOutboxes(_ leases: [ReturnedLease<DatabaseID>]) async throws {
        try await giveBack(leases, in: { $0.cell(of: $1) }) { try await $0.returnOutboxes($1) }
    }

    package func returnDeliveries(_ leases: [ReturnedLease<DeliveryPointer>]) async throws {
        try await giveBack(leases, in: { $0.cell(of: $1) }) { try await $0.returnDeliveries($1) }
    }

    /// Claims from the queues of all cells, one after the other.
    private func claim<Key>(
        _ claim: LeaseClaim, startingAt turn: borrowing Atomic<Int>, givesFailedAlone: Bool,
        in place: (Cells, Key) -> CellNumber,
        from take: (PostgresStore, LeaseClaim) async throws -> ClaimedLeases<Key>,
        giveBack: (PostgresStore, [ReturnedLease<Key>]) async throws -> Void
    ) async throws -> ClaimedLeases<Key> {
        var all = ClaimedLeases<Key>(leases: [], nextVesting: nil)
        var failures: [any Error] = []
        var rest = claim
        // Cells take turns in being first, as entries do within each.
        let (cells, numbers) = (try cells(), storesByCell.keys.sorted())
        let start = turn.load(ordering: .relaxed)
        var first: Int?
        for index in (start..<start + numbers.count).map({ $0 % numbers.count })
        where rest.limit > 0 {
            let (number, store) = (numbers[index], try cells.store(of: numbers[index]))
            do {
                var claimed = try await take(store, rest)
                // What is in another cell by now, and here until it is removed.
                let moving = claimed.leases.filter { place(cells, $0.key) != number }
                if !moving.isEmpty {
                    let later = claim.now.advanced(by: Self.rest)
                    // Not at once: others of the cell stand behind it.
                    try await giveBack(
                        store, moving.map { ReturnedLease($0, .failed(vestingAt: later)) })
                    claimed.leases.removeAll { lease in moving.contains { $0.key == lease.key } }
                    claimed.nextVesting = min(claimed.nextVesting ?? later, later)
                }
                all.nextVesting = [all.nextVesting, claimed.nextVesting].compactMap(\.self).min()
                guard !claimed.leases.isEmpty else { continue }
                let isAlone = givesFailedAlone && claimed.leases.contains { $0.failures > 0 }
                if isAlone, !all.leases.isEmpty {
                    // What failed is given out alone, so that it fails nobody else's.
                    try await self.giveBack(
                        all.leases.map { ReturnedLease($0, .untouched) }, in: place, to: giveBack)
                    all.leases = []
                }
                first = first ?? index
                all.leases += claimed.leases
                rest.limit = isAlone ? 0 : max(0, rest.limit - claimed.leases.count)
            } catch {
                // What the other cells have goes on.
                failures.append(error)
            }
        }
        if let first { turn.store((first + 1) % numbers.count, ordering: .relaxed) }
        if let failure = failures.first {
            guard failures.count < numbers.count || !all.leases.isEmpty else { throw failure }
            let later = claim.now.advanced(by: Self.rest)
            all.nextVesting = min(all.nextVesting ?? later, later)
        }
        return all
    }

    /// Gives leases back, each to its cell.
    private func giveBack<Key>(
        _ leases: [ReturnedLease<Key>], in place: (Cells, Key) -> CellNumber,
        to giveBack: (PostgresStore, [ReturnedLease<Key>]) async throws -> Void
    ) async throws {
        let cells = try cells()
        var failure: (any Error)?
        for (cell, part) in Dictionary(grouping: leases, by: { place(cells, $0.lease.key) }) {
            do { try await giveBack(try cells.store(of: cell), part) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// What a step is about is on its way to another cell, or came there a moment ago.
struct IsMoving: Error, CustomStringConvertible {
    /// What an operator gets.
    var description: String {
        "something of this cloud is being moved to another cell; if that was interrupted, `tidebell cell list` prints the commands "
            + "that go on with it or give it up"
    }

    /// What a client gets that has waited long enough.
    var error: WireError {
        WireError(
            .tryAgainLater, "what this is about is being moved to another cell: try again",
            retryAfter: 1)
    }
}
