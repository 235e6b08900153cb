// SPDX-License-Identifier: Apache-2.0

/// Why a text is no predicate format.
struct PredicateFormatError: Error, Hashable, CustomStringConvertible {
    /// The text.
    let format: String
    /// Where it stops making sense, in characters from its beginning.
    let position: Int
    /// What was expected there.
    let reason: String

    /// The whole sentence, which begins as that of Apple's exception does.
    var description: String {
        "Unable to parse the format string \"\(format)\": \(reason) at character \(position)."
    }
}
