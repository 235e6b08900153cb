// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization
import TidebellCore
import TidebellSQL

/// When a store that is served mends itself.
final class StoreMender: Sendable {
    /// How often it may look in vain in the life of a process: each look reads all records.
    static let fruitlessLooks = 3

    private struct State {
        var generation = 0
        var fruitlessLooks = 0
    }

    private let state = Mutex(State())
    /// Raised when the store closes.
    let end = StopFlag()

    /// Goes up with everything that is mended.
    var generation: Int { state.withLock { $0.generation } }

    /// Whether it may help to look again.
    var mayLook: Bool { state.withLock { $0.fruitlessLooks < Self.fruitlessLooks } }

    /// Notes that something was mended, and that every call sees it that begins now.
    func noteMend() { state.withLock { $0.generation += 1 } }

    /// Notes that a look helped nobody.
    func noteFruitlessLook() { state.withLock { $0.fruitlessLooks += 1 } }
}

/// What became of damage that a call met.
enum MendOutcome: Sendable {
    /// It is there still.
    case none
    /// Others mended it meanwhile.
    case mendedByOthers
    /// This call looked: it mended the store, or found it sound, since it was mended just
    /// before. Where the call meets damage once more, the look was in vain.
    case looked(StoreMend?)
}

extension SQLiteStore {
    /// Makes a call, once more where it met damage that was mended.
    func mending<Result: Sendable>(
        _ call: @Sendable () async throws -> Result
    ) async throws -> Result {
        let generation = mender.generation
        let outcome: MendOutcome
        do {
            return try await call()
        } catch {
            outcome = await mend(after: error, since: generation)
            if case .none = outcome { throw StoreDamaged.meant(by: error) }
        }
        do {
            return try await call()
        } catch {
            if case .looked = outcome, Self.isMendable(error) { mender.noteFruitlessLook() }
            throw StoreDamaged.meant(by: error)
        }
    }

    /// Mends what a call met. `generation` is what ``StoreMender/generation`` was before it.
    private func mend(after error: any Error, since generation: Int) async -> MendOutcome {
        guard isServing, Self.isMendable(error) else { return .none }
        let stop = StopFlag(besides: mender.end)
        do {
            let outcome = try await withTaskCancellationHandler {
                try await writeAlone { [pool, mender] transaction -> MendOutcome in
                    // Others met it too, and were first.
                    guard mender.generation == generation else { return .mendedByOthers }
                    guard mender.mayLook else { return .none }
                    return .looked(
                        try Self.mended(transaction.connection.sqlite, at: pool.path, until: stop))
                }
            } onCancel: {
                stop.raise()
            }
            if case .looked(let mend?) = outcome {
                // Not before the commit: who begins between reads what was there before.
                mender.noteMend()
                troubles.note(mend)
            }
            return outcome
        } catch {
            // What is reported is the failure of the call; the next one looks again, and not for
            // ever, unless what is in the way may pass (a full disk, a call that was cancelled).
            if let error = error as? DatabaseError, error.resultCode != .SQLITE_INTERRUPT {
                mender.noteFruitlessLook()
            }
            return .none
        }
    }

    /// Looks through the tables of ``EssentialTables/whileServing``.
    package func inspect() async throws {
        guard isServing else { return }
        let tables = EssentialTables.whileServing
        let unsound = try await read(.long) { reader in
            guard let reader = reader as? SQLReader else { return [String]() }
            return try EssentialTables.unsound(among: tables, on: reader.connection.sqlite)
        }
        guard !unsound.isEmpty else { return }
        let mend = try await writeAlone { [pool, mender] transaction in
            let queue = try DatabaseQueue(path: pool.path, configuration: Self.onlyReading)
            defer { try? queue.close() }
            return try queue.inDatabase { database in
                let (writer, reader) = (transaction.connection.sqlite, Connection(database))
                return try reader.stopping(at: mender.end) {
                    try EssentialTables(writer: writer, reader: reader, path: pool.path)
                        .mended(unsound)
                }
            }
        }
        mender.noteMend()
        troubles.note(mend)
    }

    private static func isMendable(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_CORRUPT else {
            return false
        }
        return error.mentions(anyOf: TableMending.tables)
    }

    /// Mends the store at `path` in the transaction of `writer`, which nothing else is in.
    ///
    /// What is stopped fails with SQLITE_INTERRUPT, and its transaction is to be undone.
    static func mended(
        _ writer: Connection, at path: String, until stop: StopFlag = StopFlag()
    ) throws -> StoreMend? {
        let queue = try DatabaseQueue(path: path, configuration: onlyReading)
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            let reader = Connection(database)
            return try reader.stopping(at: stop) {
                try writer.stopping(at: stop) {
                    try TableMending(writer: writer, reader: reader).run()
                }
            }
        }
    }
}

extension DatabaseError {
    /// Whether the statement that failed names one of these tables.
    fileprivate func mentions(anyOf tables: [String]) -> Bool {
        let words = sql?.split { !$0.isLetter && $0 != "_" } ?? []
        return words.contains { tables.contains(String($0)) }
    }
}

extension StoreDamaged {
    /// What an error of SQLite means that is damage; any other stays what it is.
    static func meant(by error: any Error) -> any Error {
        guard let error = error as? DatabaseError, error.resultCode == .SQLITE_CORRUPT else {
            return error
        }
        return StoreDamaged(detail: error.description)
    }
}
