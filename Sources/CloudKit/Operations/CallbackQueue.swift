// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// The private serial queue on which an operation calls its callbacks (OP-3).
final class CallbackQueue: Sendable {
    /// What is still to be called, in order.
    private struct State {
        var waiting: [UnsafeTransfer<() -> Void>] = []
        /// Whether the queue is about to call what waits.
        var isCalling = false
    }

    private let queue: DispatchQueue
    private let state = Locked(State())
    /// The priority of the work whose callbacks these are.
    let priority: TaskPriority

    /// Creates a queue.
    init(label: String, qos: QualityOfService) {
        queue = DispatchQueue(label: label, qos: qos.dispatchQoS)
        priority = qos.taskPriority
    }

    /// Calls `body` after everything that was enqueued before.
    ///
    /// The callbacks of apps are not `@Sendable`: they may share state, because one
    /// runs at a time. So may `body`, which the caller must not touch afterwards.
    func enqueue(_ body: @escaping () -> Void) {
        let body = UnsafeTransfer(body)
        let begins = state.withLock { state in
            state.waiting.append(body)
            defer { state.isCalling = true }
            return !state.isCalling
        }
        // Once for all that comes meanwhile: each block that is put on the queue wakes a thread.
        if begins { queue.async { self.callWaiting() } }
    }

    private func callWaiting() {
        while true {
            var waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.isCalling = !state.waiting.isEmpty
                return state.waiting
            }
            if waiting.isEmpty { return }
            // One by one, so that what a block holds goes with it.
            waiting.reverse()
            while let body = waiting.popLast() { body.value() }
        }
    }

    /// Waits until everything that was enqueued is done: a slow app slows the fetching
    /// of further pages, instead of letting callbacks pile up.
    func drained() async {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume() }
        }
    }
}

extension QualityOfService {
    fileprivate var dispatchQoS: DispatchQoS {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        case .default: .default
        @unknown default: .default
        }
    }

    fileprivate var taskPriority: TaskPriority {
        switch self {
        case .userInteractive, .userInitiated: .high
        case .utility: .utility
        case .background: .background
        case .default: .medium
        @unknown default: .medium
        }
    }
}
