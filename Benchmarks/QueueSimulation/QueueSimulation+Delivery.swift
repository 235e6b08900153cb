// SPDX-License-Identifier: Apache-2.0

/// How a device hears of what was processed: what `NodeNews` and the streams do.
extension QueueSimulation {
    /// Notes when the device of each database has its changes.
    mutating func deliver(
        _ delivered: [(database: Int, changes: ArraySlice<Duration>)], by node: Int
    ) {
        guard !delivered.isEmpty else { return }
        let cell = nodes[node].cell
        let told = settings.kind.reachesStreams ? tell(by: node) : now
        for (database, changes) in delivered {
            let moment =
                settings.kind.reachesStreams
                ? arrival(in: database, of: cell, from: node, told) : now
            report.end = max(report.end, moment)
            for committed in changes {
                if cells[cell].databases[database].isHot {
                    report.hot.add(moment - committed)
                } else {
                    report.ordinary.add(moment - committed)
                }
            }
        }
    }

    /// Tells the other nodes; returns when they have heard it. What comes while another is told waits and is told
    /// together.
    private mutating func tell(by node: Int) -> Duration {
        if nodes[node].newsBegin > now { return nodes[node].newsEnd }
        let cell = nodes[node].cell
        let listeners = cells[cell].nodes.count
        let length = settings.costs.notify + settings.costs.notifyForListener * listeners
        let pause = settings.rules.newsPauseForListener * listeners
        let begin = max(now, nodes[node].newsEnd + pause, cells[cell].newsEnd)
        cells[cell].newsEnd = begin + length
        (nodes[node].newsBegin, nodes[node].newsEnd) = (begin, begin + length)
        report.tells += 1
        report.newsTime += length
        return begin + length + settings.costs.trip
    }

    private mutating func arrival(
        in database: Int, of cell: Int, from node: Int, _ told: Duration
    ) -> Duration {
        connect(database, of: cell)
        let device = cells[cell].databases[database]
        var moment = told
        if device.listener == node {
            moment = now
        } else {
            // Who ends before it has told of a commit is missed, and all look.
            if let death = nodes[node].death, death >= now, death < told {
                moment = death + settings.faults.silence
            }
            for deafness in [nodes[node].deafness, nodes[device.listener].deafness] {
                if let deafness, deafness.contains(moment) { moment = deafness.upperBound }
            }
        }
        moment = max(moment, device.connectedAt)
        let listener = nodes[device.listener]
        if listener.frozenUntil > moment {
            moment = min(
                listener.frozenUntil,
                max(moment, listener.frozenSince + settings.faults.silenceOfStreams))
        }
        return moment + settings.costs.trip
    }

    /// Connects a device whose node ended to another one.
    private mutating func connect(_ database: Int, of cell: Int) {
        let device = cells[cell].databases[database]
        let listener = nodes[device.listener]
        guard listener.life != device.listenerLife || !listener.isUp else { return }
        guard let other = liveNode(of: cell) else { return }
        let reconnection = generator.duration(in: settings.faults.reconnection)
        cells[cell].databases[database].listener = other
        cells[cell].databases[database].listenerLife = nodes[other].life
        // A device that had nothing to hear since is there already.
        cells[cell].databases[database].connectedAt =
            listener.killedAt + reconnection
    }
}
