// SPDX-License-Identifier: Apache-2.0

/// A promise that the cloud broke.
package struct Violation: Error, Hashable, CustomStringConvertible {
    /// Which, where.
    package let description: String
    /// Where in the simulation it was looked for: what is found there in two walks is one promise.
    let check: String

    init(_ description: String, file: String = #fileID, line: Int = #line) {
        self.description = description
        check = "\(file):\(line)"
    }

    /// The same, with when it was found.
    init(_ moment: String, _ error: any Error) {
        description = "\(moment): \(error)"
        check = (error as? Violation)?.check ?? "\(type(of: error))"
    }
}

/// Fails unless the condition holds.
func demand(
    _ condition: Bool, _ promise: @autoclosure () -> String, file: String = #fileID,
    line: Int = #line
) throws {
    guard condition else { throw Violation(promise(), file: file, line: line) }
}
