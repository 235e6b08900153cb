// SPDX-License-Identifier: Apache-2.0
package import Crypto

/// The key that Apple gives a development team to sign its provider tokens with
/// ("Establishing a token-based connection to APNs").
package struct ProviderCredentials: Sendable {
    /// The ten characters that Apple names keys and teams with.
    package static let idLength = 10

    /// The ID of the key.
    package var keyID: String
    /// The ID of the team the key belongs to.
    package var teamID: String
    let key: P256.Signing.PrivateKey

    /// Creates credentials from a key in memory.
    package init(keyID: String, teamID: String, key: P256.Signing.PrivateKey) {
        self.keyID = keyID
        self.teamID = teamID
        self.key = key
    }

    /// Creates credentials from the text of a `.p8` file; fails with a
    /// ``BadCredentials`` that describes what is wrong with it.
    package init(keyID: String, teamID: String, keyFile text: String) throws(BadCredentials) {
        for (id, what) in [(keyID, "key"), (teamID, "team")] {
            guard id.utf8.count == Self.idLength, id.utf8.allSatisfy(Self.isIDCharacter) else {
                throw BadCredentials(
                    reason: "the \(what) ID '\(id)' must be \(Self.idLength) letters and digits"
                )
            }
        }
        guard text.contains("-----BEGIN") else {
            throw BadCredentials(
                reason: "the key file has no '-----BEGIN PRIVATE KEY-----'; it must be the .p8 "
                    + "file that Apple's developer account gives out"
            )
        }
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: text)
        } catch {
            throw BadCredentials(
                reason: "the key file does not hold a P-256 private key, which keys for Apple's "
                    + "push service are"
            )
        }
        self.keyID = keyID
        self.teamID = teamID
    }

    private static func isIDCharacter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// Why credentials cannot be used.
package struct BadCredentials: Error, Hashable, CustomStringConvertible {
    /// The reason as part of a sentence.
    package let reason: String

    /// The reason.
    package var description: String { reason }
}
