// SPDX-License-Identifier: Apache-2.0

/// What was asked of the server and not answered yet.
enum Asked {
    case statement(AskedStatement)
    /// A statement is prepared.
    case prepare(StatementCache.Key, name: String)
    /// A statement that went from the cache is dropped.
    case deallocate(name: String)
    case commit
    /// The end of what is sent before a wait.
    case sync

    /// The statement, for an error.
    var sql: String? {
        switch self {
        case .statement(let statement): statement.sql
        case .prepare(let key, _): key.sql
        case .deallocate: "DEALLOCATE"
        case .commit: "COMMIT"
        case .sync: nil
        }
    }
}

/// A statement, and what becomes of its result.
struct AskedStatement {
    /// How many rows a statement changed or read.
    final class Count {
        var rows = 0
    }

    var sql: String
    /// What it was prepared as.
    var prepared: (key: StatementCache.Key, name: String)?
    var row: ((PostgresRow) throws -> Void)?
    var count: Count?
    /// Who keeps the rows.
    var answer: PostgresAnswer?
}

/// How far a COMMIT has got.
enum CommitProgress {
    /// It was not sent.
    case notAsked
    /// It was sent, and the server has not said how it went.
    case unsaid
    /// The server said that it is done.
    case done
    /// The server said that it is not done.
    case refused
}

/// First in, first out.
struct AskedQueue {
    private var entries: [Asked?] = []
    private var start = 0

    var isEmpty: Bool { start == entries.count }
    var first: Asked? { start < entries.count ? entries[start] : nil }
    var last: Asked? { entries.last ?? nil }

    mutating func append(_ entry: Asked) { entries.append(entry) }

    mutating func removeFirst() {
        entries[start] = nil
        start += 1
        if start == entries.count {
            entries.removeAll(keepingCapacity: start <= 1024)
            start = 0
        } else if start >= 1024, start * 2 >= entries.count {
            entries.removeFirst(start)
            start = 0
        }
    }

    mutating func removeAll() {
        entries = []
        start = 0
    }
}
