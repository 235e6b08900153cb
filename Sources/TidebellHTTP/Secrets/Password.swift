// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import TidebellWire

/// Passwords as they are stored: hashed with scrypt and a salt of their own, so that
/// who reads the store has to guess each one, slowly.
package enum Password {
    /// The fewest characters of a password.
    package static let fewestCharacters = 8
    /// The most bytes of one; a character can have any number of them.
    package static let mostBytes = 1024

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

    /// Hashes a password for the store.
    package static func hash(
        _ password: String, cost: Cost = .standard, from randomness: Randomness
    ) throws -> String {
        let salt = randomness.makeBytes(saltSize)
        let key = try key(of: password, salt: salt, cost)
        let numbers = "\(cost.rounds):\(cost.blockSize):\(cost.parallelism)"
        return
            "\(scheme):\(numbers):\(Secret.hex(salt)):\(key.withUnsafeBytes { Secret.hex(Array($0)) })"
    }

    /// Whether the password is the one that was hashed. Takes as long for a wrong one.
    ///
    /// Without a hash, of a user who does not exist or has no password, it is not, and
    /// the time is the same.
    package static func matches(_ password: String, _ stored: String?) throws -> Bool {
        guard let stored else {
            _ = try key(of: password, salt: [UInt8](repeating: 0, count: saltSize), .standard)
            return false
        }
        let parts = stored.split(separator: ":")
        guard parts.count == 6, parts[0] == scheme, let rounds = Int(parts[1]),
            let blockSize = Int(parts[2]), let parallelism = Int(parts[3]),
            let salt = Secret.bytes(parts[4]), let hash = Secret.bytes(parts[5])
        else { throw WireError(.internalError, "a stored password hash cannot be read") }
        let cost = Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        // Comparing keys takes the same time wherever they differ.
        return try key(of: password, salt: salt, cost) == SymmetricKey(data: hash)
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
