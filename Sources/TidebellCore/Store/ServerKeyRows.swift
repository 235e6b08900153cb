// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A server-to-server key as stored: what a program signs its requests with (web-services 2.3).
package struct StoredServerKey: Sendable, Hashable {
    /// The ID that requests name, 64 hex digits; not secret.
    package var id: String
    /// What the operator calls it.
    package var name: String
    /// The only container, in its environment, where it is good.
    package var container: ContainerKey
    /// Whose the records are that it writes: an account of its own.
    package var account: AccountID
    /// The web token of that account that stands for the key: nobody knows what this is the hash of.
    package var tokenHash: [UInt8]
    /// The public key, a point of P-256 in 65 bytes (X9.63).
    package var publicKey: [UInt8]
    package var createdAt: Instant

    /// The same with the cell that keeps it.
    package var webTokenHash: WebTokenHash { WebTokenHash(digest: tokenHash, in: account.cell) }

    /// Creates a row.
    package init(
        id: String, name: String, container: ContainerKey, account: AccountID, tokenHash: [UInt8],
        publicKey: [UInt8], createdAt: Instant
    ) {
        self.id = id
        self.name = name
        self.container = container
        self.account = account
        self.tokenHash = tokenHash
        self.publicKey = publicKey
        self.createdAt = createdAt
    }
}
