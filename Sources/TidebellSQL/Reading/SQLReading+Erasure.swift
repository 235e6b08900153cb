// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func removedAccounts(limit: Int) throws -> [RemovedAccount] {
        try connection.rows(
            RemovedAccount.all + " ORDER BY removed_at, account LIMIT ?", limit,
            read: RemovedAccount.init
        )
    }

    package func lostUsers(limit: Int) throws -> [UserID] {
        try connection.rows(
            """
            SELECT DISTINCT owner FROM database
            WHERE owner <> 0 AND owner NOT IN (SELECT id FROM user)
            UNION
            SELECT id FROM user WHERE account NOT IN (SELECT id FROM account)
                AND account NOT IN (SELECT account FROM removed_account)
            ORDER BY 1 LIMIT ?
            """,
            limit
        ) { try $0.value(0) }
    }

    /// Owners of databases whose rows are gone; who they were is in their private records.
    package func lostOwners(limit: Int) throws -> [LostOwner] {
        try connection.rows(
            """
            SELECT owner, container, environment, (
                SELECT record.created_by FROM zone CROSS JOIN record ON record.zone = zone.key
                WHERE zone.database = database.id LIMIT 1
            )
            FROM database WHERE id IN (
                SELECT min(id) FROM database
                WHERE owner <> 0 AND owner NOT IN (SELECT id FROM user) GROUP BY owner
            )
            LIMIT ?
            """,
            limit
        ) {
            LostOwner(
                id: try $0.value(0),
                container: ContainerKey(
                    container: $0.text(1), environment: try $0.value(2)),
                recordName: $0.optionalText(3))
        }
    }

    package func removedAccount(_ account: AccountID) throws -> RemovedAccount? {
        try connection.first(
            RemovedAccount.all + " WHERE account = ?", account, read: RemovedAccount.init
        )
    }

    package func erased(of account: AccountID) throws -> [ErasedKind: Int] {
        let counts: [(ErasedKind, Int)] = try connection.rows(
            "SELECT kind, count FROM erased WHERE account = ?", account
        ) { (try $0.value(0), Int($0.int(1))) }
        return Dictionary(counts) { first, _ in first }
    }
}

/// The owner of databases whose row is gone.
package struct LostOwner: Sendable, Hashable {
    package var id: UserID
    package var container: ContainerKey
    /// Who made the first record that is found; nil where there is none.
    var recordName: String?
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
