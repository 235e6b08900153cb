// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import TidebellCore
import TidebellPush
import TidebellSQL
import TidebellScheduling

/// Many nodes that share a queue, each with the pipeline of `PushPipeline`, on a clock that stands between events:
/// how late what is committed is delivered, and what the work is worth.
///
/// Who may have what of the queue is decided by ``LeaseTable``, as in the server. Everything else is a model: of
/// the queue's lock, which one transaction has at a time; of what a claim costs; of passes, that take a while; and
/// of nodes, which are killed, stand still, and miss news. All that happens follows from a seed.
package struct QueueSimulation {
    enum Event {
        /// Somebody commits in a cell.
        case commit(cell: Int)
        case poll(node: Int, life: Int)
        case alarm(node: Int, number: Int)
        case step(node: Int, life: Int, SimulatedNode.Step)
        /// The transaction that has a queue's lock commits, unless its node stands still.
        case commits(cell: Int, transaction: Int)
        /// The server ends it, because its node does nothing.
        case rollsBack(cell: Int, transaction: Int)
        case kill(node: Int)
        case start(node: Int)
        case freeze(node: Int, Duration)
        case thaw(node: Int)
    }

    let settings: SimulationSettings
    var generator: SeededGenerator
    var events = EventQueue<Event>()
    var now = Duration.zero
    var cells: [SimulatedCell] = []
    var nodes: [SimulatedNode] = []
    var report = SimulationReport()

    /// Runs a simulation to the end: all changes are delivered, or patience is.
    package static func run(_ settings: SimulationSettings) -> SimulationReport {
        var simulation = QueueSimulation(settings)
        simulation.run()
        return simulation.report
    }

    private init(_ settings: SimulationSettings) {
        self.settings = settings
        generator = SeededGenerator(seed: settings.seed)
        let size = settings.nodes / settings.cells
        for cell in 0..<settings.cells {
            let range = cell * size..<(cell + 1) * size
            addNodes(range, of: cell)
            let hot = settings.load.hotDatabases
            let databases = (0..<hot + size * settings.load.databasesPerNode).map { number in
                SimulatedDatabase(
                    listener: generator.pick(Array(range)), isHot: number < hot)
            }
            cells.append(
                SimulatedCell(
                    nodes: range, databases: databases,
                    leases: LeaseTable(
                        givesFailedAlone: settings.kind.givesFailedAlone,
                        clockTolerance: settings.rules.clockTolerance)))
            events.add(.commit(cell: cell), at: timeToNextCommit(in: cell))
        }
        for node in nodes.indices { planFaults(of: node) }
    }

    private mutating func addNodes(_ range: Range<Int>, of cell: Int) {
        for node in range {
            let error = settings.faults.clockError * generator.fraction(in: -1...1)
            nodes.append(SimulatedNode(cell: cell, clockError: error))
            // All are started at once, as after a failover.
            events.add(.start(node: node), at: .seconds(1) * generator.fraction(in: 0...1))
        }
    }

    private mutating func planFaults(of node: Int) {
        let faults = settings.faults
        if generator.happens(faults.killed) {
            let moment = settings.duration * generator.fraction(in: 0.1...0.9)
            nodes[node].death = moment
            events.add(.kill(node: node), at: moment)
            events.add(.start(node: node), at: moment + faults.restart)
        } else if generator.happens(faults.frozen) {
            let length = generator.duration(in: faults.standstill)
            events.add(
                .freeze(node: node, length),
                at: settings.duration * generator.fraction(in: 0.1...0.9))
        }
        if generator.happens(faults.deaf) {
            let moment = settings.duration * generator.fraction(in: 0.1...0.9)
            nodes[node].deafness = moment..<moment + faults.deafness
        }
    }

    private mutating func run() {
        while let (moment, event) = events.next() {
            now = moment
            happen(event)
            let isLoaded = now < settings.duration
            if !isLoaded, cells.allSatisfy({ $0.pendingChanges == 0 }) { break }
            if now > settings.duration + settings.patience { break }
        }
        report.undelivered = cells.map(\.pendingChanges).reduce(0, +)
        if report.undelivered > 0 {
            report.violate("\(report.undelivered) changes were not delivered in time")
        }
        checkThatNothingIsHeldForEver()
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .commit(let cell): commit(in: cell)
        case .poll(let node, let life):
            guard nodes[node].life == life, nodes[node].isUp else { return }
            raise(node)
            events.add(.poll(node: node, life: life), at: now + settings.kind.pollInterval)
        case .alarm(let node, let number): if nodes[node].alarm == number { raise(node) }
        case .step(let node, let life, let step):
            guard nodes[node].life == life else { return }
            guard nodes[node].frozenUntil <= now else {
                return events.add(event, at: nodes[node].frozenUntil)
            }
            go(on: node, step)
        case .commits(let cell, let number): commitTransaction(number, in: cell)
        case .rollsBack(let cell, let number):
            guard cells[cell].transaction?.number == number else { return }
            rollBack(in: cell)
        case .kill(let node): kill(node)
        case .start(let node):
            nodes[node].isUp = true
            if let death = nodes[node].death, death <= now { nodes[node].death = nil }
            events.add(
                .poll(node: node, life: nodes[node].life), at: now + settings.kind.pollInterval)
            raise(node)
        case .freeze(let node, let length):
            guard nodes[node].isUp else { return }
            (nodes[node].frozenSince, nodes[node].frozenUntil) = (now, now + length)
            events.add(.thaw(node: node), at: now + length)
        case .thaw(let node): if nodes[node].isUp, nodes[node].isRaised { raise(node) }
        }
    }

    // MARK: - What happens to nodes

    private mutating func commit(in cell: Int) {
        guard now < settings.duration else { return }
        events.add(.commit(cell: cell), at: now + timeToNextCommit(in: cell))
        let load = settings.load
        let count = cells[cell].databases.count
        let database: Int
        if load.hotDatabases > 0, generator.happens(load.hotPart) {
            database = generator.below(load.hotDatabases)
        } else {
            let place = pow(generator.fraction(in: 0...1), 3)
            database =
                load.hotDatabases
                + min(
                    count - load.hotDatabases - 1,
                    Int(place * Double(count - load.hotDatabases)))
        }
        // A load balancer sends nothing to a node that does not answer.
        guard let node = liveNode(of: cell) else { return }
        report.changes += 1
        cells[cell].commit(in: database, at: now)
        raise(node)
    }

    private mutating func timeToNextCommit(in cell: Int) -> Duration {
        let rate = settings.load.commitsPerSecond * Double(settings.nodes / settings.cells)
        return .seconds(-log(1 - generator.fraction(in: 0...0.999_999)) / rate)
    }

    /// A node of a cell that runs.
    mutating func liveNode(of cell: Int) -> Int? {
        let range = cells[cell].nodes
        for _ in 0..<100 {
            let node = range.lowerBound + generator.below(range.count)
            if nodes[node].isUp, nodes[node].frozenUntil <= now { return node }
        }
        return nil
    }

    private mutating func kill(_ node: Int) {
        let cell = nodes[node].cell
        nodes[node].kill(at: now)
        // Its connection ends, and with it its transaction.
        if cells[cell].transaction?.node == node { rollBack(in: cell) }
    }

    private mutating func checkThatNothingIsHeldForEver() {
        let latest = clock(of: 0).advanced(
            by: settings.kind.leaseDuration + settings.faults.clockError * 2)
        for cell in cells {
            for (key, entry) in cell.leases.entries where entry.vestingAt > latest {
                report.violate("database \(key.rawValue) is held for too long")
            }
        }
    }
}

extension SeededGenerator {
    mutating func fraction(in range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &self)
    }

    mutating func happens(_ probability: Double) -> Bool { fraction(in: 0...1) < probability }

    mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * fraction(in: 0...1)
    }

    mutating func makeUUID() -> UUID {
        var bytes = (next(), next())
        return withUnsafeBytes(of: &bytes) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }
}
