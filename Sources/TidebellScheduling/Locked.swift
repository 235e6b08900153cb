// SPDX-License-Identifier: Apache-2.0
import Foundation

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
    // Sendable: `value` is touched under `lock` only.
    private let lock = NSLock()
    private var value: Value

    /// Puts `value` behind a new lock.
    package init(_ value: Value) {
        self.value = value
    }

    /// Calls `body` with the value while no one else can see it.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// The value; setting replaces it whole.
    package var current: Value {
        get { withLock { $0 } }
        set { withLock { $0 = newValue } }
    }
}
