// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The working half of a ``CKSyncEngine``; lives as long as the engine, those that
/// replaced it, or a sync it is in the middle of.
///
/// Two locks order everything. One lets a single attempt to sync run at a time; the other
/// lets a single call of the delegate run at a time, and what the engine changes in its
/// state around an event, it changes inside. So no state update can come between an event
/// and the change that belongs to it: whoever keeps what they are handed, in order, has a
/// state that fits (SYNC-4, SYNC-10).
final class SyncEngineCore: Sendable {
    typealias StateChange = (inout SyncState) -> Void

    /// What exists only while the process runs.
    private struct Running {
        /// The engines it works for; the newest one, last, is what the delegate sees.
        var engines: [WeakSyncEngine] = []
        weak var delegate: (any CKSyncEngineDelegate)?
        /// Attempts to sync that have not ended, by number.
        var attempts: [UInt64: Task<Result<Void, CKError>, Never>] = [:]
        var lastAttempt: UInt64 = 0
        /// Whether a state update is on its way.
        var isFlushComing = false
        /// The task in which the delegate is being called.
        var delegateTask: Int?
        /// Whether the server was asked who is signed in.
        var isAccountKnown = false
        /// Whom the state is of.
        var account: AccountPin?
    }

    let database: CKDatabase
    let state: CKSyncEngine.State
    /// What distinguishes the delegate from all others, also when it is gone.
    let delegateID: ObjectIdentifier
    let automaticallySync: Bool
    /// The subscription the app wants to be used.
    let wantedSubscriptionID: CKSubscription.ID?
    /// What the engine does by itself.
    let schedule = Locked(SyncSchedule())
    /// The time since the engine was made, for the schedule.
    let elapsed: @Sendable () -> Duration
    /// Raised whenever there may be something to do.
    let wake = WakeSignal()
    /// Raised when somebody may have signed in.
    let accountWake = WakeSignal()
    /// What runs beside all attempts.
    let background = Locked(SyncBackground())

    private let attempts = FairLock()
    private let calls = FairLock()
    private let running = Locked(Running())

    /// Creates the working half of an engine.
    init(_ configuration: CKSyncEngine.Configuration) {
        database = configuration.database
        state = CKSyncEngine.State(configuration.stateSerialization)
        delegateID = ObjectIdentifier(configuration.delegate)
        elapsed = Time.stopwatch(on: configuration.database.connection.container.session.clock)
        automaticallySync = configuration.automaticallySync
        wantedSubscriptionID = configuration.subscriptionID
        running.withLock { $0.delegate = configuration.delegate }
    }

    /// Whether an engine of this configuration replaces the present one.
    func goesOn(with configuration: CKSyncEngine.Configuration) -> Bool {
        running.withLock { $0.delegate } === configuration.delegate
            && database.isInterchangeable(with: configuration.database)
            && automaticallySync == configuration.automaticallySync
            && wantedSubscriptionID == configuration.subscriptionID
            && state.mayBeKept(configuration.stateSerialization)
    }

    /// Begins to work for an engine.
    func begin(for engine: CKSyncEngine) {
        let isFirst = running.withLock { running in
            running.engines.append(WeakSyncEngine(engine))
            return running.engines.count == 1
        }
        guard isFirst else { return }
        state.setListener(self)
        observeAccount()
        if automaticallySync { beginSchedule() }
    }

    /// Ends the work for an engine that is let go, and everything with the last one.
    func end(for engine: ObjectIdentifier) {
        let (isLast, tasks) = running.withLock { running in
            running.engines.removeAll { $0.id == engine }
            return (running.engines.isEmpty, Array(running.attempts.values))
        }
        guard isLast else { return }
        for task in tasks { task.cancel() }
        background.withLock { $0.end() }
    }

    /// The container as the device reaches it.
    var container: ContainerConnection { database.connection.container }

    /// Whether the server was asked who is signed in, since the last sign that it changed.
    var isAccountKnown: Bool {
        get { running.withLock { $0.isAccountKnown } }
        set { running.withLock { $0.isAccountKnown = newValue } }
    }

    /// Whom the state is of, since the account is known; what is sent for them is not
    /// sent for another.
    var account: AccountPin? {
        get { running.withLock { $0.account } }
        set { running.withLock { $0.account = newValue } }
    }

    // MARK: - The delegate

