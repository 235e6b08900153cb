// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value behind a lock.
///
/// The mutable classes of CloudKit are `Sendable` on Apple's systems; ours keep
/// their state in one of these. Never call out of the module inside ``withLock(_:)``.
final class Locked<Value>: @unchecked Sendable {
    // Sendable: `value` is touched under `lock` only.
    private let lock = NSLock()
    private var value: Value

    /// Puts `value` behind a new lock.
    init(_ value: Value) {
        self.value = value
    }

    /// Calls `body` with the value while no one else can see it.
    func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// The value; setting replaces it whole.
    var current: Value {
        get { withLock { $0 } }
        set { withLock { $0 = newValue } }
    }
}
