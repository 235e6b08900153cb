// SPDX-License-Identifier: Apache-2.0

/// Something the operator can put right, described in one sentence: which field of what they asked
/// for is wrong and how, or what of the machine is in the way.
///
/// How an operation is asked for is left to whoever passes the error on: a command line and an API
/// have names of their own for a ``Remedy``.
package struct OperatorError: Error, Hashable, CustomStringConvertible {
    /// What of an operator's request it is about.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        case user, password, address, container, url, session, token, webhook, key, schema
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

    /// An operation that helps.
    package enum Remedy: Sendable, Hashable {
        /// ``ListWebhooks`` returns what can be named.
        case listWebhooks
        /// ``ListSessions`` of the user returns what can be named.
        case listSessions(user: String)
        /// ``ListServerKeys`` returns what can be named.
        case listServerKeys
        /// ``ListRemovedUsers`` returns what can be named.
        case listRemovedUsers
        /// ``DiffSchema`` of the container shows what differs.
        case showSchemaDifferences(container: String)
        /// ``RemoveUser`` comes before, and can erase the data too.
        case remove(user: String)
    }

    /// What is wrong.
    package let code: Code
    /// With which field; nil for circumstances.
    package let field: Field?
    /// The sentence.
    package let description: String
    /// The operation that helps; nil where the sentence is enough.
    package let remedy: Remedy?

    /// Creates an error of circumstances.
    package init(_ sentence: String) {
        self.init(.circumstances, nil, sentence, nil)
    }

    /// Creates an error of a field.
    ///
    /// - Parameter remedy: The operation that helps.
    package init(_ code: Code, _ field: Field, _ sentence: String, remedy: Remedy? = nil) {
        self.init(code, .some(field), sentence, remedy)
    }

    private init(_ code: Code, _ field: Field?, _ sentence: String, _ remedy: Remedy?) {
        self.code = code
        self.field = field
        description = sentence
        self.remedy = remedy
    }
}
