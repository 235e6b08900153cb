// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// Runs what it is given on a thread of its own, one after the other.
///
/// For work that waits: of the threads that dispatch queues share there are some 250, and where all of them wait for work
/// that has no thread, nothing goes on. The thread ends when there was nothing to do for a while.
package final class SerialThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var hasThread = false
    }

    /// Seconds that a thread without work stays: a new one takes some 50 µs.
    private static let rest = 10

    private let name: String
    private let state = Mutex(State())
    /// Signalled once for each body that waits.
    private let arrivals = DispatchSemaphore(value: 0)

    /// Creates one without a thread.
    ///
    /// - Parameter name: What the thread is called.
    package init(_ name: String) { self.name = name }

    /// Runs a body after those that it was given before.
    package func async(_ body: @escaping @Sendable () -> Void) {
        let startsThread = state.withLock { state in
            state.waiting.append(body)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        arrivals.signal()
        guard startsThread else { return }
        let thread = Thread { [self] in
            while let body = next() { body() }
        }
        thread.name = name
        thread.start()
    }

    /// What is to be run next; nil, and there is no thread any more, where nothing came for a while.
    private func next() -> (@Sendable () -> Void)? {
        while arrivals.wait(timeout: .now() + .seconds(Self.rest)) == .timedOut {
            let ends = state.withLock { state in
                if state.waiting.isEmpty { state.hasThread = false }
                return !state.hasThread
            }
            if ends { return nil }
        }
        return state.withLock { $0.waiting.removeFirst() }
    }
}
