// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import StoreConformance
import Synchronization
import Testing
import TidebellCore
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Query plans")
struct QueryPlanTests {
    /// What may be read from end to end: the arguments of a call, what is asked
    /// for as a whole, what is kept for explanations, the ends
    /// of the kept answers and of the outbox's queue, a page or entries just found, tables of few
    /// rows, and at the start all databases; what is erased of
    /// a person is looked for in all that is kept for explanations.
    static let allowedScans: Set = [
        "SCAN wanted VIRTUAL TABLE INDEX 1:",
        "SCAN CONSTANT ROW",
        // The rows that a window is over.
        "SCAN (subquery-3)",
        "SCAN above",
        "SCAN line",
        "SCAN account USING COVERING INDEX sqlite_autoindex_account_1",
        "SCAN account USING INDEX sqlite_autoindex_account_1",
        "SCAN admin_token",
        "SCAN api_token",
        "SCAN awaited_upload",
        "SCAN database USING COVERING INDEX sqlite_autoindex_database_1",
        "SCAN database",
        "SCAN delivery",
        "SCAN ended",
        "SCAN entry",
        // Bounded in number, and looked through where another one is noted.
        "SCAN finished_visit USING COVERING INDEX finished_visit_end",
        "SCAN kept_answer",
        "SCAN kept_answer_size",
        // Once in an hour, by maintenance.
        "SCAN notification USING COVERING INDEX notification_log",
        "SCAN outbox",
        "SCAN outbox_queue USING COVERING INDEX outbox_queue_turn",
        "SCAN outbox_queue USING INDEX outbox_queue_turn",
        "SCAN page",
        "SCAN removed_account",
        "SCAN removed_zone",
        "SCAN server_key",
        "SCAN sqlite_sequence",
        "SCAN store",
        "SCAN told",
        "SCAN told USING COVERING INDEX told_change",
        "SCAN types",
        // When removed users are listed or erased.
        "SCAN user USING COVERING INDEX sqlite_autoindex_user_1",
        "SCAN webhook",
    ]

    @Test("Matching subscriptions reads only ranges of the trigger index")
    func matchingUsesTheIndex() async throws {
        let engine = SQLiteEngine()
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        let searches = try await store.plan(of: StoredSubscription.concerned)
            .filter { $0.hasPrefix("SEARCH") }
        let search = "SEARCH subscription USING COVERING INDEX subscription_trigger"
        let found = "SEARCH found USING INTEGER PRIMARY KEY (rowid=?)"
        let further = "SEARCH subscription_term USING PRIMARY KEY"
        let columns = "zone_name=? AND record_type=?"
        let parts = ["\(search) (database=? AND kind=? AND", "\(further) (database=? AND"].flatMap {
            let one = [found, "\($0) \(columns) AND term=? AND serial>?)"]
            let several = [found, "\($0) \(columns) AND term>? AND term<?)"]
            return one + several + one + several
        }
        #expect(
            searches == [
                "\(search) (database=? AND kind=?)",
                "\(search) (database=? AND kind=? AND zone_name=?)",
            ] + parts + ["SEARCH subscription USING INTEGER PRIMARY KEY (rowid=?)"]
        )
        try await engine.remove(store)
    }

    @Test("Registering a device counts its user's others in the index and sorts none of them")
    func registeringSortsNothing() async throws {
        let engine = SQLiteEngine()
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        let container = ContainerKey(container: "iCloud.org.example", environment: .development)
        let now = Instant(rawValue: 0)
        func sorts(registering count: Int, of user: Int64) async throws -> Int {
            try await store.write(.everything) { transaction throws in
                for number in 0..<count {
                    _ = try transaction.registerDevice(
                        clientID: "\(user)-\(number)", user: UserID(rawValue: user),
                        container: container, atMost: 40, at: now
                    )
                }
            }
            return try await store.pool.writeWithoutTransaction { $0.sorts }
        }
        let plan = try await store.plan(of: StoredDevice.beyond)
        #expect(plan == ["SEARCH device USING COVERING INDEX device_user (user=?)"])
        let belowLimit = try await sorts(registering: 40, of: 1)
        #expect(belowLimit == 0)
        // One for each device that makes another one go.
        let beyondLimit = try await sorts(registering: 43, of: 2)
        #expect(beyondLimit == 3)
        try await engine.remove(store)
    }

    @Test("No statement of any call reads a whole table")
    func nothingScans() async throws {
        let engine = StatementCollector()
        for check in StoreConformance.checks { try await check.run(on: engine) }
        let statements = engine.statements.withLock { $0 }
            .filter { !$0.hasPrefix("PRAGMA") && $0.contains(" ") }
        #expect(statements.count > 60)
        let store = try #require(try await engine.makeStore() as? SQLiteStore)
        for sql in statements.sorted() {
            let scans = try await store.plan(of: sql)
                .filter { $0.hasPrefix("SCAN") && !Self.allowedScans.contains($0) }
            #expect(scans.isEmpty, "\(sql)")
        }
        try await engine.remove(store)
    }
}

/// Remembers the statements that its stores have run on their writer connection.
private final class StatementCollector: StoreEngine {
    let statements = Mutex(Set<String>())

    func makeStore() async throws -> any Store {
        try await SQLiteEngine().makeStore()
    }

    func reopen(_ store: any Store) async throws -> any Store {
        try await SQLiteEngine().reopen(store)
    }

    func remove(_ store: any Store) async throws {
        if let store = store as? SQLiteStore {
            // A check may have closed its store.
            let found = try? await store.pool.writeWithoutTransaction { $0.preparedStatements }
            statements.withLock { $0.formUnion(found ?? []) }
        }
        try await SQLiteEngine().remove(store)
    }
}

extension Database {
    /// The statements the connection keeps prepared.
    fileprivate var preparedStatements: Set<String> {
        var found: Set<String> = []
        guard sqliteConnection != nil else { return found }
        forEachStatement { if let sql = sqlite3_sql($0) { found.insert(String(cString: sql)) } }
        return found
    }

    /// How often the statements the connection keeps prepared have sorted.
    fileprivate var sorts: Int {
        var found = 0
        forEachStatement { found += Int(sqlite3_stmt_status($0, SQLITE_STMTSTATUS_SORT, 0)) }
        return found
    }

    private func forEachStatement(_ body: (OpaquePointer) -> Void) {
        var statement = sqlite3_next_stmt(sqliteConnection, nil)
        while let current = statement {
            body(current)
            statement = sqlite3_next_stmt(sqliteConnection, current)
        }
    }
}

extension SQLiteStore {
    /// How SQLite would run a statement, step by step.
    fileprivate func plan(of sql: String) async throws -> [String] {
        try await pool.writeWithoutTransaction { database in
            let statement = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
            // Nothing is bound: the plan does not depend on it.
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0[3] }
        }
    }
}
