// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellPostgresClient
import TidebellSQL

@testable import TidebellPostgres

@Suite("Statements as PostgreSQL spells them")
struct StatementTests {
    @Test(
        "What differs is spelled otherwise, and nothing else",
        arguments: [
            ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = $1 AND c = $2"),
            ("SELECT ?2, ?1, ?2", "SELECT $1, $2, $1"),
            ("SELECT user FROM t WHERE user.id = 1", #"SELECT "user" FROM t WHERE "user".id = 1"#),
            ("SELECT ifnull(max(a), 0) FROM t", "SELECT coalesce(max(a), 0) FROM t"),
            ("SELECT max(a, ?), min(b, 1)", "SELECT greatest(a, $1), least(b, 1)"),
            (
                "SELECT a IS ? AND b IS NOT NULL",
                "SELECT a IS NOT DISTINCT FROM $1 AND b IS NOT NULL"
            ),
            ("SELECT a FROM t INDEXED BY i WHERE b = 'IS ?'", "SELECT a FROM t WHERE b = 'IS ?'"),
            ("SELECT a FROM t CROSS JOIN u ON u.a = t.a", "SELECT a FROM t JOIN u ON u.a = t.a"),
            (
                "SELECT a FROM t CROSS JOIN u WHERE a = 1",
                "SELECT a FROM t CROSS JOIN u WHERE a = 1"
            ),
            ("SELECT a FROM t CROSS JOIN u USING (b)", "SELECT a FROM t JOIN u USING (b)"),
            (
                "INSERT OR IGNORE INTO t VALUES (?) RETURNING a",
                "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING RETURNING a"
            ),
            ("SELECT a FROM t LIMIT -1 OFFSET ?", "SELECT a FROM t LIMIT ALL OFFSET $1"),
            ("SELECT instr(t.a, ?) > 0", "SELECT position($1 IN t.a) > 0"),
            ("VALUES (?, last_insert_rowid() - 1)", "VALUES ($1, lastval() - 1)"),
            ("VALUES (?, randomblob(16))", "VALUES ($1, uuid_send(gen_random_uuid()))"),
        ])
    func spelling(sqlite: String, postgres: String) {
        #expect(PostgresStatement(sqlite, lists: [:]).sql == postgres)
    }

    @Test(
        "What a statement writes is known, and what it reads",
        arguments: [
            ("SELECT a, b FROM t JOIN u ON u.a = t.a", nil, ["b", "t", "u"]),
            (
                "SELECT a FROM json_each(?) AS w CROSS JOIN t AS x LEFT JOIN u", nil,
                ["json_each", "t", "u"]
            ),
            ("INSERT OR IGNORE INTO t (a) SELECT a FROM u", "t", ["u"]),
            ("INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING", "t", []),
            ("UPDATE user SET a = 1 FROM u", "user", ["u"]),
            ("DELETE FROM t WHERE a = ?", "t", ["t"]),
            ("WITH x (a) AS (SELECT 1) INSERT INTO t SELECT a FROM x", nil, ["x"]),
        ] as [(String, String?, Set<String>)])
    func tables(sql: String, written: String?, read: Set<String>) {
        let statement = PostgresStatement(sql, lists: [1: 1])
        #expect(statement.writtenTable == written)
        #expect(statement.readTables == read)
    }

    @Test("A list is a table of arrays, with a place for each row")
    func lists() {
        let statement = PostgresStatement(
            "SELECT w.value ->> 1, w.key FROM json_each(?) AS w WHERE w.value ->> 0 = ?",
            lists: [1: 2])
        #expect(
            statement.sql
                == "SELECT w.c1, (w.place - 1) FROM unnest($1, $2) WITH ORDINALITY AS w (c0, c1, place)"
                + " WHERE w.c0 = $3")
        #expect(
            statement.parameters == [
                .init(number: 1, column: 0), .init(number: 1, column: 1),
                .init(number: 2, column: nil),
            ])
        #expect(!statement.isWriting)
    }

    @Test(
        "Rows of a list come in its order, which is that of a join of SQLite's",
        arguments: [
            (
                "SELECT r.a FROM json_each(?) AS w CROSS JOIN r WHERE r.b = w.value LIMIT ?",
                "SELECT r.a FROM unnest($1) WITH ORDINALITY AS w (c0, place) CROSS JOIN"
                    + " LATERAL (SELECT * FROM r WHERE r.b = w.c0 OFFSET 0) AS r WHERE r.b = w.c0 ORDER BY w.place LIMIT $2"
            ),
            (
                "SELECT count(*) FROM json_each(?) AS w CROSS JOIN r WHERE r.b = w.value",
                "SELECT count(*) FROM unnest($1) WITH ORDINALITY AS w (c0, place) CROSS JOIN"
                    + " LATERAL (SELECT * FROM r WHERE r.b = w.c0 OFFSET 0) AS r WHERE r.b = w.c0"
            ),
            (
                "SELECT r.a FROM json_each(?) AS w CROSS JOIN r WHERE r.b = w.value ORDER BY r.a",
                "SELECT r.a FROM unnest($1) WITH ORDINALITY AS w (c0, place) CROSS JOIN"
                    + " LATERAL (SELECT * FROM r WHERE r.b = w.c0 OFFSET 0) AS r WHERE r.b = w.c0 ORDER BY r.a"
            ),
        ])
    func order(sqlite: String, postgres: String) {
        #expect(PostgresStatement(sqlite, lists: [1: 1]).sql == postgres)
    }

    @Test(
        "Rows of a table are looked for one after the other, where SQLite does so",
        arguments: [
            (
                "SELECT u.a FROM json_each(?) AS w CROSS JOIN user AS u INDEXED BY i LEFT JOIN x ON x.a = u.a"
                    + " WHERE u.z = ? AND u.b = w.value AND (u.c = 1 OR u.d = 2)",
                "SELECT u.a FROM unnest($1) WITH ORDINALITY AS w (c0, place) CROSS JOIN LATERAL"
                    + " (SELECT * FROM \"user\" AS u WHERE u.z = $2 AND u.b = w.c0 OFFSET 0) AS u"
                    + " LEFT JOIN x ON x.a = u.a WHERE u.z = $2 AND u.b = w.c0 AND (u.c = 1 OR u.d = 2)"
                    + " ORDER BY w.place"
            ),
            (
                "SELECT s.a FROM s CROSS JOIN r INDEXED BY i ON r.z = s.z AND r.b = s.b AND r.c > 1"
                    + " WHERE s.z = ?",
                "SELECT s.a FROM s JOIN LATERAL (SELECT * FROM r WHERE r.z = s.z AND r.b = s.b OFFSET 0)"
                    + " AS r ON r.z = s.z AND r.b = s.b AND r.c > 1 WHERE s.z = $1"
            ),
            // What is the same for all rows is another index's business.
            (
                "SELECT x.a FROM x LEFT JOIN r INDEXED BY i ON r.z = ? AND r.b = x.b AND r.d = 0",
                "SELECT x.a FROM x LEFT JOIN LATERAL (SELECT * FROM r WHERE r.z = $1 AND r.b = x.b OFFSET 0)"
                    + " AS r ON r.z = $1 AND r.b = x.b AND r.d = 0"
            ),
            // Joined to nothing that is known before it.
            (
                "SELECT r.a FROM r INDEXED BY i WHERE r.z = ? AND r.b = ?",
                "SELECT r.a FROM r WHERE r.z = $1 AND r.b = $2"
            ),
            (
                "SELECT x.a FROM x CROSS JOIN r INDEXED BY i WHERE r.z = ? OR r.b = x.b",
                "SELECT x.a FROM x CROSS JOIN r WHERE r.z = $1 OR r.b = x.b"
            ),
        ])
    func lookups(sqlite: String, postgres: String) {
        #expect(PostgresStatement(sqlite, lists: [1: 1]).sql == postgres)
    }

    /// The plan of an empty table stays until PostgreSQL has looked through it, and that of many small zones is the one of a large zone, too.
    @Test(
        "Records are found by the index of names, by whatever plan",
        arguments: [false, true])
    func plan(hasManyZones: Bool) throws {
        let connection = try PostgresConnection(
            PostgresAddress(PostgresEngine.addressOfNewDatabase()))
        defer { connection.close() }
        _ = try PostgresSchema.prepare(connection, identity: 1)
        if hasManyZones {
            connection.enqueue(
                """
                INSERT INTO record (zone, position, name, type, created_at, created_by, created_device,
                    modified_at, modified_by, modified_device, deleted, fields)
                SELECT zone, 1, convert_to('name-' || zone, 'UTF8'), '', 0, '', '', 0, '', '', 0, ''
                FROM generate_series(1, 20000) AS zone
                """)
            try connection.execute("ANALYZE record")
        }
        try connection.execute("SET plan_cache_mode = force_generic_plan")
        let byName = RecordsByName.found
        for (number, sql) in [byName.one, byName.all, byName.heads].enumerated() {
            let statement = PostgresStatement(sql, lists: number == 0 ? [:] : [1: 1])
            let types = number == 0 ? "bigint, bytea" : "bytea[], bigint"
            let values = number == 0 ? "1, ''" : "'{}', 1"
            try connection.execute("PREPARE found\(number) (\(types)) AS \(statement.sql)")
            var plan = ""
            try connection.rows("EXPLAIN EXECUTE found\(number)(\(values))") {
                plan += $0.string(0) + "\n"
            }
            #expect(plan.contains("using record_name on record"), "\(plan)")
            #expect(!plan.contains("record_pkey") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }

    @Test("What is looked up for each row of a list is joined to it, and looked up by an index")
    func lateral() {
        let statement = PostgresStatement(
            "SELECT f.id FROM json_each(?) AS w CROSS JOIN t AS f ON f.id IN ("
                + "SELECT id FROM t INDEXED BY i WHERE a = w.value ORDER BY id LIMIT ?)",
            lists: [1: 1])
        #expect(
            statement.sql
                == "SELECT f.id FROM unnest($1) WITH ORDINALITY AS w (c0, place) CROSS JOIN LATERAL "
                + "(SELECT DISTINCT id FROM t WHERE a = w.c0 ORDER BY id LIMIT $2) AS f ORDER BY w.place"
        )
    }
}
