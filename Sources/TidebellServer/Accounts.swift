// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellHTTP
package import TidebellScheduling
package import TidebellWire

/// Users and tokens, as an operator sees them: the operations of `TidebellCore/Operator` on a
/// store, with secrets that are made here.
///
/// Tokens are returned once; the store keeps only their hashes. What cannot be fails with
/// ``OperatorError``.
package struct Accounts: Sendable {
    let store: any Store
    let time: Time
    let randomness: Randomness

    /// Creates accounts over a store.
    package init(store: any Store, time: Time, randomness: Randomness) {
        self.store = store
        self.time = time
        self.randomness = randomness
    }

    /// Returns all users, by name.
    package func users() async throws -> [NamedAccount] {
        try await store.read { try ListUsers.run(in: $0) }
    }

    /// Returns all user names in alphabetical order.
    package func names() async throws -> [String] {
        try await users().map(\.name)
    }

    /// Creates a user and returns a web token for them, good in all containers.
    package func add(
        named name: String, tokenLifetime: Duration = AddWebToken.lifetime
    ) async throws -> String {
        let now = time.now()
        let (secret, hash) = makeToken()
        let account = try await store.write(.account(nil)) {
            try AddUser.run(named: name, token: hash, lifetime: tokenLifetime, at: now, in: $0)
        }
        return Secret.webToken(secret, of: account)
    }

    /// Returns a further web token for a user; the others stay valid.
    ///
    /// - Parameter container: The only container, in its environment, where it is good;
    ///   nil for all of them.
    package func makeWebToken(
        for name: String, in container: ContainerKey? = nil,
        lifetime: Duration = AddWebToken.lifetime
    ) async throws -> String {
        let now = time.now()
        let (secret, hash) = makeToken()
        let account = try await account(named: name)
        try await store.write(.account(account)) {
            try AddWebToken.run(
                hash, ofUser: name, for: container, lifetime: lifetime, at: now, in: $0
            )
        }
        return Secret.webToken(secret, of: account)
    }

    /// Removes a user, whose tokens are refused from then on, with subscriptions and
    /// devices; the data stays unless it is erased.
    @discardableResult
    package func remove(
        named name: String, erasing erasure: RemovedAccount.Erasure = .none
    ) async throws -> AccountID {
        let now = time.now()
        return try await store.write(.everything) {
            try RemoveUser.run(named: name, erasing: erasure, at: now, in: $0)
        }
    }

    /// Returns a new API token for a container, or for all of them.
    ///
    /// - Parameters:
    ///   - lifetime: How long it is valid; nil for ever.
    ///   - signIn: How users sign in on the server's page.
    package func makeAPIToken(
        named name: String, for container: ContainerKey? = nil, lifetime: Duration? = nil,
        signIn: AppSignIn = AppSignIn()
    ) async throws -> String {
        try await make(.api, named: name, for: container, lifetime: lifetime, signIn: signIn)
    }

    /// Returns a new management token, with which the operator asks over the
    /// network.
    ///
    /// - Parameter task: What alone it is good for; nil for all.
    package func makeAdminToken(
        named name: String, lifetime: Duration? = nil, for task: ManagementTask? = nil
    ) async throws -> String {
        try await make(.management, named: name, for: nil, lifetime: lifetime, task: task)
    }

    private func make(
        _ kind: TokenKind, named name: String, for container: ContainerKey?, lifetime: Duration?,
        signIn: AppSignIn = AppSignIn(), task: ManagementTask? = nil
    ) async throws -> String {
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write(.store) {
            try AddToken.run(
                kind, hash, named: name, for: container, lifetime: lifetime, signIn: signIn,
                task: task, at: now, in: $0
            )
        }
        return token
    }

    /// Returns the account that a step is to write to; what becomes of the name meanwhile is
    /// looked at in the step.
    func account(named name: String) async throws -> AccountID {
        try await store.read { try $0.user(named: name) }
    }

    func makeToken() -> (text: String, hash: [UInt8]) {
        let text = Secret.make(from: randomness)
        return (text, Secret.hash(text))
    }
}
