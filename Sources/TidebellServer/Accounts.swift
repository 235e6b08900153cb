// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellWire

/// What changing an account needs of the store.
package typealias AccountChanging = AccountWriting & SessionWriting & ErasureWriting

/// Users and tokens, as an operator sees them.
///
/// Tokens are returned once; the store keeps only their hashes.
package struct Accounts: Sendable {
    /// How long a web token is valid unless the operator says otherwise.
    package static let webTokenLifetime = Duration.seconds(365 * 24 * 3600)
    let store: any Store
    let time: Time
    let randomness: Randomness

    /// Creates accounts over a store.
    package init(store: any Store, time: Time, randomness: Randomness) {
        self.store = store
        self.time = time
        self.randomness = randomness
    }

    /// Returns all user names in alphabetical order.
    package func names() async throws -> [String] {
        try await store.read { try $0.accountNames() }
    }

    /// Creates a user and returns a web token for them, good in all containers; a name
    /// that is taken or not allowed fails with ``OperatorError``.
    package func add(
        named name: String, tokenLifetime: Duration = webTokenLifetime
    ) async throws -> String {
        let name = try Self.check(name)
        let now = time.now()
        let (token, hash) = makeToken()
        try await store.write { transaction in
            guard try transaction.account(calledBy: name) == nil else {
                throw OperatorError("There is already a user '\(name)'.")
            }
            let account = try transaction.createAccount(named: name, at: now)
            try transaction.putWebToken(
                .ofOperator(hash, of: account, for: nil, lifetime: tokenLifetime, at: now),
                hash: hash
            )
        }
        return token
    }

    /// Returns a further web token for a user; the others stay valid.
    ///
    /// - Parameter container: The only container, in its environment, where it is good;
    ///   nil for all of them.
    package func makeWebToken(
        for name: String, in container: ContainerKey? = nil,
        lifetime: Duration = webTokenLifetime
    ) async throws -> String {
        if let container { try Webhooks.check(container: container.container) }
        let now = time.now()
        let (token, hash) = makeToken()
        try await change(name) { transaction, account in
            try transaction.putWebToken(
                .ofOperator(hash, of: account, for: container, lifetime: lifetime, at: now),
                hash: hash
            )
        }
        return token
    }

    /// Removes a user, whose tokens are refused from then on, with subscriptions and
    /// devices; the data stays unless it is erased.
    @discardableResult
    package func remove(
        named name: String, erasing erasure: RemovedAccount.Erasure = .none
    ) async throws -> AccountID {
        let now = time.now()
        return try await change(name) { transaction, account in
            try transaction.removeAccount(account, at: now)
            if erasure != .none { try transaction.beginErasing(account, erasure) }
            return account
        }
    }

    /// Returns a new API token for a container, or for all of them.
    ///
    /// - Parameter lifetime: How long it is valid; nil for ever.
    package func makeAPIToken(
        named name: String, for container: ContainerKey? = nil, lifetime: Duration? = nil
    ) async throws -> String {
        if let container { try Webhooks.check(container: container.container) }
        return try await make(.api, named: name, for: container, lifetime: lifetime)
    }

    /// Returns a new management token, with which the operator asks over the
    /// network.
    package func makeAdminToken(
        named name: String, lifetime: Duration? = nil
    ) async throws -> String {
        try await make(.management, named: name, for: nil, lifetime: lifetime)
    }

    private func make(
        _ kind: TokenKind, named name: String, for container: ContainerKey?, lifetime: Duration?
    ) async throws -> String {
        if let container { try Webhooks.check(container: container.container) }
        let now = time.now()
        let (token, hash) = makeToken()
        let row = StoredToken(
            hash: hash, name: name, container: container, createdAt: now,
            expiresAt: lifetime.map { now.advanced(by: $0) }
        )
        try await store.write { try $0.putToken(row, kind) }
        return token
    }

    /// Runs `body` on the account of a user; an unknown one fails with
    /// ``OperatorError``.
    func change<Result: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable (any AccountChanging, AccountID) throws -> Result
    ) async throws -> Result {
        try await store.write { transaction in
            guard let account = try transaction.account(calledBy: name) else {
                throw OperatorError("There is no user '\(name)'.")
            }
            return try body(transaction, account)
        }
    }

    private func makeToken() -> (text: String, hash: [UInt8]) {
        let text = Secret.make(from: randomness)
        return (text, Secret.hash(text))
    }

    private static func check(_ name: String) throws -> String {
        guard let name = UserName.canonical(name), UserName.isAllowed(name) else {
            throw OperatorError(
                "A user name has 1 to \(UserName.length) letters, digits and any of '._-@+'."
            )
        }
        return name
    }
}

extension StoredWebToken {
    /// Returns a token that the operator makes: good until a day, and not renewed.
    fileprivate static func ofOperator(
        _ hash: [UInt8], of account: AccountID, for container: ContainerKey?, lifetime: Duration,
        at now: Instant
    ) -> StoredWebToken {
        StoredWebToken(
            account: account, expiresAt: now.advanced(by: lifetime),
            session: SessionID(beginningWith: hash), origin: .operator, container: container,
            createdAt: now
        )
    }
}

/// Something the operator can put right, said in one sentence.
package struct OperatorError: Error, Hashable, CustomStringConvertible {
    private let sentence: String
    /// A command that helps, without the data folder.
    private let command: String?

    /// Creates an error.
    ///
    /// - Parameter command: A command that shows what can be named; the sentence then has no
    ///   end of its own.
    package init(_ sentence: String, see command: String? = nil) {
        self.sentence = sentence
        self.command = command
    }

    /// The sentence.
    package var description: String {
        command.map { "\(sentence); see: \($0)" } ?? sentence
    }

    /// Returns the same error with an option added to its command, so that it means the same
    /// cloud.
    package func adding(option: String) -> OperatorError {
        OperatorError(sentence, see: command.map { $0 + option })
    }
}
