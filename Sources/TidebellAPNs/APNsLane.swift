// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellWire
import Metrics
import Logging

/// The pushes of one container and environment on their way to Apple's service.
///
/// Each target has its notifications sent in log order, one at a time; targets do
/// not wait for one another. What goes wrong with one container stays in its lane.
final class APNsLane: Sendable {
    private struct Held {
        var lease: DeliveryLease
        var vestingAt: Instant
    }

    let container: ContainerKey
    let app: APNsConfiguration.App
    let configuration: APNsConfiguration
    let gateway: APNsGateway
    let surroundings: APNsSurroundings
    let sender: any APNsSender
    let tokens: ProviderTokens
    let cursors: APNsCursors
    /// What was logged and is not logged again until pushes go through.
    let reported = Mutex<Set<String>>([])
    private let backlog: Mutex<APNsBacklog>
    /// Of the targets in the backlog.
    private let leases = Mutex<[PushTargetKey: Held]>([:])
    /// When targets can be claimed that could not be by the latest claim.
    private let nextClaim = Mutex<Instant?>(nil)
    /// How often the log has got more.
    private let news = Atomic(0)
    /// Whether the latest claim left targets in the queue, for which there was no room.
    private let leftSome = Atomic(false)
    /// Has targets claimed once more.
    private let claimAgain: WakeSignal
    private let wake = WakeSignal()
    private let stopped = Atomic(false)

    init(
        container: ContainerKey, app: APNsConfiguration.App, gateway: APNsGateway,
        configuration: APNsConfiguration, surroundings: APNsSurroundings,
        sender: any APNsSender, tokens: ProviderTokens, cursors: APNsCursors,
        claimAgain: WakeSignal
    ) {
        self.container = container
        self.app = app
        self.gateway = gateway
        self.configuration = configuration
        self.surroundings = surroundings
        self.sender = sender
        self.tokens = tokens
        self.cursors = cursors
        self.claimAgain = claimAgain
        backlog = Mutex(APNsBacklog(configuration))
    }

    /// Notes that the log has more, before targets are claimed for it.
    func noteNews() { news.add(1, ordering: .relaxed) }

    /// Claims the targets that something waits for and that nobody else has, as many as there is
    /// room for; the others when there is room again, or at the next poll. Returns when others
    /// can be claimed, as far as that is known.
    @discardableResult
    func claim() async throws -> Instant? {
        var next: Instant?
        while !isStopped {
            let now = surroundings.now()
            let (room, pauseEnd) = backlog.withLock { ($0.room(at: now), $0.deadline(at: now)) }
            leftSome.store(room == 0, ordering: .relaxed)
            guard room > 0 else {
                next = pauseEnd
                break
            }
            let limit = min(room, configuration.targetsPerClaim)
            let vestingAt = now.advanced(by: configuration.leaseDuration)
            let claimed = try await surroundings.store.claimDeliveries(
                LeaseClaim(
                    holder: LeaseHolder(rawValue: surroundings.makeUUID()), now: now,
                    vestingAt: vestingAt, limit: limit
                ),
                in: .pushTargets(container)
            )
            for lease in claimed.leases {
                guard case .pushTarget(let key, _) = lease.key else { continue }
                leases.withLock { $0[key] = Held(lease: lease, vestingAt: vestingAt) }
                backlog.withLock { $0.found(key, failures: lease.failures) }
            }
            if !claimed.leases.isEmpty { wake.raise() }
            next = claimed.nextVesting
            guard claimed.leases.count == limit else { break }
        }
        nextClaim.withLock { $0 = next }
        return next
    }

    /// Gives back what is still claimed.
    func giveBack() async {
        let held = leases.withLock { leases in
            defer { leases = [:] }
            return leases.values.map(\.lease)
        }
        // A lease that cannot be given back vests.
        try? await surroundings.store.returnDeliveries(
            held.map { ReturnedLease($0, .untouched) }
        )
    }

    /// Claims what can be claimed, and returns whether nothing can be done at this moment.
    func isSettled() async throws -> Bool {
        try await claim()
        let now = surroundings.now()
        let (isIdle, isPaused) = backlog.withLock { ($0.isIdle(at: now), $0.isPaused(at: now)) }
        // A target whose lease is being given back may have something more.
        return isIdle && (isPaused || leases.withLock(\.isEmpty))
    }

    /// Lets what is under way end and begins nothing more.
    func stop() {
        stopped.store(true, ordering: .relaxed)
        wake.raise()
    }

    private var isStopped: Bool { stopped.load(ordering: .relaxed) || Task.isCancelled }

