// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling
import TidebellWire

@testable import StoreConformance
@testable import TidebellPostgres

/// A cloud in three cells, of which the directory takes nothing new.
struct CellCloud {
    let address: String
    let store: any OpenedStore

    init(as node: NodeName? = nil) async throws {
        address = try PostgresEngine.addressOfNewDatabase()
        try PostgresEngine.addCells(to: address)
        store = try Self.open(address, as: node)
    }

    static func open(_ address: String, as node: NodeName? = nil) throws -> any OpenedStore {
        try PostgresFactory(address, as: node).open(
            in: FileManager.default.temporaryDirectory, for: .serving, bounds: StoreBounds(),
            time: .system, randomness: .system)
    }

    /// Creates an account with a user and a session.
    func add(_ name: String, _ hash: UInt8) async throws -> (StoredUser, SessionID) {
        try await store.write(.account(nil)) { transaction throws in
            let account = try transaction.createAccount(named: name, at: .noon)
            try transaction.begin(hash, of: account)
            let user = try transaction.makeUser(
                of: account, in: .notes, recordName: "_\(name)", at: .noon)
            return (user, SessionID(beginningWith: .digest(hash), in: account.cell))
        }
    }

    /// What a statement counts in each cell.
    func counts(_ sql: String) throws -> [String: Int64] {
        try rows(sql).mapValues { Int64($0) ?? -1 }
    }

    /// The only row of a statement's in each cell, as a text.
    func rows(_ sql: String) throws -> [String: String] {
        let directory = try PostgresConnection(PostgresAddress(address))
        defer { directory.close() }
        return try CellDirectory.cells(on: directory).reduce(into: [:]) { found, cell in
            let connection = try PostgresConnection(PostgresAddress(cell.address ?? address))
            defer { connection.close() }
            try connection.rows("SELECT (\(sql))::text") { found[cell.name] = $0.string(0) }
        }
    }

    /// Fails where a cell has other rows of a table than the directory, but for some columns.
    func expectCopies(
        of table: String, without columns: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let names = columns.map { " - '\($0)'" }.joined()
        let found = try rows(
            """
            SELECT count(*) || coalesce(json_agg(to_jsonb(t)\(names) ORDER BY to_jsonb(t)\(names)), '[]')::text
            FROM \(table) AS t
            """)
        #expect(found.count == 3, sourceLocation: sourceLocation)
        #expect(
            Set(found.values).count == 1, "\(table): \(found)", sourceLocation: sourceLocation)
        #expect(found["directory"] != "0[]", "\(table)", sourceLocation: sourceLocation)
    }
}

extension CellCloud {
    init(address: String, store: any OpenedStore) {
        (self.address, self.store) = (address, store)
    }

    /// Where the cells are, the directory first.
    func addresses() throws -> [PostgresAddress] {
        let directory = try PostgresConnection(PostgresAddress(address))
        defer { directory.close() }
        return try CellDirectory.cells(on: directory).map {
            try PostgresAddress($0.address ?? address)
        }
    }

    /// Where the cell of somebody's account is.
    func address(of user: StoredUser) throws -> PostgresAddress {
        try addresses()[user.account.cell.rawValue]
    }

    /// The name of the cell of somebody's account.
    func name(of user: StoredUser) -> String {
        ["directory", "east", "west"][user.account.cell.rawValue]
    }

    /// Makes a schema, two API tokens and a webhook.
    func fill() async throws -> WebhookID {
        try await store.write(.catalogue(.notes)) {
            try $0.addRecordTypes(
                [
                    "Note": StoredRecordType(fields: ["text": StoredField(.string)]),
                    "List": StoredRecordType(
                        fields: ["name": StoredField(.string), "at": StoredField(.timestamp)],
                        grants: RecordGrants(["_world": .read])),
                ], in: .notes)
        }
        let (anna, _) = try await add("owner of fields", 5)
        try await store.write(.catalogue(.notes)) {
            try $0.addRecordTypes(
                ["Note": StoredRecordType(fields: ["own": StoredField(.string, fixedBy: anna.id)])],
                in: .notes)
        }
        let (ben, _) = try await add("another", 6)
        try await store.write(.catalogue(.notes)) {
            try $0.addRecordTypes(
                ["Note": StoredRecordType(fields: ["own": StoredField(.int64, fixedBy: ben.id)])],
                in: .notes)
        }
        try await store.write(.store) { transaction throws in
            for hash in [UInt8(7), 8] {
                try transaction.putToken(
                    StoredToken(hash: [hash], name: "app", container: .notes, createdAt: .noon),
                    .api)
            }
        }
        return try await store.write(.catalogue(.notes)) {
            try $0.createWebhook(
                for: .notes, url: "https://example.org/hook", secret: [1, 2], at: .noon
            ).id
        }
    }
}

extension [UInt8] {
    /// What stands for the hash of a token.
    static func digest(_ byte: UInt8) -> [UInt8] {
        [UInt8](repeating: byte, count: 32)
    }
}

extension SessionWriting {
    /// Begins a session with a token of this hash.
    func begin(
        _ hash: UInt8, of account: AccountID, with parent: SessionID? = nil
    ) throws {
        try putWebToken(
            StoredWebToken(
                account: account, expiresAt: .noon.advanced(by: .seconds(7200)),
                session: SessionID(beginningWith: .digest(hash), in: account.cell), parent: parent,
                createdAt: .noon.advanced(by: .seconds(Int(hash)))),
            hash: .digest(hash))
    }
}
