// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// What every operation on a container or a database has in common.
///
/// It is an `Operation`: add it to a database, a container or your own queue, or start it yourself.
/// Dependencies, cancellation and `completionBlock` work as with every operation. Callbacks are
/// called one at a time on a serial queue of the operation: first those for items, then the one
/// with the result, then `completionBlock` (OP-3).
///
/// An operation runs once. Properties that are set after it started have no effect (OP-4).
/// See <https://developer.apple.com/documentation/cloudkit/ckoperation>.
open class CKOperation: Operation, @unchecked Sendable {
    // Sendable: as with every operation, one thread sets the properties before it starts;
    // `start()` takes what it needs of them, and what changes later is behind a lock.

    /// A string that distinguishes an operation from all others.
    public typealias ID = String

    private let execution = Locked(Execution())
    private var explicitConfiguration = CKOperation.Configuration()

    /// The device the operation was made on, for an operation without a database.
    let device: DeviceSession = .current ?? .process

    /// Whom the operation is for; nil takes whoever is signed in when it starts.
    var account = AccountPin.current

    /// The container the operation was added to; nil for none.
    var addedTo: ContainerConnection?

    /// How an operation without a database reaches its container (OP-1).
    var containerConnection: ContainerConnection {
        effectiveConfiguration.container?.connection ?? addedTo
            ?? device.makeDefaultContainer().connection
    }

    /// The device the operation runs on.
    var session: DeviceSession { containerConnection.session }

    /// Creates an operation.
    public override init() {
        operationID = NewIdentifier.make()
        super.init()
    }

    /// The ID of the operation; the server logs it (OP-10).
    public internal(set) var operationID: CKOperation.ID

    /// How the operation runs; properties that are not set come from the group's default (OP-2).
    ///
    /// Never nil; setting nil resets it.
    open var configuration: CKOperation.Configuration! {
        get { explicitConfiguration }
        set { explicitConfiguration = newValue?.copied() ?? CKOperation.Configuration() }
    }

    /// How important the work is to the user, as set in ``configuration``.
    open override var qualityOfService: QualityOfService {
        get { explicitConfiguration.qualityOfService }
        set { explicitConfiguration.qualityOfService = newValue }
    }

    /// The group the operation belongs to; nil for none.
    open var group: CKOperationGroup?

    /// Called when a long-lived operation is stored on this device: from now on it survives the end
    /// of the process (OP-9).
    ///
    /// Not called for an operation that cannot be stored: of a kind that is never stored, on a
    /// device without a state folder, or beyond 200 operations or 64 MB.
    open var longLivedOperationWasPersistedBlock: (() -> Void)?

    /// Returns the work, which keeps to the operation's present properties (OP-4).
    ///
    /// Concrete operations override it. The work's result is the last callback.
    func plan() -> OperationPlan { { _ in .none } }

    /// Returns what of the operation is kept beyond the process; nil for kinds that cannot
    /// be long-lived.
    func longLivedOperation() -> LongLivedDraft? { nil }

    /// The journal of an operation that was begun before; nil for a new one.
    var journal: RequestJournal?

    // MARK: - Operation

    /// True: `start()` returns before the operation is finished.
    open override var isAsynchronous: Bool { true }

    /// Whether the operation is running.
    open override var isExecuting: Bool { execution.withLock { $0.phase == .running } }

    /// Whether the operation has called its last callback.
    open override var isFinished: Bool { execution.withLock { $0.phase == .finished } }

    /// Starts the operation; a second call does nothing (OP-4).
    ///
    /// An operation that was cancelled before it started reports this in its callbacks and
    /// finishes.
    open override func start() {
        let isFirst = execution.withLock { execution in
            defer { execution.wasStarted = true }
            return !execution.wasStarted
        }
        guard isFirst else { return }
        change(to: .running)
        if isCancelled { beginWork() } else { main() }
        // A subclass that did its own work in main() is done with it.
        if !execution.withLock({ $0.hasBegun }) { change(to: .finished) }
    }