    /// Delivers until stopped or cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            while !isStopped {
                while let key = backlog.withLock({ $0.next(at: surroundings.now()) }) {
                    group.addTask { await self.takeTurn(key) }
                }
                await rest()
            }
        }
    }

    /// Waits for something to do.
    private func rest() async {
        let now = surroundings.now()
        let (deadline, isIdle) = backlog.withLock { ($0.deadline(at: now), $0.isIdle(at: now)) }
        if isIdle { surroundings.onIdle() }
        await wake.wait(
            atMost: deadline.map { max(.milliseconds(1), now.duration(to: $0)) },
            on: surroundings.clock
        )
    }

    private func takeTurn(_ key: PushTargetKey) async {
        let newsBefore = news.load(ordering: .relaxed)
        let isHeld = holds(key)
        // After a long wait others may have it by now: then it is claimed once more first.
        let outcome = isHeld ? await deliver(to: key) : .gone
        let (rest, isInBacklog, room) = backlog.withLock { backlog in
            let now = surroundings.now()
            let rest = backlog.finished(key, outcome, at: now, jitter: surroundings.jitter())
            return (rest, backlog.holds(key), backlog.room(at: now))
        }
        // Where the lease vested in this turn, it may have been claimed once more.
        if !isInBacklog, let held = leases.withLock({ $0[key] }) {
            await giveBack(held, of: key, isHeld ? rest : nil, or: isHeld ? .done : .untouched)
            // What came for it meanwhile may have been passed over by a claim.
            let hasNews = news.load(ordering: .relaxed) != newsBefore
            if hasNews || !isHeld || isNext(rest) { claimAgain.raise() }
        }
        let isRoomy = room > configuration.waitingTargets / 2
        if isRoomy, leftSome.exchange(false, ordering: .relaxed) { claimAgain.raise() }
        wake.raise()
    }

    /// Whether the lease of a target is there, and has not vested.
    private func holds(_ key: PushTargetKey) -> Bool {
        leases.withLock { $0[key] }.map { surroundings.now() < $0.vestingAt } ?? false
    }

    /// Gives the lease of a target back that rests, or that something else came of.
    private func giveBack(
        _ held: Held, of key: PushTargetKey, _ rest: APNsBacklog.Rest?, or outcome: LeaseOutcome
    ) async {
        var (lease, outcome) = (held.lease, outcome)
        if let rest {
            lease.failures = rest.failuresBefore
            outcome = .failed(vestingAt: rest.end)
        }
        // A lease that cannot be given back vests.
        try? await surroundings.store.returnDeliveries([ReturnedLease(lease, outcome)])
        // It may have been claimed once more already.
        leases.withLock { if $0[key]?.lease.holder == lease.holder { $0[key] = nil } }
    }

    /// Whether a rest ends before anything else can be claimed.
    private func isNext(_ rest: APNsBacklog.Rest?) -> Bool {
        guard let rest else { return false }
        return nextClaim.withLock { next in
            guard next.map({ rest.end < $0 }) ?? true else { return false }
            next = rest.end
            return true
        }
    }

    /// Sends a target a page of what it did not get yet.
    private func deliver(to key: PushTargetKey) async -> APNsBacklog.Outcome {
        let limit = configuration.notificationsPerPage
        do {
            let now = surroundings.now()
            let page = try await surroundings.store.read {
                try $0.page(of: key, limit: limit, at: now)
            }
            guard let (target, notifications) = page else {
                try await surroundings.store.write(.batch) {
                    try $0.withdrawPushTarget(key, at: now)
                }
                return .gone
            }
            // What was for it is replaced, or has left the log: nothing waits for it.
            if notifications.isEmpty { cursors.note(target, at: target.delivered) }
            var outcome: APNsBacklog.Outcome = notifications.count < limit ? .done : .more
            for notification in notifications {
                if isStopped { break }
                // After a standstill another process may be at it: then it is claimed once more first.
                guard holds(key) else {
                    outcome = .more
                    break
                }
                if let end = try await notify(target, of: notification) {
                    outcome = end
                    break
                }
                cursors.note(target, at: notification.sequence)
            }
            try await cursors.flush(key)
            return outcome
        } catch {
            if !Task.isCancelled { brokeDown(error) }
            return .rests(atLeast: .zero, atMost: configuration.longestWait)
        }
    }

    // MARK: The service as a whole

    /// Pushes go through.
    func worked() {
        guard backlog.withLock({ $0.worked() }) else { return }
        reported.withLock { $0 = [] }
        surroundings.logger.notice(
            "pushes to Apple's push service go through again", metadata: metadata
        )
    }

    /// The service failed in a way that may pass; in a row, that pauses the lane.
    func failed(atLeast: Duration, _ answer: APNsAnswer) {
        let isPause = backlog.withLock {
            $0.failed(atLeast: atLeast, at: surroundings.now(), jitter: surroundings.jitter())
        }
        guard isPause else { return }
        surroundings.metrics.pauses.increment()
        paused(answer)
    }

    /// The service wants a pause.
    func pause(atLeast: Duration, _ answer: APNsAnswer) {
        if pause(atLeast: atLeast, atMost: configuration.longestWait) { paused(answer) }
    }

    /// Pauses the lane; returns whether it was not paused before.
    @discardableResult
    func pause(atLeast: Duration = .zero, atMost: Duration) -> Bool {
        let isNew = backlog.withLock {
            $0.pause(
                atLeast: atLeast, atMost: atMost, at: surroundings.now(),
                jitter: surroundings.jitter()
            )
        }
        if isNew { surroundings.metrics.pauses.increment() }
        return isNew
    }

    private func paused(_ answer: APNsAnswer) {
        reportOnce("pause") {
            report(
                "Apple's push service does not accept pushes; they are tried again later", answer)
        }
    }

    /// Something of ours failed: the store, or signing.
    private func brokeDown(_ error: any Error) {
        pause(atMost: configuration.longestWait)
        reportOnce("breakdown") {
            surroundings.logger.warning(
                "pushes to Apple's push service are delayed; they wait and are tried again",
                metadata: metadata.merging(["error": "\(error)"]) { $1 }
            )
        }
    }
}

extension PushTokenReading where Self: NotificationLogReading {
    /// A target and what it is to get next; nil if it is gone.
    fileprivate func page(
        of key: PushTargetKey, limit: Int, at now: Instant
    ) throws -> (PushTarget, [StoredNotification])? {
        guard let target = try pushTarget(key, at: now) else { return nil }
        let notifications = try notifications(
            for: target.user, after: target.delivered, excludingOrigin: target.clientID,
            limit: limit
        )
        return (target, notifications)
    }
}

extension Instant {
    /// The time from this moment to a later one.
    func duration(to later: Instant) -> Duration {
        .milliseconds(later.rawValue - rawValue)
    }
}
