// SPDX-License-Identifier: Apache-2.0

/// A promise that the cloud broke.
package struct Violation: Error, Hashable, CustomStringConvertible {
    /// Which, where.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Fails unless the condition holds.
func demand(_ condition: Bool, _ promise: @autoclosure () -> String) throws {
    guard condition else { throw Violation(promise()) }
}
