// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What is together in a transaction, so that one of many machines can have it alone.
///
/// A step of a write names its scope and writes nothing outside of it; what it reads elsewhere
/// may be old by the time it commits. WRITING-A-STORE.md beside this file lists what belongs to
/// each, and how what crosses from one to another is settled.
package enum StoreScope: Sendable, Hashable {
    /// What a container is in one environment: its schema, its webhooks.
    case catalogue(ContainerKey)
    /// A person: how they sign in, their sessions, who they are in containers, the uploads they
    /// asked for. Nil is an account that the step makes.
    case account(AccountID?)
    /// A database: zones, records, references, subscriptions, outbox, the answers kept to writes.
    case database(DatabaseKey)
    /// The same by the ID of a database that is there.
    case databaseWithID(DatabaseID)
    /// An account's user in a container: notification log, devices, badge, permissions.
    case user(UserID)
    /// The same of several users who are in one part of the store (``Store/parts(of:)``).
    case users(Set<UserID>)
    /// What belongs to the store as a whole: its secret, the name of its root key, tokens of the
    /// API and of management, the files of records.
    case store
    /// A look before the other steps: nothing is written. What was read may be old by then. Names one of the databases that
    /// are looked at: an engine of many parts looks in its part; nil for none.
    case looking(at: DatabaseID?)
    /// When tokens and indexes were used: rows of many scopes, of each of which the latest moment counts. It locks no
    /// scope.
    case uses
    /// Rows of many scopes of which none needs another one: what retention removes. An engine of many parts does this in each part by itself.
    case batch
    /// All of it, for operators and migrations: removing and erasing a person, changing the root key,
    /// a new life. What a person left is in databases, users and zones of others that only reading
    /// finds, so that no scope names it before the step begins. Needs an engine that can stop the
    /// rest, or that does it step by step.
    case everything
}

extension StoreScope {
    /// The database of a call's path, in which the call writes.
    package static func database(of call: Call) throws -> StoreScope {
        .database(try call.database().key)
    }
}

/// The steps of one write, each a transaction of one scope.
///
/// Steps are committed in their order, together or each by itself: that is the engine's. So a
/// write that ends between two of its steps has done the first ones, and is done again from the
/// beginning by whoever wanted it: **a step that comes again changes nothing**. A step that fails
/// ends the write; its error may not be caught in the body.
package protocol StoreSteps {
    /// Whether all steps are committed together, so that no step is ever found without those
    /// after it, and nothing of others comes between them. Never a reason to do another thing, only to leave out what finds that out.
    var areTogether: Bool { get }

    /// Runs the next step.
    func write<Result: Sendable>(
        _ scope: StoreScope, _ body: (any StoreTransaction) throws -> Result
    ) throws -> Result
}

/// What a step came to that may find out that a step of another scope has to come first.
package enum StepOutcome<Answer: Sendable, Need: Sendable>: Sendable {
    /// It is done.
    case done(Answer)
    /// It wrote nothing that matters, and is to come again after that step.
    case needs(Need)

    /// How often a step may find that something is needed: others write meanwhile.
    private static var mostRounds: Int { 3 }

    /// Returns what `attempt` comes to once nothing is needed any more.
    static func settled(
        _ attempt: () throws -> StepOutcome, first settle: (Need) throws -> Void
    ) throws -> Answer {
        for _ in 0..<mostRounds {
            switch try attempt() {
            case .done(let answer): return answer
            case .needs(let need): try settle(need)
            }
        }
        throw WireError(.tryAgainLater, "others change the same at this moment: try again")
    }
}

extension StoreSteps {
    /// Runs a step, and before it what it finds out that it needs.
    package func write<Answer, Need>(
        _ scope: StoreScope,
        attempting attempt: (any StoreTransaction) throws -> StepOutcome<Answer, Need>,
        first settle: (Need) throws -> Void
    ) throws -> Answer {
        try StepOutcome.settled({ try write(scope, attempt) }, first: settle)
    }
}

extension Store {
    /// Runs the steps of `body` and returns when all are durable
    /// (``writeInSteps(for:about:durability:_:)``).
    package func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope? = nil,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result {
        try await writeInSteps(for: caller, about: scope, durability: .immediate, body)
    }

    /// Runs `body` as one step of `scope`, and returns when it is durable.
    ///
    /// - Parameter caller: Whose turn it takes; nil is the server itself
    ///   (``Store/writeInSteps(for:about:_:)``).
    package func write<Result: Sendable>(
        _ scope: StoreScope, for caller: AccountID? = nil,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await writeInSteps(for: caller, about: scope) { try $0.write(scope, body) }
    }
}
