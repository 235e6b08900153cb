// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
    import CloudKit
    import Foundation
    import Testing
    import TidebellTesting

    /// What production would refuse is found by tests.
    @Suite("The schema of production")
    struct SchemaTests {
        /// Writes a file as CloudKit's console and `cktool` export it, and removes it again.
        private func withSchemaFile(_ body: (String) async throws -> Void) async throws {
            let file = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidebell-\(UUID()).ckdb")
            let schema = """
                DEFINE SCHEMA RECORD TYPE Note (
                    text STRING QUERYABLE, GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud",
                    GRANT READ TO "_world"
                );
                """
            try Data(schema.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            try await body(file.path)
        }

        private func note(_ field: String) -> CKRecord {
            let note = CKRecord(recordType: "Note")
            note[field] = "milk"
            return note
        }

        @Test("ENV-1: a field that the file lacks is refused")
        func production() async throws {
            try await withSchemaFile { schemaFile in
                let cloud = try await TestCloud(environment: .production, schema: schemaFile)
                let database = try await cloud.device(user: "anna").container().privateCloudDatabase
                try await database.save(note("text"))
                let error = await #expect(throws: CKError.self) {
                    try await database.save(note("colour"))
                }
                #expect(error?.code == .invalidArguments)
            }
        }

        @Test("ENV-2: what a test used and the file lacks fails it at the end")
        func development() async throws {
            try await withSchemaFile { schemaFile in
                let cloud = try await TestCloud()
                let database = try await cloud.device(user: "anna").container().privateCloudDatabase
                try await database.save(note("text"))
                try await cloud.checkSchema(schemaFile)
                try await database.save(note("colour"))
                await #expect(throws: TestCloudError.self) {
                    try await cloud.checkSchema(schemaFile)
                }
            }
        }

        @Test("QUERY-14: a query looks at no more than it must")
        func cost() async throws {
            let cloud = try await TestCloud()
            let phone = try await cloud.device(user: "anna")
            try await phone.container().privateCloudDatabase.save(note("text"))
            let query = CKQuery(
                recordType: "Note", predicate: NSPredicate(format: "text == 'milk'"))
            let explained = try await cloud.explain(query, on: phone)
            #expect(explained.recordsLookedAt < 100, "\(explained)")
        }
    }
#endif
