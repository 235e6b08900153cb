// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The one rule for passwords, where they are set and where they are tried.
package enum PasswordRule {
    /// The fewest characters of a new password.
    package static let fewestCharacters = 8
    /// The most bytes of one, in NFC; a character can have any number of them.
    package static let mostBytes = 1024
    /// The most bytes of one as it was typed: of a text, other forms have at most three times
    /// as many (UAX #15).
    private static let mostTypedBytes = 3 * mostBytes

    /// Returns a password as it is hashed, in NFC: keyboards differ in how they write the same
    /// letters.
    package static func canonical(_ password: String) -> String {
        password.precomposedStringWithCanonicalMapping
    }

    /// Whether a password is short enough to be tried, however its letters are written.
    package static func mayBeTried(_ password: String) -> Bool {
        password.utf8.count <= mostTypedBytes && canonical(password).utf8.count <= mostBytes
    }

    /// Fails unless a user may have the password from now on.
    package static func check(_ password: String) throws(OperatorError) {
        guard mayBeTried(password), password.count >= fewestCharacters else {
            throw OperatorError(
                .invalid, .password,
                "A password has \(fewestCharacters) characters or more, and at most "
                    + "\(mostBytes) bytes."
            )
        }
    }
}
