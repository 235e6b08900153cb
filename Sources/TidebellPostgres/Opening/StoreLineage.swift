// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// Of which history a store is: the cluster, its timeline and the database in it.
///
/// A promoted standby and a cluster restored to a moment begin another timeline, and a dump is restored
/// in another database. Whether one lacks what was acknowledged before does not show; so a store that is found in
/// another history begins a new life, in which devices fetch everything again. Unless the operator has said that a
/// promoted standby lacks nothing (`--lossless-failover`): then servers that run go on there, and note the later
/// timeline. A start knows nothing of what was acknowledged, and a cluster restored to a moment looks the same to it.
enum StoreLineage {
    static let current = """
        SELECT system_identifier || '-' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
        FROM pg_control_system()
        """

    /// Whether a store in one history may be that of an earlier one, on a standby that was promoted since: the same
    /// cluster and database, on a later timeline.
    static func isPromoted(_ lineage: String, from earlier: String) -> Bool {
        let (now, before) = (lineage.split(separator: "-"), earlier.split(separator: "-"))
        guard now.count == 3, before.count == 3, let timeline = Int(now[1], radix: 16),
            let earlierTimeline = Int(before[1], radix: 16)
        else { return false }
        return now[0] == before[0] && now[2] == before[2] && timeline > earlierTimeline
    }

    /// How long after a failover a start leaves it to the nodes that were running to note the new timeline.
    static let timeOfOthers = Duration.seconds(30)

    /// Notes the history that a store is in; returns whether it was in another one before, and begins
    /// the new life then. Fails while nodes that were running a moment ago may go on in the same life.
    static func settle(
        _ connection: PostgresConnection, _ statements: PostgresStatements, as node: NodeName?,
        losslessFailover: Bool, at now: Instant
    ) throws -> Bool {
        connection.enqueue("BEGIN")
        var lineage = ""
        try connection.rows(current) { lineage = $0.string(0) }
        var noted: String?
        try connection.rows("SELECT lineage FROM tidebell_schema FOR UPDATE") { row in
            noted = row.isNull(0) ? nil : row.string(0)
        }
        let cameBack = noted != nil && noted != lineage
        if let noted, losslessFailover, isPromoted(lineage, from: noted),
            try !NodeNews.others(than: node, within: timeOfOthers, on: connection).isEmpty
        {
            throw StoreOpenError.unreachable(
                reason:
                    "the database was failed over, and the nodes that were running have not gone on yet; start "
                    + "this server again in a few seconds")
        }
        if cameBack {
            _ = try SQLTransaction(StoreConnection(connection, statements)).beginNewLife(at: now)
        }
        if noted != lineage {
            connection.enqueue("UPDATE tidebell_schema SET lineage = $1", [.text(lineage)])
        }
        try connection.commitOrThrow()
        return cameBack
    }

    /// Begins a new life of a store, which was found to lack an acknowledged write although a promoted standby was
    /// said to lack nothing.
    ///
    /// - Parameter life: The life that the store had.
    static func endLife(_ life: Int64, _ connection: PostgresConnection, at now: Instant) throws {
        connection.enqueue("BEGIN")
        // Nobody writes meanwhile: heads of databases would fall back.
        connection.enqueue("SELECT pg_advisory_xact_lock($1)", [.int64(ScopeLocks.store)])
        let transaction = SQLTransaction(StoreConnection(connection, PostgresStatements()))
        // Another node may have found the same.
        if try transaction.incarnation().rawValue == life {
            _ = try transaction.beginNewLife(at: now)
        }
        try connection.commitOrThrow()
    }
}
