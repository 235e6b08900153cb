// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP
import TidebellWire

/// Users and tokens, as an operator sees them.
///
/// Tokens are returned once; the store keeps only their hashes.
package struct Accounts: Sendable {
    /// How long a web token is valid unless the operator says otherwise.
    package static let webTokenLifetime = Duration.seconds(365 * 24 * 3600)
    /// The longest user name.
    package static let nameLength = 64

    let store: any Store
    private let time: Time
    let randomness: Randomness

    /// Creates accounts over a store.
    package init(store: any Store, time: Time = .system, randomness: Randomness = .system) {
        self.store = store
        self.time = time
        self.randomness = randomness
    }

    /// Returns all user names in alphabetical order.
    package func names() async throws -> [String] {
        try await store.read { try $0.accountNames() }
    }

    /// Creates a user and returns a web token for them; a name that is taken or
    /// not allowed fails with ``OperatorError``.
    package func add(
        named name: String, tokenLifetime: Duration = webTokenLifetime
    ) async throws -> String {
        try Self.check(name)
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write { transaction in
            guard try transaction.account(named: name) == nil else {
                throw OperatorError("There is already a user '\(name)'.")
            }
            let account = try transaction.createAccount(named: name, at: now)
            try transaction.putWebToken(
                hash: hash, account: account, expiresAt: now.advanced(by: tokenLifetime),
                lifetime: nil
            )
        }
        return token
    }

    /// Returns a further web token for a user; the others stay valid.
    package func makeWebToken(
        for name: String, lifetime: Duration = webTokenLifetime
    ) async throws -> String {
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write { transaction in
            guard let account = try transaction.account(named: name) else {
                throw OperatorError("There is no user '\(name)'.")
            }
            try transaction.putWebToken(
                hash: hash, account: account, expiresAt: now.advanced(by: lifetime),
                lifetime: nil
            )
        }
        return token
    }

    /// Removes a user, whose tokens are refused from then on.
    package func remove(named name: String) async throws {
        try await store.write { transaction in
            guard let account = try transaction.account(named: name) else {
                throw OperatorError("There is no user '\(name)'.")
            }
            try transaction.removeAccount(account)
        }
    }

    /// Returns a new API token for a container, or for all of them.
    package func makeAPIToken(
        named name: String, for container: ContainerKey? = nil
    ) async throws -> String {
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write {
            try $0.putAPIToken(hash: hash, name: name, container: container, at: now)
        }
        return token
    }

    /// Returns a new management token, with which the operator asks over the
    /// network.
    package func makeAdminToken(named name: String) async throws -> String {
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write { try $0.putAdminToken(hash: hash, name: name, at: now) }
        return token
    }

    private func makeToken() -> (text: String, hash: [UInt8]) {
        let text = Secret.make(from: randomness)
        return (text, Secret.hash(text))
    }

    private static func check(_ name: String) throws {
        let isAllowed = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil
                || "._-@+".contains(
                    Character($0)
                )
        }
        guard !name.isEmpty, name.count <= nameLength, isAllowed else {
            throw OperatorError(
                "A user name has 1 to \(nameLength) letters, digits and any of '._-@+'."
            )
        }
    }
}

/// Something the operator can put right, said in one sentence.
package struct OperatorError: Error, Hashable, CustomStringConvertible {
    /// The sentence.
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
        self.description = description
    }
}
