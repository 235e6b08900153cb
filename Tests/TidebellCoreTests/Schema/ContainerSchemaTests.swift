// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellTestStores
import TidebellWire

@Suite("The schema of a container")
struct ContainerSchemaTests {
    /// Asks for the records of type Note with a text in a field; returns what is wrong with
    /// that.
    private func problem(
        withField field: String, _ call: Call, in reader: some StoreReader
    ) -> String? {
        let filter = WireFilter(.equals, .field(field), .string("1"))
        let request = QueryRecords.Request(
            query: WireQuery(recordType: "Note", filters: [filter]),
            zoneID: ZoneID(zoneName: "Notes")
        )
        do {
            _ = try QueryRecords.run(request, for: call, in: reader)
            return nil
        } catch {
            return (error as? WireError)?.reason ?? "\(error)"
        }
    }

    private func problem(
        withField field: String, _ call: Call, in store: any Store
    ) async throws -> String? {
        try await store.read { problem(withField: field, call, in: $0) }
    }

    private static let noType = "Did not find record type: Note"

    private func noField(_ name: String) -> String {
        "query: filterBy[0], EQUALS on '\(name)': Did not find field: '\(name)' in type 'Note'"
    }

    @Test("ENV-1: what one process adds, another one that remembers the schema sees at once")
    func twoProcesses() async throws {
        let bench = try await Bench()
        let other = try TestStores.open(in: bench.folder, for: .administering)
        var (here, there) = (bench.call(), bench.call())
        here.schemas = SchemaCache()
        there.schemas = SchemaCache()
        try await bench.makeZone("Notes")
        #expect(try await problem(withField: "title", there, in: other) == Self.noType)
        try await bench.modify(.save(.create, "a", title: "1"), call: here)
        #expect(try await problem(withField: "title", there, in: other) == nil)
        #expect(there.schemas.size == 3)
        #expect(try await problem(withField: "colour", there, in: other) == noField("colour"))
        let colour = ["colour": Field?.some(Field(.string("red")))]
        try await bench.modify(.save(.create, "b", fields: colour), call: here)
        #expect(try await problem(withField: "colour", there, in: other) == nil)
        // And the other way.
        #expect(try await problem(withField: "shade", here, in: bench.store) == noField("shade"))
        let save = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "Notes"),
            operations: [.save(.create, "c", fields: ["shade": Field(.string("dark"))])]
        )
        try await other.write(.everything) { [there] in
            _ = try ModifyRecords.run(save, for: there, in: $0)
        }
        #expect(try await problem(withField: "shade", here, in: bench.store) == nil)
        #expect(here.schemas.size == 5)
        try await other.close()
    }

    @Test("ENV-1: what a transaction added that was undone is nowhere")
    func undone() async throws {
        struct Undone: Error {}
        let bench = try await Bench()
        var call = bench.call()
        call.schemas = SchemaCache()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "1"), call: call)
        let number = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "Notes"),
            operations: [.save(.create, "b", fields: ["size": Field(.int64(1))])]
        )
        await #expect(throws: Undone.self) {
            try await bench.store.write(.everything) { [call] transaction in
                _ = try ModifyRecords.run(number, for: call, in: transaction)
                // Now the field is remembered as a number.
                let problem = problem(withField: "size", call, in: transaction)
                #expect(problem?.contains("expected type INT64") == true)
                throw Undone()
            }
        }
        #expect(try await problem(withField: "size", call, in: bench.store) == noField("size"))
        try await bench.modify(
            .save(.create, "b", fields: ["size": Field(.string("1"))]), call: call
        )
        #expect(try await problem(withField: "size", call, in: bench.store) == nil)
    }

    // MARK: What is remembered

    @Test("A type is read once while its schema stays, whoever asks")
    func readOnce() async throws {
        let bench = try await Bench()
        let call = bench.call()
        try await bench.store.write(.everything) { transaction in
            let type = StoredRecordType(fields: ["a": StoredField(.string)])
            try transaction.addRecordTypes(["Note": type, "Game": type], in: Bench.container)
            let reader = CountingReader(transaction)
            _ = try reader.schema(of: ["Note"], inDatabaseOf: nil, for: call)
            _ = try reader.schema(of: ["Note"], inDatabaseOf: nil, for: call)
            #expect(reader.typesRead == ["Note"])
            _ = try reader.schema(of: ["Note", "Game"], inDatabaseOf: nil, for: call)
            #expect(reader.typesRead == ["Note", "Game"])
            let added = StoredRecordType(fields: ["b": StoredField(.int64)])
            try transaction.addRecordTypes(["Note": added], in: Bench.container)
            let schema = try reader.schema(of: ["Note"], inDatabaseOf: nil, for: call)
            #expect(reader.typesRead == ["Note", "Game", "Note"])
            #expect(schema.awaited("Note").fields?.keys.sorted() == ["a", "b"])
        }
    }

    @Test("LIMIT-20: no more is remembered than the bound allows; what nobody asked for goes first")
    func bounded() async throws {
        let bench = try await Bench()
        let fields = Dictionary(
            uniqueKeysWithValues: (1...4).map { ("f\($0)", StoredField(.string)) }
        )
        let cache = SchemaCache(capacity: 14)
        let containers = (0..<3).map {
            ContainerKey(container: "iCloud.org.tidebell.tests\($0)", environment: .production)
        }
        let calls = containers.map { container in
            var call = bench.call(container: container)
            call.schemas = cache
            return call
        }
        try await bench.store.write(.everything) { transaction in
            for container in containers {
                try transaction.addRecordTypes(
                    ["Note": StoredRecordType(fields: fields)], in: container)
            }
            let wide = Dictionary(
                uniqueKeysWithValues: (1...13).map { ("f\($0)", StoredField(.string)) }
            )
            try transaction.addRecordTypes(
                ["Wide": StoredRecordType(fields: wide)], in: containers[0])
            func isRead(_ call: Call, type: String = "Note") throws -> Bool {
                let reader = CountingReader(transaction)
                let schema = try reader.schema(of: [type], inDatabaseOf: nil, for: call)
                #expect(schema.awaited(type).fields == (type == "Note" ? fields : wide))
                #expect(cache.size <= 14)
                return !reader.typesRead.isEmpty
            }
            #expect(try [0, 1, 0, 2].map { try isRead(calls[$0]) } == [true, true, false, true])
            #expect(try [0, 2, 1].map { try isRead(calls[$0]) } == [false, false, true])
            // Larger than the bound: never remembered, and right all the same.
            #expect(try isRead(calls[0], type: "Wide"))
            #expect(try isRead(calls[0], type: "Wide"))
        }
    }

    @Test("H8: asking for types of containers that have none costs the cache nothing")
    func nothingIsNotKept() async throws {
        let bench = try await Bench()
        let cache = SchemaCache(capacity: 14)
        try await bench.store.read { reader in
            for number in 0..<20 {
                let container = ContainerKey(
                    container: "iCloud.org.tidebell.made-up\(number)", environment: .production
                )
                var call = bench.call(container: container)
                call.schemas = cache
                _ = try reader.schema(of: ["Note"], inDatabaseOf: nil, for: call)
            }
        }
        #expect(cache.containers.isEmpty && cache.size == 0)
    }

    @Test("H8: containers count for the cache's bound, those asked for least recently go")
    func containersCount() {
        let cache = SchemaCache(capacity: 16)
        let containers = (0..<100).map {
            ContainerKey(container: "iCloud.org.tidebell.tests\($0)", environment: .production)
        }
        for container in containers {
            cache.keep(
                ["Empty": StoredRecordType()], in: container, at: SchemaRevision(rawValue: [1]))
            #expect(cache.size <= 16)
        }
        // Each counts two: itself and its type.
        #expect(cache.containers.count <= 8)
        #expect(cache.containers.isSubset(of: containers.suffix(8)))
    }

    // MARK: Growth

    private static let deployed = ContainerSchema(
        ["Note": StoredRecordType(fields: ["title": StoredField(.string)])],
        of: ContainerKey(container: "iCloud.org.example.app", environment: .production)
    )
    private static let advice =
        "; once development has it, deploy it: tidebell schema deploy iCloud.org.example.app"

    @Test(
        "ENV-1: a schema that grows by deployment refuses types and fields it does not know",
        arguments: [
            ("Note", ["title"], nil),
            ("Game", ["title"], "Cannot create new type Game in production schema"),
            ("Game", [], "Cannot create new type Game in production schema"),
            (
                "Note", ["title", "size"],
                "Cannot create or modify field 'size' in record 'Note' in production schema"
            ),
        ] as [(String, [String], String?)]
    )
    func deployedSchema(type: String, fields: [String], reason: String?) throws {
        let changes = FieldChanges(
            Dictionary(uniqueKeysWithValues: fields.map { ($0, Field(.string("1"))) })
        )
        do {
            let conformed = try Self.deployed.conform(
                changes, of: type, in: .private, limits: Limits()
            )
            #expect(reason == nil)
            #expect(conformed.additions.isEmpty)
        } catch let error as WireError {
            #expect(error == .badRequest(reason.map { $0 + Self.advice } ?? "nothing"))
        }
    }

    @Test("ENV-1: a subscription waits for fields only where saving makes them")
    func awaitedFields() throws {
        let growing = ContainerSchema([:], of: Bench.container)
        #expect(growing.awaited("Note").problem(withUnknown: "size") == nil)
        #expect(
            Self.deployed.awaited("Note").problem(withUnknown: "size")
                == "Did not find field: 'size' in type 'Note'" + Self.advice
        )
    }
}

