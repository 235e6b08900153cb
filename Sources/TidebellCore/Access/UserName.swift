// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// The one rule for the names of users, where they are added and where they sign in.
package enum UserName {
    /// The most Unicode scalars of a name.
    package static let length = 64

    /// The most bytes of a name as somebody types it, in whatever form.
    package static let mostBytes = 1024

    /// Returns a name as it is stored and compared, in NFC, so that it does not matter how
    /// a keyboard writes its letters; nil for one that no user can have.
    package static func canonical(_ name: String) -> String? {
        // A caller may send anything.
        guard name.utf8.count <= mostBytes else { return nil }
        let name = composed(name)
        return (1...length).contains(name.unicodeScalars.count) ? name : nil
    }

    /// A text in NFC.
    static func composed(_ text: String) -> String { text.precomposedStringWithCanonicalMapping }

    /// Whether a new user may have the name, which is canonical.
    package static func isAllowed(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "._-@+".unicodeScalars.contains($0)
        }
    }
}

extension AccountReading {
    /// Returns the account that a person means by a name.
    ///
    /// Names from before there was one rule are stored as they were typed.
    package func account(calledBy name: String) throws -> AccountID? {
        try signIn(calledBy: name)?.account
    }

    /// Returns how the account signs in that a person means by a name.
    package func signIn(calledBy name: String) throws -> StoredSignIn? {
        if let canonical = UserName.canonical(name), let known = try signIn(named: canonical) {
            return known
        }
        return try signIn(named: name)
    }
}
