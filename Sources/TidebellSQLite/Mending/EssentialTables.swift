// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// Tables of which a lost row means that somebody known becomes a stranger, or a zone nothing:
/// a server that is about to start looks through them whole, and serves none that is damaged.
///
/// They are small beside records. An index of theirs that is damaged is made anew from its
/// table, where that is known to be whole.
struct EssentialTables {
    /// Looked through before a server serves.
    static let atStart = [
        "store", "store_secret", "database", "zone", "removed_zone", "zone_key", "account", "user",
        "api_token", "admin_token", "server_key", "application_permission", "removed_account",
        "user_role", "schema_trait",
        "erased",
        "share", "share_grant", "share_outsider", "ended_hierarchy",
        "account_address", "account_identity",
    ]
    /// Looked through while a server serves: they grow with every sign-in, and who is not found in
    /// them signs in again, as the same user.
    static let whileServing = ["web_token"]

    /// As of ``TableMending``, but in no transaction yet.
    let writer: Connection
    let reader: Connection
    let path: String

    /// Looks through the tables of a start and mends them in a transaction; returns what was
    /// mended, or nil where all are sound. Fails with ``StoreOpenError/damaged(path:reason:)`` where
    /// a table is not whole.
    func settle() throws -> StoreMend? {
        let unsound = try Self.unsound(among: Self.atStart, on: reader)
        guard !unsound.isEmpty else { return nil }
        try writer.run("BEGIN IMMEDIATE")
        do {
            let mend = try mended(unsound)
            try writer.run("COMMIT")
            return mend
        } catch {
            // The failure to report is the first one.
            try? writer.run("ROLLBACK")
            throw error
        }
    }

    /// Which of the tables are not sound.
    static func unsound(among tables: [String], on connection: Connection) throws -> [String] {
        try tables.filter { try !TableMending.isSound($0, on: connection) }
    }

    /// Makes tables anew in the transaction of the writer, as of ``settle()``.
    func mended(_ unsound: [String]) throws -> StoreMend {
        for table in unsound where try !isWhole(table) {
            throw StoreOpenError.damaged(
                path: path,
                reason: "the table '\(table)' is not whole; 'tidebell check' shows what else is "
                    + "lost, 'tidebell backup --despite-damage' keeps the rest"
            )
        }
        for table in unsound { try makeAnew(table) }
        var mend = StoreMend()
        mend.tables = unsound
        return mend
    }

    /// Whether all of the table can be read, an index has the same, or none can be read that
    /// could, and no other contradicts that. Where the table and an index differ which are both
    /// sound by themselves, one is of another moment (a disk lost a write), and nobody knows
    /// which.
    private func isWhole(_ table: String) throws -> Bool {
        guard try rowsCanBeRead(table) else { return false }
        let indexes = try IndexWitness.all(of: table, from: try itself(table), on: reader)
        let witnesses = try indexes.map { (index: $0, agrees: try $0.agrees()) }
        let complete = witnesses.filter { !$0.index.isPartial }
        let agreeing = complete.filter { $0.agrees == true }
        guard !agreeing.isEmpty || !complete.isEmpty && complete.allSatisfy({ $0.agrees == nil })
        else { return false }
        let known = Set(agreeing.flatMap(\.index.columnNames))
        return try !witnesses.contains {
            try $0.agrees == false && $0.index.contradicts(knowing: known)
        }
    }

    /// The table as a source of rows that no other index is read for.
    ///
    /// NB: of a table without row IDs, NOT INDEXED reads any index that has all columns.
    private func itself(_ table: String) throws -> String {
        let key = try reader.first(
            "SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", table
        ) { $0.text(0) }
        return key.map { "\(table) INDEXED BY \($0)" } ?? "\(table) NOT INDEXED"
    }

    private func rowsCanBeRead(_ table: String) throws -> Bool {
        do {
            try reader.each("SELECT * FROM \(try itself(table))") { _ in true }
            return true
        } catch DatabaseError.SQLITE_CORRUPT {
            return false
        }
    }

    /// NB: REINDEX would free pages that a wrong page of the index leads to, of other tables.
    private func makeAnew(_ table: String) throws {
        try TableMending(writer: writer, reader: reader).makeAnew(table)
        let rows = try Row.fetchCursor(
            reader.database, sql: "SELECT * FROM \(try itself(table))")
        while let row = try rows.next() {
            let placeholders = row.databaseValues.map { _ in "?" }.joined(separator: ", ")
            try writer.database.execute(
                sql: "INSERT INTO \(table) VALUES (\(placeholders))",
                arguments: StatementArguments(row.databaseValues))
        }
    }
}
