// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value behind a lock.
///
/// The mutable classes of CloudKit are `Sendable` on Apple's systems; ours keep
/// their state in one of these. Never call out of the module inside ``withLock(_:)``.
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
