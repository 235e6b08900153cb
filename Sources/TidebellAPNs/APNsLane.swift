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
    /// Of the targets in the backlog that came from the queue.
    private let leases = Mutex<[PushTargetKey: DeliveryLease]>([:])
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
    /// room for; the others when there is room again, or at the next poll.
    func claim() async throws {
        while !isStopped {
            let now = surroundings.now()
            let room = backlog.withLock { $0.room(at: now) }
            leftSome.store(room == 0, ordering: .relaxed)
            guard room > 0 else { return }
            let limit = min(room, configuration.rowsPerLook)
            let claimed = try await surroundings.store.claimDeliveries(
                LeaseClaim(
                    holder: LeaseHolder(rawValue: surroundings.makeUUID()),
                    now: now, vestingAt: now.advanced(by: configuration.leaseDuration),
                    limit: limit
                ),
                in: .pushTargets(container)
            )
            for lease in claimed.leases {
                guard case .pushTarget(let key, _) = lease.key else { continue }
                leases.withLock { $0[key] = lease }
                backlog.withLock { $0.found(key) }
            }
            if !claimed.leases.isEmpty { wake.raise() }
            guard claimed.leases.count == limit else { return }
        }
    }

    /// Gives back what is still claimed.
    func giveBack() async {
        let held = leases.withLock { leases in
            defer { leases = [:] }
            return Array(leases.values)
        }
        // A lease that cannot be given back vests.
        try? await surroundings.store.returnDeliveries(
            held.map { ReturnedLease($0, .untouched) }
        )
    }

    /// Whether nothing can be done at this moment, and nothing waits to be claimed.
    func isSettled() async throws -> Bool {
        // A target more than the lane holds at most is one that can be claimed.
        let (container, limit) = (container, configuration.heldTargets + 1)
        let queue = try await surroundings.store.read {
            try $0.queuedDeliveries(in: .pushTargets(container), limit: limit)
        }
        return backlog.withLock { backlog in
            let now = surroundings.now()
            guard backlog.isIdle(at: now) else { return false }
            // Nothing is claimed during a pause.
            if backlog.isPaused(at: now) { return true }
            return queue.allSatisfy { pointer in
                guard case .pushTarget(let key, _) = pointer else { return true }
                return backlog.holds(key)
            }
        }
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
                await look()
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
        let (deadline, isIdle, looksOn) = backlog.withLock {
            ($0.deadline, $0.isIdle(at: now), $0.lookNeeded(at: now) != nil)
        }
        if looksOn { return }
        if isIdle { surroundings.onIdle() }
        await wake.wait(
            atMost: deadline.map { max(.milliseconds(1), now.duration(to: $0)) },
            on: surroundings.clock
        )
    }

    /// Reads the store for targets that nobody named.
    private func look() async {
        guard let look = backlog.withLock({ $0.lookNeeded(at: surroundings.now()) }) else { return }
        let (container, limit) = (container, configuration.rowsPerLook)
        do {
            let (targets, next) = try await surroundings.store.read {
                try $0.pendingPushTargets(in: container, after: look.after, limit: limit)
            }
            backlog.withLock { $0.looked(targets, next: next) }
        } catch {
            guard !Task.isCancelled else { return }
            brokeDown(error)
        }
    }

    private func takeTurn(_ key: PushTargetKey) async {
        let newsBefore = news.load(ordering: .relaxed)
        let outcome = await deliver(to: key)
        let (restEnd, isInBacklog, room) = backlog.withLock { backlog in
            let now = surroundings.now()
            let end = backlog.finished(key, outcome, at: now, jitter: surroundings.jitter())
            return (end, backlog.holds(key), backlog.room(at: now))
        }
        let isOver = restEnd != nil || !isInBacklog
        if isOver, let lease = leases.withLock({ $0.removeValue(forKey: key) }) {
            let end = restEnd.map { LeaseOutcome.failed(vestingAt: $0) }
            try? await surroundings.store.returnDeliveries([
                ReturnedLease(lease, end ?? .done)
            ])
            // What came for it meanwhile may have been passed over by a claim.
            if news.load(ordering: .relaxed) != newsBefore { claimAgain.raise() }
        }
        let isRoomy = room > configuration.waitingTargets / 2
        if isRoomy, leftSome.exchange(false, ordering: .relaxed) { claimAgain.raise() }
        wake.raise()
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
            if notifications.isEmpty { cursors.note(key, at: target.delivered) }
            var outcome: APNsBacklog.Outcome = notifications.count < limit ? .done : .more
            for notification in notifications {
                if isStopped { break }
                if let end = try await notify(target, of: notification) {
                    outcome = end
                    break
                }
                cursors.note(key, at: notification.sequence)
            }
            try await cursors.flush()
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
                "Apple's push service does not take pushes; they wait and are tried again", answer)
        }
    }

    /// Something of ours failed: the store, or signing.
    private func brokeDown(_ error: any Error) {
        pause(atMost: configuration.longestWait)
        reportOnce("breakdown") {
            surroundings.logger.warning(
                "pushes to Apple's push service are held up; they wait and are tried again",
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
    fileprivate func duration(to later: Instant) -> Duration {
        .milliseconds(later.rawValue - rawValue)
    }
}
