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

@Suite("Copies of what containers are, in cells", .hangs)
struct CellCopiesTests {
    /// The tables of which all columns are copied.
    private static let copied = [
        "schema_revision", "field_type", "private_field", "schema_trait", "api_token",
    ]

    @Test("Every cell has the schemas, API tokens and webhooks that the directory has")
    func copies() async throws {
        let cloud = try await CellCloud()
        let webhook = try await cloud.fill()
        for table in Self.copied { try cloud.expectCopies(of: table) }
        try cloud.expectCopies(of: "webhook", without: ["url", "secret"])
        #expect(
            try cloud.rows("SELECT string_agg(encode(url, 'escape'), ',') FROM webhook")
                == ["directory": "https://example.org/hook", "east": "", "west": ""])
        // By a step of another scope, and with less than before.
        try await cloud.store.write(.everything) { transaction throws in
            try transaction.replaceSchema(
                with: SchemaDefinition(
                    types: ["Note": StoredRecordType(fields: ["text": StoredField(.string)])]),
                in: .notes)
            try transaction.removeToken(hash: [7], .api)
        }
        for table in ["schema_revision", "field_type"] { try cloud.expectCopies(of: table) }
        #expect(
            try cloud.counts("SELECT count(*) FROM field_type")
                == ["directory": 1, "east": 1, "west": 1])
        #expect(
            try cloud.counts("SELECT count(*) FROM api_token")
                == ["directory": 1, "east": 1, "west": 1])
        #expect(
            try await cloud.store.write(.catalogue(.notes)) { try $0.removeWebhook(webhook) })
        #expect(
            try cloud.counts("SELECT count(*) FROM webhook")
                == ["directory": 0, "east": 0, "west": 0])
        try await cloud.store.close()
    }

    @Test(
        "A cloud that was spread before cells had copies gets them, and is served by newer code only"
    )
    func older() async throws {
        var cloud = try await CellCloud()
        _ = try await cloud.fill()
        try await cloud.store.close()
        for address in try cloud.addresses() {
            let connection = try PostgresConnection(address)
            for sql in [
                "UPDATE tidebell_schema SET version = 5, oldest_code = CASE cell WHEN 0 THEN 5 ELSE 2 END"
            ] { connection.enqueueOnce(sql) }
            var number: Int64 = 0
            try connection.rows("SELECT cell FROM tidebell_schema") { number = $0.int(0) }
            if number > 0 {
                for table in Self.copied + ["webhook"] {
                    connection.enqueueOnce("DELETE FROM \(table)")
                }
            }
            try connection.sync()
            connection.close()
        }
        cloud = CellCloud(address: cloud.address, store: try CellCloud.open(cloud.address))
        for table in Self.copied {
            try cloud.expectCopies(of: table)
        }
        try cloud.expectCopies(of: "webhook", without: ["url", "secret"])
        #expect(
            try cloud.rows("SELECT version || ' ' || oldest_code FROM tidebell_schema")
                == ["directory": "6 6", "east": "6 6", "west": "6 6"])
        try await cloud.store.close()
    }

    @Test(
        "A copy of a schema that was not made comes when the command is repeated, or with the next start"
    )
    func lostCopies() async throws {
        let cloud = try await CellCloud()
        _ = try await cloud.fill()
        func lose() throws {
            for address in try cloud.addresses().dropFirst() {
                let connection = try PostgresConnection(address)
                defer { connection.close() }
                try connection.execute("DELETE FROM schema_revision")
                try connection.execute("DELETE FROM field_type")
            }
        }
        try lose()
        let schema = try await cloud.store.write(.catalogue(.notes)) {
            try $0.schemaDefinition(of: .notes)
        }
        #expect(schema.types["Note"] != nil)
        for table in Self.copied { try cloud.expectCopies(of: table) }
        try lose()
        try await cloud.store.close()
        try await CellCloud.open(cloud.address).close()
        for table in Self.copied { try cloud.expectCopies(of: table) }
    }
}
