// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func removedAccounts(limit: Int) throws -> [RemovedAccount] {
        try connection.rows(
            RemovedAccount.all + " ORDER BY removed_at, account LIMIT ?", limit,
            read: RemovedAccount.init
        )
    }

    package func removedAccount(_ account: AccountID) throws -> RemovedAccount? {
        try connection.first(
            RemovedAccount.all + " WHERE account = ?", account, read: RemovedAccount.init
        )
    }

    package func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?) {
        var names: [String] = []
        var (last, seen) = (position, 0)
        try connection.each(
            """
            SELECT position, name, deleted = 0 AND created_by = ?1 FROM record
            WHERE zone = ?2 AND position > ?3 ORDER BY position LIMIT ?4
            """,
            user, zone, position, rows
        ) { columns in
            last = try columns.value(0)
            seen += 1
            if columns.bool(2) { names.append(columns.text(1)) }
            return names.count < limit
        }
        return (names, names.count < limit && seen < rows ? nil : last)
    }

    package func erased(of account: AccountID) throws -> [ErasedKind: Int] {
        let counts: [(ErasedKind, Int)] = try connection.rows(
            "SELECT kind, count FROM erased WHERE account = ?", account
        ) { (try $0.value(0), Int($0.int(1))) }
        return Dictionary(counts) { first, _ in first }
    }
}

extension RemovedAccount {
    fileprivate static let all =
        "SELECT account, name, removed_at, erasure, position FROM removed_account"

    fileprivate init(_ columns: Columns) throws {
        self.init(
            account: try columns.value(0), name: columns.optionalText(1),
            removedAt: try columns.value(2), erasure: try columns.value(3),
            position: try columns.value(4)
        )
    }
}
