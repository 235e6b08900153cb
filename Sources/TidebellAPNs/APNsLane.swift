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
    private let wake = WakeSignal()
    private let stopped = Atomic(false)

    init(
        container: ContainerKey, app: APNsConfiguration.App, gateway: APNsGateway,
        configuration: APNsConfiguration, surroundings: APNsSurroundings,
        sender: any APNsSender, tokens: ProviderTokens, cursors: APNsCursors
    ) {
        self.container = container
        self.app = app
        self.gateway = gateway
        self.configuration = configuration
        self.surroundings = surroundings
        self.sender = sender
        self.tokens = tokens
        self.cursors = cursors
        backlog = Mutex(APNsBacklog(configuration))
    }

    /// Notes that targets have something pending.
    func found(_ keys: [PushTargetKey]) {
        backlog.withLock { backlog in
            for key in keys { backlog.found(key) }
        }
        wake.raise()
    }

    /// Lets what is under way end and begins nothing more.
    func stop() {
        stopped.store(true, ordering: .relaxed)
        wake.raise()
    }

    /// Whether nothing can be done at this moment.
    var isIdle: Bool { backlog.withLock { $0.isIdle(at: surroundings.now()) } }

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
        let outcome = await deliver(to: key)
        backlog.withLock {
            $0.finished(key, outcome, at: surroundings.now(), jitter: surroundings.jitter())
        }
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
            guard let (target, notifications) = page else { return .gone }
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
