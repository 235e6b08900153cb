// SPDX-License-Identifier: Apache-2.0
import TidebellPostgres

/// What a simulation runs: how many nodes with what load and faults, and what the database's server costs them.
package struct SimulationSettings: Sendable {
    package var seed: UInt64 = 1
    package var kind = QueueKind.matching
    package var nodes = 10
    /// Into how many cells the nodes are divided, each with a database of its own.
    package var cells = 1
    /// How long changes are committed; then the rest is delivered.
    package var duration = Duration.seconds(60)
    /// How long the rest may take.
    package var patience = Duration.seconds(600)
    package var load = Load()
    package var faults = Faults()
    package var costs = Costs()
    package var rules = Rules()

    /// Creates the default settings.
    package init() {}

    /// What is committed.
    package struct Load: Sendable {
        /// Commits at each node in a second, on average.
        package var commitsPerSecond = 10.0
        /// Databases for each node. Some have much more to say than others: which one is the cube of a number
        /// from 0 to 1.
        package var databasesPerNode = 1000
        /// Databases that many write to, in each cell, and the part of all commits that is theirs.
        package var hotDatabases = 2
        package var hotPart = 0.05
    }

    /// What goes wrong, while changes are committed.
    package struct Faults: Sendable {
        /// The part of the nodes that are killed, and how long until each is there again.
        package var killed = 0.02
        package var restart = Duration.seconds(10)
        /// The part of the nodes that stand still, each for some of this time.
        package var frozen = 0.02
        package var standstill: ClosedRange<Duration> = .seconds(5)...(.seconds(70))
        /// The part of the nodes whose connection for news is lost, and how long.
        package var deaf = 0.05
        package var deafness = Duration.seconds(2)
        /// The part of the passes that fail.
        package var failing = 0.0005
        /// By how much clocks are off, at most: a node that is further off does not start.
        package var clockError = Duration.seconds(4)
        /// After what silence the others have all their streams look.
        package var silence = NodeTiming.silenceLimit + NodeTiming.lookInterval
        /// How long a device takes to find another node, and to notice that one stands still.
        package var reconnection: ClosedRange<Duration> = .seconds(1)...(.seconds(4))
        package var silenceOfStreams = Duration.seconds(45)
    }

    /// What the server of the database costs; `Benchmarks/run lease-table` measures it.
    package struct Costs: Sendable {
        /// From a node to the server and back, with a short statement.
        package var trip = Duration.microseconds(300)
        /// To read an entry that somebody holds or that failed.
        package var entryRead = Duration.nanoseconds(2500)
        /// To look at a database that waits.
        package var queueRead = Duration.nanoseconds(5500)
        /// To write an entry of the table.
        package var entryWrite = Duration.microseconds(30)
        /// Of a NOTIFY, and of a NOTIFY for each node that listens.
        package var notify = Duration.microseconds(150)
        package var notifyForListener = Duration.microseconds(20)
    }

    /// What the server's code decides.
    package struct Rules: Sendable {
        /// Whether a claim is of the moment at which it had the queue's lock, not of that before it waited.
        package var claimsWhenLocked = true
        /// How long a node may hold the queue's lock that does nothing.
        package var standstillOfClaims = NodeTiming.standstillOfClaims
        /// Whether a claim looks without the queue's lock first whether there is anything for it.
        package var looksFirst = true
        /// Whether giving back reads what is given back, not all that is held.
        package var returnsReadTheirOwn = true
        package var clockTolerance = NodeTiming.clockTolerance
        /// The least time from one notification of a node to the next, for each node that hears it.
        package var newsPauseForListener = NodeTiming.newsPauseForListener

        /// The rules of the server.
        package init() {}

        /// What the server did before this simulation showed what comes of it.
        package static var before: Rules {
            var rules = Rules()
            rules.claimsWhenLocked = false
            rules.standstillOfClaims = .seconds(30)
            rules.looksFirst = false
            rules.returnsReadTheirOwn = false
            rules.newsPauseForListener = .zero
            return rules
        }
    }
}
