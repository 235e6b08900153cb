// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Holds a synchronous body where it stands until a test lets it go on.
package final class BlockingGate: Sendable {
    private let isOpen = DispatchSemaphore(value: 0)
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    /// Creates a gate that is shut.
    package init() {}

    /// Signals to the test that the body has come this far.
    package func reached() {
        arrivals.continuation.yield()
    }

    /// Blocks the body.
    package func waitUntilOpen() {
        isOpen.wait()
    }

    /// Waits for ``reached()``.
    package func untilReached() async {
        for await _ in arrivals.stream { return }
    }

    /// Lets the body go on.
    package func open() {
        isOpen.signal()
    }
}

/// Runs a task apart from the threads all others share.
final class SeparateThread: TaskExecutor {
    private let queue = DispatchQueue(label: "separate")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
