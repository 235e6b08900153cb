// SPDX-License-Identifier: Apache-2.0

/// The store's own secret.
package protocol SecretReading {
    /// Returns the store's secret; nil before it was made, and in a copy without keys.
    func storeSecret() throws -> StoreSecret?
}

/// The store's own secret is made.
package protocol SecretWriting: SecretReading {
    /// Keeps the secret of a store that has none; it is never replaced.
    func putStoreSecret(_ secret: StoreSecret) throws
}
