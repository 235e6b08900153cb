// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// Of which history a store is: the cluster, its timeline and the database in it.
///
/// A promoted standby and a cluster restored to a moment begin another timeline, and a dump is restored
/// in another database. Whether one lacks what was acknowledged before does not show; so a store that is found in
/// another history begins a new life, in which devices fetch everything again.
enum StoreLineage {
    static let current = """
        SELECT system_identifier || '-' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
        FROM pg_control_system()
        """

    /// Notes the history that a store is in; returns whether it was in another one before, and begins
    /// the new life then.
    static func settle(
        _ connection: PostgresConnection, _ statements: PostgresStatements, at now: Instant
    ) throws -> Bool {
        connection.enqueue("BEGIN")
        var lineage = ""
        try connection.rows(current) { lineage = $0.string(0) }
        var noted: String?
        try connection.rows("SELECT lineage FROM tidebell_schema FOR UPDATE") { row in
            noted = row.isNull(0) ? nil : row.string(0)
        }
        let cameBack = noted != nil && noted != lineage
        if cameBack {
            _ = try SQLTransaction(StoreConnection(connection, statements)).beginNewLife(at: now)
        }
        if noted != lineage {
            connection.enqueue("UPDATE tidebell_schema SET lineage = $1", [.text(lineage)])
        }
        switch connection.commit() {
        case .committed: return cameBack
        case .notCommitted(let error), .unknown(let error): throw error
        }
    }
}
