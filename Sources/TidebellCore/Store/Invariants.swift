// SPDX-License-Identifier: Apache-2.0

/// Stops a debug build where our own code broke what it keeps: positions that ascend, a cursor
/// that stays within its log, a pass that touches only what it holds, budgets that balance.
///
/// Costs nothing in a release, so nothing may depend on it. Whatever a caller, a file or a
/// damaged store can bring about is an error, and never stands here.
///
/// - Parameter rule: What holds, as a sentence.
package func invariant(
    _ holds: @autoclosure () throws -> Bool, _ rule: @autoclosure () -> String,
    file: StaticString = #fileID, line: UInt = #line
) rethrows {
    #if DEBUG
        guard try holds() else {
            preconditionFailure("this no longer holds: \(rule())", file: file, line: line)
        }
    #endif
}

extension Sequence where Element: Comparable {
    /// Whether each element is above the one before it.
    package var ascends: Bool { zip(self, dropFirst()).allSatisfy(<) }
}
