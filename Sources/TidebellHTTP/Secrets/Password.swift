// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import Foundation
import TidebellCore
package import TidebellScheduling
import TidebellWire

/// Passwords as they are stored: hashed with scrypt and a salt of their own, so that
/// whoever reads the store has to guess each one, slowly.
package enum Password {
    /// What one guess costs; stored with the hash, so that it can grow.
    package struct Cost: Sendable, Hashable {
        /// scrypt's N: memory and time grow with it; a power of two.
        var rounds: Int
        /// scrypt's r.
        var blockSize: Int
        /// scrypt's p: time grows with it.
        var parallelism: Int

        /// 32 MB and some tenths of a second: one of the settings OWASP recommends
        /// (Password Storage Cheat Sheet, 2025).
        package static let standard = Cost(rounds: 1 << 15, blockSize: 8, parallelism: 3)
        /// Next to nothing, for tests.
        package static let least = Cost(rounds: 2, blockSize: 8, parallelism: 1)
    }

    private static let scheme = "scrypt"
    private static let saltSize = 16
    private static let hashSize = 32

    /// Hashes a password for the store (``PasswordRule/canonical(_:)``).
    package static func hash(
        _ password: String, cost: Cost = .standard, from randomness: Randomness
    ) throws -> String {
        try hash(
            exactly: PasswordRule.canonical(password), cost: cost, from: randomness
        )
    }

    /// Hashes a password as it was typed, as earlier versions did.
    static func hash(
        exactly password: String, cost: Cost, from randomness: Randomness
    ) throws -> String {
        let salt = randomness.makeBytes(saltSize)
        let key = try key(of: password, salt: salt, cost)
        let numbers = "\(cost.rounds):\(cost.blockSize):\(cost.parallelism)"
        return
            "\(scheme):\(numbers):\(Hex.text(salt)):\(key.withUnsafeBytes { Hex.text(Array($0)) })"
    }

    /// Whether the password is the one that was hashed. A wrong one takes the same time.
    ///
    /// Hashes from before NFC was the rule are of what a keyboard wrote: the other forms
    /// are tried too, where they differ.
    ///
    /// Without a hash (the user does not exist or has no password) it never matches, in
    /// the time that `costWithoutHash` takes: the same.
    package static func matches(
        _ password: String, _ stored: String?, costWithoutHash: Cost = .standard
    ) throws -> Bool {
        guard let stored else {
            for form in forms(of: password) {
                _ = try key(of: form, salt: [UInt8](repeating: 0, count: saltSize), costWithoutHash)
            }
            return false
        }
        let parts = stored.split(separator: ":")
        guard parts.count == 6, parts[0] == scheme, let rounds = Int(parts[1]),
            let blockSize = Int(parts[2]), let parallelism = Int(parts[3]),
            let salt = Hex.bytes(parts[4]), let hash = Hex.bytes(parts[5])
        else { throw WireError(.internalError, "a stored password hash cannot be read") }
        let cost = Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        // Comparing keys takes the same time wherever they differ, and all forms are tried.
        let expected = SymmetricKey(data: hash)
        return try forms(of: password).map {
            try key(of: $0, salt: salt, cost) == expected
        }.contains(true)
    }

    /// The spellings of a password: one, unless it has letters that can be written in
    /// several ways.
    private static func forms(of password: String) -> [String] {
        let forms = [
            PasswordRule.canonical(password), password,
            password.decomposedStringWithCanonicalMapping,
        ]
        // Not as a set of strings: strings of the same canonical form are equal.
        return forms.enumerated().filter { index, form in
            !forms[..<index].contains { $0.utf8.elementsEqual(form.utf8) }
        }.map(\.element)
    }

    private static func key(
        of password: String, salt: [UInt8], _ cost: Cost
    ) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Array(password.utf8), salt: salt, outputByteCount: hashSize,
            rounds: cost.rounds, blockSize: cost.blockSize, parallelism: cost.parallelism
        )
    }
}
