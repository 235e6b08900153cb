// SPDX-License-Identifier: Apache-2.0

/// Server-to-server keys.
package protocol ServerKeyReading {
    /// Returns the key with this ID.
    func serverKey(_ id: String) throws -> StoredServerKey?

    /// Returns the keys of all containers, oldest first, at most `limit`.
    func serverKeys(limit: Int) throws -> [StoredServerKey]
}

/// Server-to-server keys are made; they are removed with their account.
package protocol ServerKeyWriting: ServerKeyReading {
    /// Stores a key; one with its ID is replaced.
    func putServerKey(_ key: StoredServerKey) throws
}
