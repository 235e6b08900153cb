// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellHTTP
package import TidebellWire

// The keys with which programs sign their requests.
extension Accounts {
    /// Adds a public key, in PEM, for a container, and returns it with its ID.
    ///
    /// - Parameter lifetime: How long it is good; nil for ever.
    package func addServerKey(
        _ pem: String, named name: String, for container: ContainerKey, lifetime: Duration? = nil
    ) async throws -> StoredServerKey {
        let now = time.now()
        let hash = Secret.hash(Secret.make(from: randomness))
        return try await store.write(.account(nil)) {
            try AddServerKey.run(
                pem, named: name, for: container, tokenHash: hash, lifetime: lifetime, at: now,
                in: $0)
        }
    }

    /// Returns all keys, oldest first.
    package func serverKeys(
        for container: ContainerKey? = nil
    ) async throws -> [ListServerKeys.Item] {
        try await store.read { try ListServerKeys.run(for: container, in: $0) }
    }

    /// Ends the key with this ID, of which the beginning is enough; returns it.
    package func revokeServerKey(_ id: String) async throws -> StoredServerKey {
        let now = time.now()
        return try await store.write(.everything) {
            try RevokeServerKey.run(id, in: nil, at: now, in: $0)
        }
    }
}
