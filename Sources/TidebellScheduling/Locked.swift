// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// A value behind a lock.
///
/// The mutable classes of CloudKit are `Sendable` on Apple's systems; ours keep
/// their state in one of these. Never call out of the module inside ``withLock(_:)``.
///
/// The client and what it shares with the server take this instead of `Mutex` of
/// `Synchronization`: on Linux the kernel hands a contended `Mutex` over, which the thread
/// sanitizer does not see, so that tests under it (`Scripts/test-threads`) would prove
/// nothing. The server's own code takes `Mutex`.
package final class Locked<Value>: @unchecked Sendable {
    // Sendable: `value` is touched under `mutex` only.
    // NB: Foundation's lock on Linux has two mutexes and a condition, each with memory of its own, and every
    // record and every asset of an app has one of these.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline var value: Value

    /// Puts `value` behind a new lock.
    package init(_ value: Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        let failure = pthread_mutex_init(mutex, nil)
        precondition(failure == 0, "A lock could not be made.")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls `body` with the value while no one else can see it.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// The value; setting replaces it whole.
    @inlinable package var current: Value {
        get { withLock { $0 } }
        set { withLock { $0 = newValue } }
    }
}
