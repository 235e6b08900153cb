// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension AddServerKey {
    /// Keeps a public key for a container, with an account and a user of its own; returns it.
    ///
    /// What is no public key of P-256 fails, and so do a container that no request can name, a
    /// key that is there already, and one key too many.
    ///
    /// - Parameters:
    ///   - pem: The public key as `openssl ec -pubout` prints it.
    ///   - tokenHash: The hash of a secret that is kept nowhere.
    ///   - lifetime: How long it is good; nil for ever.
    package static func run(
        _ pem: String, named name: String, for container: ContainerKey, tokenHash: [UInt8],
        lifetime: Duration?, at now: Instant,
        in transaction: some AccountWriting & SessionWriting & ServerKeyWriting
    ) throws -> StoredServerKey {
        try container.check()
        guard name.count <= ServerKeyRule.nameLength else {
            throw OperatorError(
                .invalid, .key,
                "The name of a key has at most \(ServerKeyRule.nameLength) characters.")
        }
        let publicKey = try ServerKeyRule.publicKey(inPEM: pem)
        let id = ServerKeyRule.id(of: publicKey, in: container)
        guard try transaction.serverKey(id) == nil else {
            throw OperatorError(
                .taken, .key, "This key is there already, as '\(id)'.", remedy: .listServerKeys)
        }
        let count = try transaction.serverKeys(limit: ListServerKeys.mostListed)
            .count { $0.container == container }
        guard count < ServerKeyRule.mostPerContainer else {
            throw OperatorError(
                .tooMany, .container,
                "There are already \(count) keys for \(container.container) "
                    + "(serverKeysPerContainer); revoke one first.", remedy: .listServerKeys)
        }
        let account = try transaction.createAccount(
            named: ServerKeyRule.accountName(of: id), at: now)
        try AddWebToken.run(
            tokenHash, of: account, for: container, lifetime: lifetime ?? ServerKeyRule.lifetime,
            at: now, in: transaction)
        let key = StoredServerKey(
            id: id, name: name, container: container, account: account, tokenHash: tokenHash,
            publicKey: publicKey, createdAt: now)
        try transaction.putServerKey(key)
        return key
    }
}