    /// Hands the delegate an event, and then the state if it changed.
    ///
    /// - Parameters:
    ///   - before: Changes the state at once before.
    ///   - after: Changes the state once the delegate has handled the event.
    func report(
        _ event: CKSyncEngine.Event,
        before: StateChange? = nil,
        after: StateChange? = nil
    ) async {
        await calls.withLock {
            if let before { state.update(before) }
            await call { await $0.handleEvent(event, syncEngine: $1) }
            if let after { state.update(after) }
            await reportState()
        }
    }

    /// Changes the state, and hands it to the delegate.
    func change(_ body: StateChange) async {
        await calls.withLock {
            state.update(body)
            await reportState()
        }
    }

    /// Asks the delegate for something; nil when it, or the engine, is gone.
    func ask<Answer: Sendable>(
        _ body: (any CKSyncEngineDelegate, CKSyncEngine) async -> Answer
    ) async -> Answer? {
        await calls.withLock {
            let answer = await call(body)
            await reportState()
            return answer
        }
    }

    /// Hands the delegate the newest state unless it has it.
    func flushState() async {
        checkOutsideDelegate("flushState()")
        await calls.withLock { await reportState() }
    }

    private func reportState() async {
        guard let serialization = state.takeUpdate() else { return }
        let update = CKSyncEngine.Event.StateUpdate(stateSerialization: serialization)
        await call { await $0.handleEvent(.stateUpdate(update), syncEngine: $1) }
        state.noteTaken()
    }

    /// Calls the delegate; only under the lock of calls.
    @discardableResult
    private func call<Answer: Sendable>(
        _ body: (any CKSyncEngineDelegate, CKSyncEngine) async -> Answer
    ) async -> Answer? {
        let (delegate, engines) = running.withLock { ($0.delegate, $0.engines.map(\.engine)) }
        guard let delegate, let engine = engines.last(where: { $0 != nil }) ?? nil else {
            return nil
        }
        running.withLock { $0.delegateTask = Self.currentTask }
        defer { running.withLock { $0.delegateTask = nil } }
        return await body(delegate, engine)
    }

    /// What distinguishes the current task from all others that exist now.
    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private var isInsideDelegate: Bool {
        guard let current = Self.currentTask else { return false }
        return running.withLock { $0.delegateTask } == current
    }

    private func checkOutsideDelegate(_ method: StaticString) {
        precondition(
            !isInsideDelegate,
            "\(method) must not be called from a method of the sync engine's delegate: it "
                + "waits for events that only come when that method has returned (SYNC-10)."
        )
    }

    // MARK: - Attempts

    /// Runs an attempt to sync after those before it; cancelled with the task that waits.
    func attempt(
        _ method: StaticString,
        _ body: @escaping @Sendable () async throws(CKError) -> Void
    ) async throws(CKError) {
        checkOutsideDelegate(method)
        let number = running.withLock { running in
            running.lastAttempt += 1
            return running.lastAttempt
        }
        // A task of its own, which `cancelOperations()` can cancel without its caller.
        let task = Task { await self.perform(body) }
        running.withLock { $0.attempts[number] = task }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        running.withLock { $0.attempts[number] = nil }
        if case .failure(let error) = result, error.code == .notAuthenticated {
            isAccountKnown = false
        }
        try result.get()
    }

    private func perform(
        _ body: @Sendable () async throws(CKError) -> Void
    ) async -> Result<Void, CKError> {
        await attempts.withLock {
            guard !Task.isCancelled else { return .failure(.cancelled()) }
            do throws(CKError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
    }

    /// Cancels all attempts, and waits until they have ended.
    func cancelAttempts() async {
        schedule.withLock { $0.cancel() }
        wake.raise()
        let tasks = running.withLock { Array($0.attempts.values) }
        for task in tasks { task.cancel() }
        guard !isInsideDelegate else { return }
        for task in tasks { _ = await task.value }
    }
}

extension SyncEngineCore: SyncStateListener {
    func stateChanged(isNews: Bool, wantsSend: Bool) {
        if wantsSend { want(.send) }
        guard isNews else { return }
        let isFirst = running.withLock { running in
            defer { running.isFlushComing = true }
            return !running.isFlushComing
        }
        guard isFirst else { return }
        // The app does not wait for the event; what it adds meanwhile goes with it.
        Task { [weak self] in
            guard let self else { return }
            await calls.withLock {
                running.withLock { $0.isFlushComing = false }
                await reportState()
            }
        }
    }
}