    /// Does the work of the operation; `start()` calls it, unless the operation was
    /// cancelled before.
    ///
    /// A subclass may override it to set properties before it calls `super.main()`, which returns
    /// at once. Without that call, the operation is finished when the method of the subclass
    /// returns.
    open override func main() { beginWork() }

    /// Begins the work, which keeps to the operation's present properties; once.
    private func beginWork() {
        let isFirst = execution.withLock { execution in
            guard !execution.hasBegun, execution.phase == .running else { return false }
            execution.hasBegun = true
            return true
        }
        guard isFirst else { return }
        let settings = effectiveConfiguration
        let run = OperationRun(
            callbacks: CallbackQueue(label: "\(type(of: self))", qos: settings.qualityOfService),
            options: requestOptions(settings)
        )
        let plan = plan()
        var draft: LongLivedDraft?
        if settings.isLongLived, journal == nil, !isCancelled {
            draft = longLivedOperation()
        }
        begin(plan, run, keeping: draft)
    }

    /// Cancels the operation: items that are not done yet fail with `operationCancelled`.
    ///
    /// Callbacks that are already scheduled are still called (OP-8).
    open override func cancel() {
        super.cancel()
        execution.withLock { $0.task }?.cancel()
    }

    /// Keeps the operation if it is long-lived, and carries it out.
    private func begin(
        _ plan: @escaping OperationPlan, _ run: OperationRun, keeping draft: LongLivedDraft?
    ) {
        let known = journal
        // Transferred: called on the operation's callback queue only.
        let persisted = UnsafeTransfer(longLivedOperationWasPersistedBlock)
        // The bridge from operations, which outlive the call that starts them, to
        // structured concurrency: nowhere else does an operation start a task.
        let task = Task(priority: run.callbacks.priority) {
            guard let journal = known ?? draft?.keep() else {
                return await self.carryOut(plan, run)
            }
            var longLived = run
            longLived.options.journal = journal
            if let block = persisted.value { run.callbacks.enqueue(block) }
            let kept = longLived
            // An operation this process works on already is waited for, and replayed.
            await journal.running.withLock { await self.carryOut(plan, kept) }
        }
        execution.withLock { execution in
            if execution.phase != .finished { execution.task = task }
        }
        if isCancelled { task.cancel() }
    }

    /// Runs the plan, then the last callback, then finishes.
    private func carryOut(_ plan: OperationPlan, _ run: OperationRun) async {
        let last = await plan(run)
        let journal = run.options.journal
        journal?.isAnswered()
        await withCheckedContinuation { continuation in
            run.callbacks.enqueue {
                last.call()
                journal?.finish()
                self.change(to: .finished)
                continuation.resume()
            }
        }
    }

    private func change(to phase: Execution.Phase) {
        let keys = phase == .running ? ["isExecuting"] : ["isExecuting", "isFinished"]
        keys.forEach(willChangeValue(forKey:))
        execution.withLock { execution in
            execution.phase = phase
            if phase == .finished { execution.task = nil }
        }
        keys.forEach(didChangeValue(forKey:))
    }

    private struct Execution {
        enum Phase { case ready, running, finished }

        var phase = Phase.ready
        var wasStarted = false
        var hasBegun = false
        var task: Task<Void, Never>?
    }
}

/// The work of an operation that was started.
typealias OperationPlan = @Sendable (OperationRun) async -> LastCallback

/// What an operation that was started works with.
struct OperationRun: Sendable {
    /// Where its callbacks are called.
    let callbacks: CallbackQueue
    /// How its requests are sent.
    var options: RequestOptions
}

/// The callback with an operation's result: called once, after every other one (OP-3).
struct LastCallback: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.
    let call: () -> Void

    /// No callback, of an operation that has no result.
    static let none = LastCallback {}

    init(_ call: @escaping () -> Void) {
        self.call = call
    }
}

/// A value that is handed over from one task to another, and used by one at a time.
struct UnsafeTransfer<Value>: @unchecked Sendable {
    // Sendable: whoever makes one documents why.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
