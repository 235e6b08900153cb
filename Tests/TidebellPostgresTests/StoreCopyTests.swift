// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import StoreConformance
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellSQL
import TidebellScheduling

@testable import TidebellPostgres
@testable import TidebellSQLite

@Suite("A store that is copied to another engine, and back", .hangs)
struct StoreCopyTests {
    /// What each of some checks of the contract leaves: rows in all tables, one or the other.
    @Test(
        "A store comes back from PostgreSQL as it was, value by value",
        arguments: stride(from: 0, to: StoreConformance.checks.count, by: 8).map {
            StoreConformance.checks[$0]
        })
    func roundTrip(check: Check) async throws {
        try await check.run(on: CopiedEngine())
    }

    @Test("A database that holds another cloud is refused, and neither is changed")
    func otherCloud() async throws {
        let name = "other_cloud"
        let address = try PostgresEngine.makeDatabase(named: name)
        let other = try PostgresStore.open(at: address, time: .system, randomness: .system)
        try await other.close()
        let file = try await CopiedFile { transaction in
            _ = try transaction.createAccount(named: "anna", at: Instant(rawValue: 7))
        }
        let before = try file.contents()
        await #expect(throws: StoreCopy.Refusal.holdsCloud) {
            try await file.copy(to: PostgresEngine.address(of: name))
        }
        #expect(try file.contents() == before)
        let still = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(still.identity == other.identity)
        #expect(try await still.read { try $0.accountNames() } == [])
        try await still.close()
        file.remove()
    }

    @Test("A copy that was interrupted goes on where it was, and is not served before its end")
    func interrupted() async throws {
        let name = "interrupted"
        let address = try PostgresEngine.makeDatabase(named: name)
        let text = try PostgresEngine.address(of: name)
        let file = try await CopiedFile { transaction in
            for number in 1...3 {
                _ = try transaction.createAccount(named: "anna \(number)", at: Instant(rawValue: 7))
            }
        }
        struct Interrupted: Error {}
        await #expect(throws: Interrupted.self) {
            try await file.copy(to: text) { table, _ in if table == "badge" { throw Interrupted() }
            }
        }
        let error = #expect(throws: StoreOpenError.self) {
            try PostgresStore.open(at: address, time: .system, randomness: .system)
        }
        #expect(error == .unfinishedCopy(path: address.description))
        // It was begun by code whose tables had no such index.
        let admin = try PostgresConnection(address)
        try admin.execute("DROP INDEX notification_named")
        let outcome = try await file.copy(to: text)
        #expect(outcome.rows >= 3)
        var hasIndex = false
        try admin.rows("SELECT to_regclass('notification_named') IS NOT NULL") {
            hasIndex = $0.bool(0)
        }
        #expect(hasIndex)
        admin.close()
        #expect(outcome.unchangedTables > 3)
        let store = try PostgresStore.open(at: address, time: .system, randomness: .system)
        #expect(
            try await store.read { try $0.accountNames() } == ["anna 1", "anna 2", "anna 3"])
        #expect(!store.cameBackOlder)
        // The numbers go on.
        let next = try await store.write(.everything) {
            try $0.createAccount(named: "ben", at: Instant(rawValue: 8))
        }
        #expect(next.rawValue == 4)
        try await store.close()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        file.remove()
    }

    @Test("After a copy no table gives a number that a row has, however SQLite counts them")
    func numbers() async throws {
        let name = "numbers"
        let address = try PostgresEngine.makeDatabase(named: name)
        let file = try await CopiedFile { _ in }
        try file.addRow(numbered: 41)
        try await file.copy(to: PostgresEngine.address(of: name))
        let connection = try PostgresConnection(address)
        var next: [String: Int64] = [:]
        for (table, sequence) in PostgresSchema.sequences {
            try connection.rows("SELECT nextval('\(sequence)')") { next[table] = $0.int(0) }
        }
        #expect(next == PostgresSchema.sequences.mapValues { _ in 42 })
        connection.close()
        file.remove()
    }

    @Test("A database whose cloud was copied away is served no more")
    func copiedAway() async throws {
        let name = "copied_away"
        let address = try PostgresEngine.makeDatabase(named: name)
        let file = try await CopiedFile { transaction in
            _ = try transaction.createAccount(named: "anna", at: Instant(rawValue: 7))
        }
        let before = try file.contents()
        try await file.copy(to: PostgresEngine.address(of: name))
        try await file.copyBack(from: PostgresEngine.address(of: name))
        #expect(try file.contents() == before)
        let error = #expect(throws: StoreOpenError.self) {
            try PostgresStore.open(at: address, time: .system, randomness: .system)
        }
        #expect(error == .migrated(path: address.description))
        file.remove()
    }
}

