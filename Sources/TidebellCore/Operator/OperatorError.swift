// SPDX-License-Identifier: Apache-2.0

/// Something the operator can put right, described in one sentence: which field of what they asked
/// for is wrong and how, or what of the machine is in the way.
package struct OperatorError: Error, Hashable, CustomStringConvertible {
    /// What of an operator's request it is about.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        case user, password, address, container, url, session, token, webhook
    }

    /// What is wrong.
    package enum Code: Sendable, Hashable {
        /// The field has a value that nothing may have.
        case invalid
        /// Something else has the value already.
        case taken
        /// There is nothing that the value names.
        case unknown
        /// The value names several.
        case ambiguous
        /// What it names is not as the operation needs it.
        case unsuitable
        /// There are as many as there may be.
        case tooMany
        /// No field: a file, the disk, the configuration.
        case circumstances
    }

    /// What is wrong.
    package let code: Code
    /// With which field; nil for circumstances.
    package let field: Field?
    /// The sentence; without its end where there is a command.
    package let reason: String
    /// A command that shows what can be named, without the data folder.
    package let command: String?

    /// Creates an error of circumstances.
    package init(_ reason: String) {
        self.init(.circumstances, nil, reason, see: nil)
    }

    /// Creates an error of a field.
    ///
    /// - Parameter command: A command that shows what can be named; the sentence then has no
    ///   end of its own.
    package init(_ code: Code, _ field: Field, _ reason: String, see command: String? = nil) {
        self.init(code, .some(field), reason, see: command)
    }

    private init(_ code: Code, _ field: Field?, _ reason: String, see command: String?) {
        self.code = code
        self.field = field
        self.reason = reason
        self.command = command
    }

    /// The sentence, with the command.
    package var description: String {
        command.map { "\(reason); see: \($0)" } ?? reason
    }

    /// Returns the same error with an option added to its command, so that it means the same
    /// cloud.
    package func adding(option: String) -> OperatorError {
        OperatorError(code, field, reason, see: command.map { $0 + option })
    }
}
