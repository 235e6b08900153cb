// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgres
import TidebellSQL
import TidebellScheduling

/// The lock of a queue, which one transaction has at a time: what `SharedLeases` does.
extension QueueSimulation {
    mutating func wantLock(_ node: Int, for purpose: SimulatedCell.Purpose) {
        let waiter = SimulatedCell.Waiter(
            node: node, life: nodes[node].life, purpose: purpose, since: now)
        let cell = nodes[node].cell
        guard cells[cell].transaction == nil else { return cells[cell].waiters.append(waiter) }
        begin(waiter, in: cell)
    }

    private mutating func begin(_ waiter: SimulatedCell.Waiter, in cell: Int) {
        let node = waiter.node
        cells[cell].begin(waiter, at: now)
        report.transactions += 1
        report.lockWaits.add(now - waiter.since)
        let held = cells[cell].leases.entries.count
        report.mostHeld = max(report.mostHeld, held)
        let costs = settings.costs
        var length: Duration
        switch waiter.purpose {
        case .claim:
            let (claimed, read) = claim(for: node, in: cell)
            length = costs.trip * 4 + costs.entryRead * held + costs.queueRead * read
            length += costs.entryWrite * claimed.leases.count
            report.statements += 8 + claimed.leases.count
        case .giveBack(let returned):
            cells[cell].take(returned)
            let read = settings.rules.returnsReadTheirOwn ? returned.count : held
            length = costs.trip * 2 + costs.entryRead * read + costs.entryWrite * returned.count
            report.statements += 6 + returned.count
        }
        guard let number = cells[cell].transaction?.number else { return }
        events.add(.commits(cell: cell, transaction: number), at: now + length)
    }

    private mutating func claim(
        for node: Int, in cell: Int
    ) -> (claimed: ClaimedLeases<DatabaseID>, read: Int) {
        report.claims += 1
        let asked = nodes[node].claimedAt
        let hasWaited =
            settings.rules.claimsWhenLocked && now - asked >= NodeTiming.shortestWait
        let moment = hasWaited ? now : asked
        cells[cell].leases.gaveFailed = nodes[node].gaveFailed
        let claim = makeClaim(of: node, at: moment)
        let result = cells[cell].claim(claim)
        nodes[node].gaveFailed = cells[cell].leases.gaveFailed
        if claim.vestingAt <= clock(of: node) { report.stillborn += result.claimed.leases.count }
        for (key, entry) in cells[cell].transaction?.before ?? [] {
            guard let entry, entry.holder != nil else { continue }
            // By true time, and the clocks of two nodes may differ by twice what one may be off.
            let left = entry.vestingAt.rawValue - trueTime.rawValue
            if Duration.milliseconds(left) > settings.faults.clockError * 2 {
                report.violate(
                    "database \(key.rawValue) was given to two: \(left) ms before its lease ended")
            }
        }
        return result
    }

    mutating func makeClaim(of node: Int, at moment: Duration) -> LeaseClaim {
        let moment = clock(of: node, at: moment)
        return LeaseClaim(
            holder: LeaseHolder(rawValue: generator.makeUUID()), now: moment,
            vestingAt: moment.advanced(by: settings.kind.leaseDuration),
            limit: settings.kind.entriesPerClaim)
    }

    private var trueTime: Instant { Instant(rawValue: 1_800_000_000_000).advanced(by: now) }

    /// Commits a transaction, and goes on with the node that had it.
    mutating func commitTransaction(_ number: Int, in cell: Int) {
        guard let transaction = cells[cell].transaction, transaction.number == number else {
            return
        }
        let node = transaction.node
        let (since, until) = (nodes[node].frozenSince, nodes[node].frozenUntil)
        guard until <= now else {
            // It holds up the others until it goes on, or the server has waited long enough.
            let end = max(since, transaction.since) + settings.rules.standstillOfClaims
            return until < end
                ? events.add(.commits(cell: cell, transaction: number), at: until)
                : events.add(.rollsBack(cell: cell, transaction: number), at: max(now, end))
        }
        report.lockTime += now - transaction.since
        cells[cell].transaction = nil
        if let claimed = transaction.claimed {
            self.claimed(claimed, by: node)
        } else {
            events.add(add(.gaveBack, of: node), at: now)
        }
        grant(in: cell)
    }

    mutating func rollBack(in cell: Int) {
        guard let transaction = cells[cell].transaction else { return }
        report.rolledBack += 1
        report.lockTime += now - transaction.since
        cells[cell].rollBack()
        if nodes[transaction.node].isUp {
            failed(transaction.node, claiming: transaction.claimed != nil)
        }
        grant(in: cell)
    }

    /// Gives the lock to who has waited longest.
    private mutating func grant(in cell: Int) {
        while cells[cell].transaction == nil, let waiter = cells[cell].nextWaiter() {
            guard nodes[waiter.node].life == waiter.life else { continue }
            begin(waiter, in: cell)
        }
    }
}
