// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import StoreConformance
import TidebellCore

@testable import TidebellSQL
@testable import TidebellSQLite

/// Stores in folders of their own below the temporary folder.
struct SQLiteEngine: StoreEngine {
    /// How its stores number their outboxes.
    var outboxNumbers = OutboxNumbers.shared

    func makeStore() async throws -> any Store {
        try SQLiteStore.open(at: Self.newPath(), outboxNumbers: outboxNumbers)
    }

    func reopen(_ store: any Store) async throws -> any Store {
        try await store.close()
        return try SQLiteStore.open(at: Self.path(of: store), outboxNumbers: outboxNumbers)
    }

    func remove(_ store: any Store) async throws {
        try await store.close()
        let path = try Self.path(of: store)
        try FileManager.default.removeItem(
            at: URL(fileURLWithPath: path).deletingLastPathComponent()
        )
    }

    /// A path in a folder that does not exist yet.
    static func newPath() -> String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-store-\(UUID().uuidString)/tidebell.sqlite").path
    }

    /// Makes the file of a store as an older version left it.
    static func makeStore(at path: String, ofVersion version: Int, _ sql: String...) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            try database.execute(sql: "PRAGMA user_version = \(version)")
            for sql in sql { try database.execute(sql: sql) }
        }
        try queue.close()
    }

    private static func path(of store: any Store) throws -> String {
        guard let store = store as? SQLiteStore else { throw WrongEngine() }
        return store.pool.path
    }
}

private struct WrongEngine: Error {}
