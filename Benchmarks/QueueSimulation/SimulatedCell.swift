// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellScheduling

/// A database with changes that are to be delivered.
struct SimulatedDatabase {
    /// When the changes were committed that are not processed yet.
    var pending: [Duration] = []
    /// How many changes were processed, in order.
    var done = 0
    /// Its place in the queue; nil where nothing waits.
    var turn: Int?
    /// The node that its device has a stream at, and of which life of it.
    var listener: Int
    var listenerLife = 0
    /// When the device connected there.
    var connectedAt = Duration.zero
    var isHot: Bool
}

/// The databases that wait, in the order of their turns.
struct TurnQueue {
    private var places: [(turn: Int, database: Int)] = []
    /// Before it no place counts.
    private var head = 0
    private var lastTurn = 0
    private(set) var count = 0

    /// Puts a database behind all others; returns its turn.
    mutating func append(_ database: Int) -> Int {
        lastTurn += 1
        places.append((lastTurn, database))
        count += 1
        return lastTurn
    }

    /// Notes that a database has another turn now, or none: its place counts no more.
    mutating func leave() { count -= 1 }

    /// Returns the first databases.
    mutating func first(_ limit: Int, in databases: [SimulatedDatabase]) -> [DatabaseID] {
        while head < places.count, databases[places[head].database].turn != places[head].turn {
            head += 1
        }
        if places.count > 2 * count + 64 {
            places = places[head...].filter { databases[$0.database].turn == $0.turn }
            head = 0
        }
        var found: [DatabaseID] = []
        found.reserveCapacity(min(limit, count))
        for place in places[head...] where found.count < limit {
            guard databases[place.database].turn == place.turn else { continue }
            found.append(DatabaseID(rawValue: Int64(place.database)))
        }
        return found
    }
}

/// A database's server and what its nodes share: the queue, and who holds what of it, by the rules of the real
/// one.
struct SimulatedCell {
    /// What a node wants the queue's lock for.
    enum Purpose {
        case claim
        case giveBack([ReturnedLease<DatabaseID>])
    }

    /// A node that waits for the queue's lock.
    struct Waiter {
        var node: Int
        var life: Int
        var purpose: Purpose
        var since: Duration
    }

    /// The transaction that has the queue's lock.
    struct Transaction {
        var node: Int
        var number: Int
        var since: Duration
        /// What the entries were that it changes, for the case that it does not commit.
        var before: [(key: DatabaseID, entry: LeaseTable<DatabaseID>.Entry?)] = []
        /// What it claims; nil where it gives back.
        var claimed: ClaimedLeases<DatabaseID>?
    }

    let nodes: Range<Int>
    var databases: [SimulatedDatabase]
    var queue = TurnQueue()
    var leases: LeaseTable<DatabaseID>
    var transaction: Transaction?
    var waiters: [Waiter] = []
    private var firstWaiter = 0
    private var transactions = 0
    /// When the server has told what it was given to tell.
    var newsEnd = Duration.zero
    var pendingChanges = 0

    init(nodes: Range<Int>, databases: [SimulatedDatabase], leases: LeaseTable<DatabaseID>) {
        self.nodes = nodes
        self.databases = databases
        self.leases = leases
    }

    mutating func nextWaiter() -> Waiter? {
        guard firstWaiter < waiters.count else { return nil }
        defer {
            firstWaiter += 1
            if firstWaiter > 1000 {
                waiters.removeFirst(firstWaiter)
                firstWaiter = 0
            }
        }
        return waiters[firstWaiter]
    }

    mutating func begin(_ waiter: Waiter, at moment: Duration) {
        transactions += 1
        transaction = Transaction(node: waiter.node, number: transactions, since: moment)
    }

    /// Undoes what the transaction that has the lock would have done.
    mutating func rollBack() {
        for (key, entry) in transaction?.before ?? [] { leases.entries[key] = entry }
        transaction = nil
    }

    /// Claims as the server does: beyond all that are held there may be one that is not.
    mutating func claim(_ claim: LeaseClaim) -> (claimed: ClaimedLeases<DatabaseID>, read: Int) {
        var read = 0
        while true {
            let limit = claim.limit + leases.entries.count
            let keys = queue.first(limit, in: databases)
            read += keys.count
            let isWhole = keys.count < limit
            let known = Dictionary(
                uniqueKeysWithValues: keys.compactMap { key in
                    leases.entries[key].map { (key, $0) }
                })
            let claimed = leases.claim(claim, from: keys, isWhole: isWhole)
            guard isWhole || !claimed.leases.isEmpty else { continue }
            transaction?.claimed = claimed
            transaction?.before = claimed.leases.map { ($0.key, known[$0.key]) }
            return (claimed, read)
        }
    }

    /// Whether a claim would get or forget something, as who has no lock sees it; otherwise when it may.
    mutating func look(_ claim: LeaseClaim) -> (isWorthwhile: Bool, nextVesting: Instant?) {
        var seen = leases
        let limit = claim.limit + seen.entries.count
        let keys = queue.first(limit, in: databases)
        let claimed = seen.claim(claim, from: keys, isWhole: keys.count < limit)
        let forgets = seen.entries.count < leases.entries.count
        return (!claimed.leases.isEmpty || forgets, claimed.nextVesting)
    }

    mutating func take(_ returned: [ReturnedLease<DatabaseID>]) {
        for item in returned {
            let key = item.lease.key
            transaction?.before.append((key, leases.entries[key]))
            leases.take(item)
        }
    }

    /// Adds a change.
    mutating func commit(in database: Int, at moment: Duration) {
        databases[database].pending.append(moment)
        pendingChanges += 1
        if databases[database].turn == nil { databases[database].turn = queue.append(database) }
    }

    /// Takes the first changes of a database as processed; returns when they were committed.
    mutating func settle(_ count: Int, of database: Int) -> ArraySlice<Duration> {
        let changes = databases[database].pending.prefix(count)
        databases[database].pending.removeFirst(count)
        databases[database].done += count
        pendingChanges -= count
        queue.leave()
        databases[database].turn =
            databases[database].pending.isEmpty ? nil : queue.append(database)
        return changes
    }
}
