// SPDX-License-Identifier: Apache-2.0

/// Why a test cannot go on.
public enum TestCloudError: Error, Sendable, CustomStringConvertible {
    /// What the test waits for did not happen within the safety limit.
    case timedOut(String, after: Duration)
    /// Pushes arrived that the test did not expect.
    case unexpectedPushes(String)
    /// A test ended, and this nobody looked at.
    case leftOver([String])
    /// The cloud was used in a way it does not support.
    case misuse(String)

    /// The reason as a sentence.
    public var description: String {
        switch self {
        case .timedOut(let what, let limit):
            "Nothing happened for \(limit.components.seconds) seconds of real time: \(what)"
        case .unexpectedPushes(let list): "Pushes nobody expected: \(list)"
        case .leftOver(let list):
            "Left over at the end of the test: \(list.joined(separator: "; "))"
        case .misuse(let reason): reason
        }
    }
}
