// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPush
import TidebellSQL
import TidebellScheduling

/// What `PushPipeline` does, step by step.
extension QueueSimulation {
    private static let pipeline = PushConfiguration()

    /// Wakes a pipeline, or has it go on when it would rest.
    mutating func raise(_ node: Int) {
        guard nodes[node].isUp else { return }
        guard nodes[node].isIdle, nodes[node].frozenUntil <= now else {
            return nodes[node].isRaised = true
        }
        (nodes[node].isIdle, nodes[node].isRaised) = (false, false)
        nodes[node].alarm += 1
        nodes[node].failuresInRound = 0
        look(node)
    }

    func add(_ step: SimulatedNode.Step, of node: Int) -> Event {
        .step(node: node, life: nodes[node].life, step)
    }

    mutating func go(on node: Int, _ step: SimulatedNode.Step) {
        let cell = nodes[node].cell
        switch step {
        case .looked:
            guard cells[cell].queue.count > 0 || !cells[cell].leases.entries.isEmpty else {
                report.emptyLooks += 1
                return rest(node, until: nil)
            }
            if settings.rules.looksFirst {
                let claim = makeClaim(of: node, at: now)
                cells[cell].leases.gaveFailed = nodes[node].gaveFailed
                let (isWorthwhile, nextVesting) = cells[cell].look(claim)
                guard isWorthwhile else {
                    report.emptyLooks += 1
                    return rest(node, until: nextVesting)
                }
            }
            wantLock(node, for: .claim)
        case .claimed: break
        case .read: read(node)
        case .worked: endPass(of: node)
        case .gaveBack:
            guard nodes[node].failuresInRound < Self.pipeline.failuresPerRound else {
                return rest(node, for: trouble(of: node))
            }
            look(node)
        case .rested: look(node)
        }
    }

    /// A look at the queue, without its lock.
    private mutating func look(_ node: Int) {
        report.looks += 1
        report.statements += 3
        nodes[node].claimedAt = now
        let cell = cells[nodes[node].cell]
        var length = settings.costs.trip * 3
        if settings.rules.looksFirst {
            let held = cell.leases.entries.count
            let read = min(cell.queue.count, held + settings.kind.entriesPerClaim)
            length += settings.costs.entryRead * held + settings.costs.queueRead * read
        }
        events.add(add(.looked, of: node), at: now + length)
    }

    /// Goes on after a claim that had the lock.
    mutating func claimed(_ claimed: ClaimedLeases<DatabaseID>, by node: Int) {
        nodes[node].troubledRounds = 0
        guard !claimed.leases.isEmpty else {
            report.emptyClaims += 1
            return rest(node, until: claimed.nextVesting)
        }
        nodes[node].leases = claimed.leases
        events.add(add(.read, of: node), at: now + settings.costs.trip)
    }

    /// Reads of each database its share.
    private mutating func read(_ node: Int) {
        let leases = nodes[node].leases
        let cell = nodes[node].cell
        let share = max(1, settings.kind.changesPerPass / leases.count)
        nodes[node].pass = leases.map { lease in
            let database = cells[cell].databases[Int(lease.key.rawValue)]
            return SimulatedNode.Part(
                lease: lease, done: database.done, count: min(share, database.pending.count))
        }
        nodes[node].isFailing = generator.happens(settings.faults.failing)
        events.add(
            add(.worked, of: node), at: now + generator.duration(in: settings.kind.work))
    }

    /// Commits a pass, or what of it is still held, and gives its leases back.
    private mutating func endPass(of node: Int) {
        let cell = nodes[node].cell
        let pass = nodes[node].pass
        report.passes += 1
        guard !nodes[node].isFailing else {
            report.failedPasses += 1
            nodes[node].failuresInRound += 1
            let moment = clock(of: node)
            let returned = pass.map { part in
                let wait = Self.pipeline.retry.wait(after: part.lease.failures + 1)
                return ReturnedLease(
                    part.lease,
                    .failed(vestingAt: pass.count > 1 ? moment : moment.advanced(by: wait)))
            }
            return wantLock(node, for: .giveBack(returned))
        }
        nodes[node].failuresInRound = 0
        var delivered: [(database: Int, changes: ArraySlice<Duration>)] = []
        for part in pass {
            let database = Int(part.lease.key.rawValue)
            let done = cells[cell].databases[database].done
            report.worked += part.count
            let isHeld = cells[cell].leases.entries[part.lease.key]?.holder == part.lease.holder
            if settings.kind.checksLease, !isHeld || done != part.done {
                report.thrownAway += part.count
                continue
            }
            guard done >= part.done else {
                report.violate("database \(database) went back from \(part.done) to \(done)")
                continue
            }
            let new = max(0, part.done + part.count - done)
            report.sentTwice += part.count - new
            guard new > 0 else { continue }
            delivered.append((database, cells[cell].settle(new, of: database)))
        }
        deliver(delivered, by: node)
        wantLock(node, for: .giveBack(pass.map { ReturnedLease($0.lease, .done) }))
    }

    /// Rests until it is woken, or something vests.
    private mutating func rest(_ node: Int, until vesting: Instant?) {
        let wait = vesting.map {
            Duration.milliseconds(max(0, $0.rawValue - clock(of: node).rawValue))
        }
        rest(node, for: wait)
    }

    private mutating func rest(_ node: Int, for wait: Duration?) {
        nodes[node].isIdle = true
        nodes[node].alarm += 1
        if nodes[node].isRaised { return raise(node) }
        guard let wait else { return }
        events.add(.alarm(node: node, number: nodes[node].alarm), at: now + wait)
    }

    /// How long a pipeline rests after a round that it could not end.
    private mutating func trouble(of node: Int) -> Duration {
        nodes[node].troubledRounds += 1
        return Self.pipeline.retry.wait(after: nodes[node].troubledRounds)
    }

    /// Goes on after a transaction that did not commit.
    mutating func failed(_ node: Int, claiming: Bool) {
        // What could not be given back vests.
        guard claiming else { return events.add(add(.gaveBack, of: node), at: now) }
        // Commits are no reason to try sooner.
        events.add(add(.rested, of: node), at: now + trouble(of: node))
    }

    /// The time as a node knows it.
    func clock(of node: Int, at moment: Duration? = nil) -> Instant {
        Instant(rawValue: 1_800_000_000_000)
            .advanced(by: (moment ?? now) + nodes[node].clockError)
    }
}
