// SPDX-License-Identifier: Apache-2.0

/// An error of the test kit.
public enum TestCloudError: Error, Sendable, CustomStringConvertible {
    /// What the test waited for did not happen within the safety limit.
    case timedOut(String, after: Duration)
    /// Pushes arrived that the test did not expect.
    case unexpectedPushes(String)
    /// A test ended, and these things were left over.
    case leftOver([String])
    /// Production would refuse what the test used in development: what its schema lacks.
    case schemaLacks([String])
    /// The cloud was used in a way it does not support.
    case misuse(String)

    /// The error message.
    public var description: String {
        switch self {
        case .timedOut(let what, let limit):
            "Nothing happened for \(limit.components.seconds) seconds of real time: \(what)"
        case .unexpectedPushes(let list): "Unexpected pushes: \(list)"
        case .leftOver(let list):
            "Left over at the end of the test: \(list.joined(separator: "; "))"
        case .schemaLacks(let missing):
            "The schema lacks what was used: \(missing.joined(separator: "; "))"
        case .misuse(let reason): reason
        }
    }
}
