// SPDX-License-Identifier: Apache-2.0

/// Makes the secret of a store that has none, once.
package enum MakeStoreSecret {
    /// What came of it.
    package struct Outcome: Sendable, Hashable {
        package var secret: StoreSecret
        /// Whether the store was in use before, so that what its lost secret made is not made
        /// any more: devices have other IDs, and links that are out are void.
        package var replacesLostOne: Bool

        /// Creates a value.
        package init(secret: StoreSecret, replacesLostOne: Bool) {
            self.secret = secret
            self.replacesLostOne = replacesLostOne
        }
    }

    /// Returns the store's secret, made of `drawn` where there is none. Where two nodes begin
    /// at once, both get that of the first.
    ///
    /// - Parameters:
    ///   - drawn: ``StoreSecret/length`` random bytes.
    ///   - inherited: The key that an older version kept beside the store.
    package static func run(
        drawn: [UInt8], inherited: [UInt8]?, in transaction: some SecretWriting & ZoneReading
    ) throws -> Outcome {
        if let secret = try transaction.storeSecret() {
            return Outcome(secret: secret, replacesLostOne: false)
        }
        let secret = StoreSecret(root: drawn, inherited: inherited)
        try transaction.putStoreSecret(secret)
        return Outcome(
            secret: secret,
            replacesLostOne: try inherited == nil && !transaction.containers(limit: 1).isEmpty
        )
    }
}
