// SPDX-License-Identifier: Apache-2.0

/// Why bytes could not be read as the value that was asked for, and where.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, as a phrase ("expected a string, found a number").
    package let problem: String
    /// The way from the root to the culprit: member names and `[index]`es.
    package private(set) var path: [String]

    /// Creates an error at the current position.
    package init(_ problem: String, path: [String] = []) {
        self.problem = problem
        self.path = path
    }

    /// Returns the same error, one level further out.
    func inside(_ step: String) -> JSONError {
        JSONError(problem, path: [step] + path)
    }

    /// The culprit and the problem in one sentence part.
    package var description: String {
        path.isEmpty ? problem : "\(pathText): \(problem)"
    }

    /// The path as text, such as `operations[0].record.fields`; empty at the root.
    package var pathText: String {
        path.reduce(into: "") { text, step in
            text += step.hasPrefix("[") || text.isEmpty ? step : ".\(step)"
        }
    }
}