/// The file of a cloud, in a folder of its own.
private struct CopiedFile {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-copy-\(UUID().uuidString)")

    var path: String { folder.appendingPathComponent(SQLiteFactory.fileName).path }

    init() {}

    /// Makes a cloud with some rows.
    init(_ fill: @escaping @Sendable (any StoreTransaction) throws -> Void) async throws {
        let store = try open()
        try await store.write(.everything, fill)
        try await store.close()
    }

    func open() throws -> SQLiteStore {
        try SQLiteStore.open(at: path, time: .system, randomness: .system)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Adds a row of this number, with values of no meaning, to each table that gives numbers.
    func addRow(numbered number: Int64) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            for table in PostgresSchema.sequences.keys.sorted() {
                let columns = try Row.fetchAll(
                    database, sql: "SELECT name, type, pk FROM pragma_table_info(?)",
                    arguments: [table])
                let values = columns.map { column -> String in
                    if column["pk"] as Int == 1 { return "\(number)" }
                    return switch column["type"] as String {
                    case "INTEGER": "1"
                    case "BLOB": "x'78'"
                    default: "'x'"
                    }
                }
                try database.execute(
                    sql: "INSERT INTO \"\(table)\" VALUES (\(values.joined(separator: ", ")))")
            }
        }
        try queue.close()
    }

    @discardableResult
    func copy(
        to address: String, reporting report: (String, Int) throws -> Void = { _, _ in }
    ) async throws -> StoreCopy.Outcome {
        let source = try SQLiteTables(copying: folder, time: .system, randomness: .system)
        do {
            let target = try PostgresTables(filling: address)
            defer { target.close() }
            return try await StoreCopy(from: source, to: target).run(reporting: report)
        } catch {
            try await source.close()
            throw error
        }
    }

    @discardableResult
    func copyBack(from address: String) async throws -> StoreCopy.Outcome {
        let source = try PostgresTables(copying: address)
        defer { source.close() }
        let target = try SQLiteTables(filling: folder, time: .system, randomness: .system)
        do {
            return try await StoreCopy(from: source, to: target).run { _, _ in }
        } catch {
            try await target.close()
            throw error
        }
    }

    /// All rows, with the type that SQLite keeps each value as, and the numbers given last.
    func contents() throws -> [String: [String]] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { database in
            let tables = try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_schema WHERE type = 'table'
                        AND name NOT IN ('grdb_migrations', 'sqlite_sequence')
                    """)
            var contents: [String: [String]] = [:]
            for table in tables {
                let columns = try database.columns(in: table).map(\.name).sorted()
                let values = columns.map { "quote(\"\($0)\") || typeof(\"\($0)\")" }
                contents[table] = try String.fetchAll(
                    database,
                    sql: "SELECT \(values.joined(separator: " || ', ' || ")) FROM \"\(table)\""
                ).sorted()
            }
            let numbers = try Row.fetchAll(
                database, sql: "SELECT name, seq FROM sqlite_sequence WHERE seq > 0 ORDER BY name")
            contents["sqlite_sequence"] = numbers.filter {
                PostgresSchema.sequences[$0["name"]] != nil
            }.map { "\($0)" }
            return contents
        }
    }
}

/// Stores in files that are copied to PostgreSQL and back when their check is over.
private final class CopiedEngine: StoreEngine {
    private let file = CopiedFile()

    func makeStore() async throws -> any Store { try file.open() }

    func reopen(_ store: any Store) async throws -> any Store {
        try await store.close()
        return try file.open()
    }

    func remove(_ store: any Store) async throws {
        try await store.close()
        defer { file.remove() }
        // A start settles what the check left.
        try await file.open().close()
        let before = try file.contents()
        let address = try PostgresEngine.addressOfNewDatabase()
        try await file.copy(to: address)
        try await file.copyBack(from: address)
        #expect(try file.contents() == before)
    }
}
