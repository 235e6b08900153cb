// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellWire

/// What a server-to-server key is made of, and what it is called.
package enum ServerKeyRule {
    /// The most keys of one container and environment: `serverKeysPerContainer` in the error.
    package static let mostPerContainer = 50
    /// The most bytes of a public key in PEM; one of P-256 has less than 200.
    package static let mostPEMBytes = 4096
    /// The most characters of a name.
    package static let nameLength = 100
    /// How long a key is good unless the operator chooses otherwise: longer than any server runs.
    static let lifetime = Duration.seconds(100 * 365 * 24 * 3600)
    /// Digits of the ID in the name of its account: enough for the keys of a store.
    private static let accountDigits = 16

    /// Returns the point of a public key in PEM; anything else fails.
    static func publicKey(inPEM text: String) throws(OperatorError) -> [UInt8] {
        guard !text.contains("PRIVATE KEY") else {
            throw OperatorError(
                .invalid, .key,
                "This is a private key, which only the signing program should have; pass the public key: "
                    + "openssl ec -in FILE -pubout."
            )
        }
        guard text.utf8.count <= mostPEMBytes,
            let key = try? P256.Signing.PublicKey(pemRepresentation: text)
        else {
            throw OperatorError(
                .invalid, .key, "This is not a public key of the curve prime256v1 (P-256) in PEM.")
        }
        return Array(key.x963Representation)
    }

    /// Returns the ID of a key: of the same key in the same place always the same.
    static func id(of publicKey: [UInt8], in container: ContainerKey) -> String {
        let place = "\(container.container)\n\(container.environment.rawValue)\n"
        return Hex.text(Array(SHA256.hash(data: Array(place.utf8) + publicKey)))
    }

    /// Returns the name of a key's account, which no user's can be: those have no colon.
    static func accountName(of id: String) -> String { "key:\(id.prefix(accountDigits))" }
}
