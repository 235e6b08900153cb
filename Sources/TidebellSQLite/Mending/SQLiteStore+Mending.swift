// SPDX-License-Identifier: Apache-2.0
import GRDB
import Synchronization
import TidebellCore

/// When a store that is served mends itself.
final class StoreMender: Sendable {
    /// How often it may look in vain in the life of a process: each look reads all records.
    static let fruitlessLooks = 3

    private struct State {
        var generation = 0
        var fruitlessLooks = 0
    }

    private let state = Mutex(State())

    /// Goes up with everything that is mended.
    var generation: Int { state.withLock { $0.generation } }

    /// Whether it may help to look again.
    var mayLook: Bool { state.withLock { $0.fruitlessLooks < Self.fruitlessLooks } }

    /// Notes what became of a look.
    func note(foundDamage: Bool) {
        state.withLock { state in
            if foundDamage { state.generation += 1 } else { state.fruitlessLooks += 1 }
        }
    }
}

extension SQLiteStore {
    /// Mends what a call met; returns whether the call may be tried again. `generation` is
    /// what ``StoreMender/generation`` was before it.
    func mend(after error: any Error, since generation: Int) async -> Bool {
        guard isServing, let error = error as? DatabaseError, error.resultCode == .SQLITE_CORRUPT,
            error.mentions(anyOf: TableMending.tables)
        else { return false }
        do {
            let mend = try await writeAlone { [pool, mender] transaction -> StoreMend? in
                // Others met it too, and were first.
                guard mender.generation == generation, mender.mayLook else { return nil }
                let mend = try Self.mended(transaction.connection, at: pool.path)
                mender.note(foundDamage: mend != nil)
                return mend
            }
            if let mend { troubles.note(mend) }
        } catch {
            // What is told is the failure of the call; the next one looks again.
            mender.note(foundDamage: false)
        }
        return mender.generation != generation
    }

    /// Mends the store at `path` in the transaction of `writer`, which nothing else is in.
    static func mended(_ writer: Connection, at path: String) throws -> StoreMend? {
        let queue = try DatabaseQueue(path: path, configuration: onlyReading)
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            try TableMending(writer: writer, reader: Connection(database)).run()
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
