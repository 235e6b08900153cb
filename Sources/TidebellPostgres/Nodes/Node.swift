// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling

/// A server as one of several on one database: what it shares with the others.
final class Node: Sendable {
    /// Connections for claims of leases: the pipeline's and those of the routes.
    static let leaseConnections = 2

    let leases: SharedLeases
    private let pool: PostgresPool
    private let news: NodeNews
    private let listeners: Listeners

    /// Who is told what other nodes did; lists that only grow, with the services of a cloud.
    private final class Listeners: Sendable {
        let notified = Mutex<[@Sendable (Set<UserID>?) -> Void]>([])
    }

    /// Begins to listen to the other nodes; ``close()`` ends it.
    ///
    /// - Parameters:
    ///   - process: A number that no other process has.
    ///   - connections: What knows which store this node serves.
    ///   - accessEnded: Called when another node has ended somebody's access.
    init(
        _ name: NodeName, at address: PostgresAddress, process: Int64, pool: PostgresPool,
        statements: PostgresStatements, elapsed: @escaping @Sendable () -> Duration,
        connections: WriterConnections,
        accessEnded: @escaping @Sendable () -> Void
    ) throws {
        self.pool = pool
        leases = SharedLeases(pool, statements, elapsed: elapsed)
        let listeners = Listeners()
        self.listeners = listeners
        // No request and no pass waits for what it does.
        var uncounted = address
        uncounted.trips = nil
        news = try NodeNews(
            uncounted, as: name, process: process, connections: connections, elapsed: elapsed,
            to: NodeNews.Receiver(
                notified: { users in
                    for listener in listeners.notified.withLock({ $0 }) { listener(users) }
                },
                accessEnded: accessEnded))
        news.start()
    }

    /// Whether it is this node that does what one does for all.
    var leads: Bool { news.leads.load(ordering: .relaxed) }

    /// Tells the other nodes what a commit did.
    func tell(notified users: Set<UserID>, endsAccess: Bool) {
        news.tell(notified: users, endsAccess: endsAccess)
    }

    /// Has `body` called when another node has appended to logs; nil stands for any user's.
    func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void) {
        listeners.notified.withLock { $0.append(body) }
    }

    /// Says that the node is gone, and closes its connections.
    func close() async {
        await news.close()
        await pool.close()
    }
}

/// By what times nodes notice one another.
package enum NodeTiming {
    /// By how much the clocks of two nodes may differ.
    package static let clockTolerance = SharedLeases.clockTolerance
    /// How long a node may hold the lock of a queue that does nothing.
    package static let standstillOfClaims = SharedLeases.longestStandstill
    /// What a claim may wait for the lock of its queue and still be of the moment before.
    package static let shortestWait = SharedLeases.shortestWait
    /// The least time from one notification of news to the next, for each node that hears it.
    package static let newsPauseForListener = NewsPace.pauseForListener
    /// How often a node looks for the others, and after what silence one counts as gone.
    package static let lookInterval = NodeNews.interval
    package static let silenceLimit = NodeNews.silenceLimit
}