/// Reads schemas from a store and counts what it reads.
private final class CountingReader: SchemaReading {
    private let base: any SchemaReading
    /// The types whose fields were read.
    private(set) var typesRead: [String] = []

    init(_ base: any SchemaReading) { self.base = base }

    func recordTypes(
        _ names: Set<String>, in container: ContainerKey
    ) throws -> [String: StoredRecordType] {
        typesRead += names.sorted()
        return try base.recordTypes(names, in: container)
    }

    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision {
        try base.schemaRevision(of: container)
    }

    func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String] {
        try base.recordTypeNames(in: container, limit: limit)
    }

    func privateFields(
        of user: UserID, in types: Set<String>, _ container: ContainerKey
    ) throws -> [String: [String: StoredField]] {
        try base.privateFields(of: user, in: types, container)
    }

    func differingPrivateFields(
        in container: ContainerKey, limit: Int
    ) throws -> [DifferingPrivateField] {
        try base.differingPrivateFields(in: container, limit: limit)
    }

    func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition {
        try base.schemaDefinition(of: container)
    }

    func queryUses(in container: ContainerKey, limit: Int) throws -> [QueryUse] {
        try base.queryUses(in: container, limit: limit)
    }

    func schemaDeployments(
        to container: ContainerKey, limit: Int
    ) throws -> [SchemaDeployment] {
        try base.schemaDeployments(to: container, limit: limit)
    }
}
