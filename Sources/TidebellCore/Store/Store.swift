// SPDX-License-Identifier: Apache-2.0

/// An engine that keeps everything: records, subscriptions, the outbox, the
/// notification log, users.
///
/// Guarantees, tested for every engine by one conformance suite:
/// - A step runs as one transaction: all of it is durable (survives power loss)
///   when `write` returns (``Durability`` may say later), or none of it happened.
/// - A body that throws leaves no trace, and bodies committed together (group
///   commit) do not feel one another's failure.
/// - A body sees every write that returned before it was called.
/// - Bodies of `write` run one after the other in each database; a position or
///   a position in its outbox that a reader sees is never followed by a smaller one.
///
/// A body is synchronous and must not block on anything but the store. It may be run again: see
/// WRITING-A-STORE.md beside this file.
package protocol Store: OutboxLeasing, DeliveryLeasing {
    /// Runs the steps of `body` and returns when all are durable; a caller of nil is the server itself.
    ///
    /// Callers whose writes wait take turns, so that who sends many waits for itself, not others
    /// for it; too many of one caller fail with `THROTTLED`.
    ///
    /// - Parameters:
    ///   - scope: What most of it is in, so that an engine that does writes of several scopes at once does those
    ///     of one after the other, together. A hint; nil where it is not known before.
    ///   - durability: When they are durable, if not when this returns.
    func writeInSteps<Result: Sendable>(
        for caller: AccountID?, about scope: StoreScope?, durability: Durability,
        _ body: @escaping @Sendable (any StoreSteps) throws -> Result
    ) async throws -> Result

    /// The users by the parts of the engine in which they are: a step may be of several of one part
    /// (``StoreScope/users(_:)``). Most engines have one.
    func parts(of users: Set<UserID>) -> [Set<UserID>]

    /// Runs `body` on a consistent snapshot.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result

    /// Runs `body` on a consistent snapshot; fails with ``ReadBudgetPassed`` when it
    /// looks at more records than `length`. Long reads must be bounded by who
    /// calls: the engine keeps them apart from short ones, and that is all.
    func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result

    /// Yields after commits that wrote outbox entries; a hint, several commits
    /// may yield once (bounded to one waiting element).
    func outboxCommits() -> AsyncStream<Void>

    /// Yields after commits that may have ended what somebody is allowed to receive; a hint
    /// like ``outboxCommits()``.
    func accessCommits() -> AsyncStream<Void>

    /// Yields after commits that left something to settle in hierarchies
    /// (``SettlingWriting/noteUnsettled(_:in:)``); a hint like ``outboxCommits()``.
    func unsettledCommits() -> AsyncStream<Void>

    /// Has `body` called when another process that serves the store may have appended notifications to the logs
    /// of these users, or of any user (nil); a hint like ``outboxCommits()``. Must return at once.
    func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void)

    /// Whether it is up to this process to remove what is old: of several that serve the store, to one at a time. Two
    /// do no harm, but move the moment of retention faster.
    var isMaintainedHere: Bool { get }

    /// A random number that distinguishes this store from any other; part of every sync
    /// token.
    var identity: UInt64 { get }

    /// Which life of the store this is; part of every sync token.
    var incarnation: Incarnation { get }

    /// How an operator finds what of the store is damaged.
    var damageSearch: DamageSearch { get }

    /// Writes something that changes nothing, and fails where the next write would:
    /// ``StoreUnavailable`` describes what is in the way.
    func probe() async throws

    /// Looks through what is too much to be looked through when the store is opened, and mends
    /// it; fails where that cannot be. An engine that looks after its files needs none.
    func inspect() async throws

    /// Releases the engine's files or connections; later calls fail.
    func close() async throws
}

extension Store {
    package func probe() async throws {
        try await write(.store) { _ in }
    }

    package func inspect() async throws {}

    /// That of a store in the data folder.
    package var damageSearch: DamageSearch { .check }

    /// That of the one process that serves it.
    package var isMaintainedHere: Bool { true }

    /// A store that one process serves.
    package func whenNotifiedElsewhere(_ body: @escaping @Sendable (Set<UserID>?) -> Void) {}

    /// Runs `body` on a consistent snapshot: an engine that does not distinguish long reads
    /// from short ones.
    package func read<Result: Sendable>(
        _ length: ReadLength, _ body: @escaping @Sendable (any StoreReader) throws -> Result
    ) async throws -> Result {
        try await read(body)
    }
}
