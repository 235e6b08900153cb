// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("A schema on its way to production")
struct SchemaDeploymentTests {
    private static let name = Bench.container.container
    private static let production = ContainerKey(container: name, environment: .production)

    private let bench: Bench
    /// Anna in production.
    private let released: StoredUser

    init() async throws {
        let bench = try await Bench()
        self.bench = bench
        released = try await bench.store.write(.everything) {
            try $0.makeUser(
                of: bench.anna.account, in: Self.production,
                recordName: "_" + String(repeating: "b", count: 32), at: Instant(rawValue: 0))
        }
    }

    private func call(limits: Limits = Limits()) -> Call {
        bench.call(released, limits: limits, container: Self.production)
    }

    @discardableResult
    private func deploy() async throws -> DeploySchema.Outcome {
        try await bench.store.write(.catalogue(Self.production)) {
            try DeploySchema.run(Self.name, by: "anna", at: Instant(rawValue: 7), in: $0)
        }
    }

    private func importSchema(_ text: String) async throws -> [String] {
        try await bench.store.write(.catalogue(Bench.container)) {
            try ImportSchema.run(text, into: Self.name, limits: Limits(), in: $0)
                .changes.map(\.line)
        }
    }

    private func save(
        _ fields: [String: Field?], type: String = "Note", _ call: Call
    ) async throws -> String? {
        let operation = ModifyRecords.Operation(
            .forceUpdate, recordName: "a", recordType: type, fields: FieldChanges(fields))
        return try await bench.modify(operation, zone: "_defaultZone", call: call)[0].error?.reason
    }

    private static let advice =
        "; once development has it, deploy it: tidebell schema deploy iCloud.org.tidebell.tests"

    @Test("ENV-1, ENV-2: production has what was deployed, and no records with it")
    func deployment() async throws {
        let title = ["title": Field?.some(Field(.string("tide")))]
        #expect(
            try await save(title, call())
                == "Cannot create new type Note in production schema" + Self.advice)
        #expect(try await save(title, bench.call()) == nil)
        let outcome = try await deploy()
        let lines = [
            "+ RECORD TYPE Note", "+ Note.___createTime QUERYABLE SORTABLE",
            "+ Note.___createdBy QUERYABLE", "+ Note.___modTime QUERYABLE SORTABLE",
            "+ Note.___modifiedBy QUERYABLE", "+ Note.___recordID QUERYABLE SORTABLE",
            "+ Note.title STRING QUERYABLE SORTABLE SEARCHABLE",
        ]
        #expect(outcome.plan.changes.map(\.line) == lines)
        #expect(
            outcome.deployment
                == SchemaDeployment(
                    number: 1, deployedAt: 7, author: "anna", changes: lines))
        #expect(
            try await bench.lookup("a", zone: "_defaultZone", call: call())[0].error?.code
                == .notFound)
        #expect(try await save(title, call()) == nil)
        #expect(
            try await save(["size": Field(.int64(1))], call())
                == "Cannot create or modify field 'size' in record 'Note' in production schema"
                + Self.advice)
        // Nothing is left to deploy.
        #expect(try await deploy().deployment == nil)
        let kept = try await bench.store.read { try ListDeployments.run(Self.name, in: $0) }
        #expect(kept.map(\.number) == [1])
    }

    @Test("ENV-3: a deployment that would change a field's type deploys nothing, and says why")
    func refusal() async throws {
        _ = try await save(["size": Field(.int64(1))], bench.call())
        try await deploy()
        try await bench.store.write(.catalogue(Bench.container)) {
            try $0.replaceSchema(
                with: SchemaDefinition(types: [
                    "Note": StoredRecordType(fields: ["size": StoredField(.string)]),
                    "Game": StoredRecordType(),
                ]), in: Bench.container)
        }
        let error = await #expect(throws: OperatorError.self) { try await deploy() }
        #expect(
            error?.description
                == "Nothing was deployed to iCloud.org.tidebell.tests: the field Note.size is INT64 "
                + "in production, where records may have it, and cannot become STRING.")
        #expect(error?.remedy == .showSchemaDifferences(container: Self.name))
        let types = try await bench.store.read {
            try $0.recordTypeNames(in: Self.production, limit: 9)
        }
        #expect(types == ["Note"])
    }

    @Test("ENV-3: what development lost since stays in production")
    func kept() async throws {
        _ = try await save(["size": Field(.int64(1))], bench.call())
        try await deploy()
        try await bench.store.write(.catalogue(Bench.container)) {
            try $0.replaceSchema(
                with: SchemaDefinition(types: ["Game": StoredRecordType(systemIndexes: [:])]),
                in: Bench.container)
        }
        let outcome = try await deploy()
        #expect(outcome.plan.changes.map(\.line) == ["+ RECORD TYPE Game"])
        #expect(outcome.plan.kept.map(\.line) == ["- RECORD TYPE Note"])
        #expect(try await save(["size": Field(.int64(2))], call()) == nil)
    }

    @Test("An import is the whole schema, and refuses to lose what production has, with the place")
    func imports() async throws {
        _ = try await save(["size": Field(.int64(1)), "old": Field(.int64(1))], bench.call())
        let note = "DEFINE SCHEMA\nRECORD TYPE Note (\n    size INT64 SORTABLE\n);"
        let changes = try await importSchema(note)
        #expect(changes.contains("- Note.old INT64 QUERYABLE SORTABLE"))
        #expect(changes.contains("- Note.size QUERYABLE"))
        #expect(changes.contains("- Note GRANT READ TO _world"))
        try await deploy()
        for (text, problem) in [
            (
                "DEFINE SCHEMA",
                "the record type Note is deployed to production, and cannot be deleted (ENV-3)"
            ),
            (
                "DEFINE SCHEMA\nRECORD TYPE Note ();",
                "line 2, column 13: the field Note.size is deployed to production, and cannot be "
                    + "deleted (ENV-3)"
            ),
            (
                "DEFINE SCHEMA\nRECORD TYPE Note (\n  size STRING\n);",
                "line 3, column 3: the field Note.size is INT64 in production, where records may "
                    + "have it, and cannot become STRING"
            ),
        ] {
            let error = await #expect(throws: OperatorError.self) {
                _ = try await importSchema(text)
            }
            #expect(
                error?.description
                    == "Nothing was imported into iCloud.org.tidebell.tests: \(problem).")
        }
        let syntax = await #expect(throws: OperatorError.self) {
            _ = try await importSchema("DEFINE SCHEMA x")
        }
        #expect(
            syntax?.description
                == "The schema cannot be read, line 1, column 15: expected RECORD TYPE or the end of "
                + "the file, found 'x'.")
    }

    @Test("H9: a field that somebody took in development is free again after an import")
    func undone() async throws {
        for scope in [DatabaseScope.private, .public] {
            _ = try await save(["total": Field(.int64(1))], bench.call(bench.otto, scope: scope))
        }
        #expect(
            try await save(["total": Field(.string("one"))], bench.call())
                == "Invalid value, expected type INT64. (field 'total' of record type 'Note', given "
                + "as STRING)")
        _ = try await importSchema("DEFINE SCHEMA RECORD TYPE Note (total STRING QUERYABLE);")
        #expect(try await save(["total": Field(.string("one"))], bench.call()) == nil)
        // What otto had stands as it is, and does not pass what asks for a text.
        let filter = WireFilter(.equals, .field("total"), .string("one"))
        for (user, names) in [(bench.anna, ["a"]), (bench.otto, [])] {
            let request = QueryRecords.Request(
                query: WireQuery(recordType: "Note", filters: [filter]))
            let call = bench.call(user)
            let page = try await bench.store.read {
                try QueryRecords.run(request, for: call, in: $0)
            }
            #expect(page.records.compactMap(\.record?.recordName) == names)
        }
    }

    @Test("H9: what private records took in development, production takes from the operator alone")
    func untaken() async throws {
        // Otto has read the next version's source.
        _ = try await save(["total": Field(.int64(1))], bench.call(bench.otto))
        // In production nobody's save fixes anything, whatever development has.
        for scope in [DatabaseScope.private, .public] {
            let call = bench.call(released, scope: scope, container: Self.production)
            #expect(
                try await save(["total": Field(.int64(1))], call)
                    == "Cannot create new type Note in production schema" + Self.advice)
        }
        // Before it is deployed, the operator sees it and puts it right.
        let plan = try await bench.store.read { try DeploySchema.plan(Self.name, in: $0) }
        #expect(plan.changes.map(\.line).contains("+ Note.total INT64 QUERYABLE SORTABLE"))
        _ = try await importSchema("DEFINE SCHEMA RECORD TYPE Note (total STRING QUERYABLE);")
        try await deploy()
        #expect(try await save(["total": Field(.string("one"))], call()) == nil)
        // From now on nobody takes it any more, in development either: an import that changed it
        // would be refused.
        #expect(
            try await save(["total": Field(.int64(1))], bench.call(bench.otto))
                == "Invalid value, expected type STRING. (field 'total' of record type 'Note', "
                + "given as INT64)")
    }

    // MARK: Indexes

    private func query(
        _ filters: [WireFilter], sorts: [WireSort] = [], type: String = "Note", _ call: Call
    ) async throws -> String? {
        let request = QueryRecords.Request(
            query: WireQuery(recordType: type, filters: filters, sorts: sorts))
        do {
            _ = try await bench.store.read { try QueryRecords.run(request, for: call, in: $0) }
            return nil
        } catch let error as WireError { return error.reason }
    }

    @Test(
        "QUERY-14: a query needs the indexes it uses, and the error names the command that adds one"
    )
    func indexes() async throws {
        _ = try await importSchema(
            """
            DEFINE SCHEMA RECORD TYPE Note (
                title STRING QUERYABLE, size INT64 SORTABLE, text STRING SEARCHABLE
            );
            """)
        try await deploy()
        let (title, size) = (
            WireFilter(.equals, .field("title"), .string("a")),
            WireFilter(.lessThan, .field("size"), .int64(1))
        )
        #expect(try await query([title], sorts: [WireSort(.field("size"))], call()) == nil)
        #expect(try await query([size], call()) == nil)
        let words = WireFilter(.containsAllTokens, .field("text"), .string("a"))
        #expect(try await query([words], call()) == nil)
        func advice(_ field: String, _ index: String) -> String {
            "; if development has the index, deploy it: tidebell schema deploy \(Self.name); else "
                + "add it there first: tidebell schema index \(Self.name) Note.\(field) \(index)"
        }
        #expect(
            try await query([], call())
                == "Field 'recordName' is not marked queryable" + advice("___recordID", "QUERYABLE")
        )
        #expect(
            try await query([title], sorts: [WireSort(.system(.createdTimestamp))], call())
                == "Field '___createTime' is not marked sortable"
                + advice("___createTime", "SORTABLE"))
        #expect(
            try await query([WireFilter(.equals, .field("size"), .int64(1))], call())
                == "Field 'size' is not marked queryable" + advice("size", "QUERYABLE"))
        #expect(
            try await query([WireFilter(.equals, .field("text"), .string("a"))], bench.call())
                == "Field 'text' is not marked queryable; mark it: tidebell schema index "
                + "\(Self.name) Note.text QUERYABLE")
        // The command mends it, in development and then in production.
        _ = try await bench.store.write(.catalogue(Bench.container)) {
            try IndexField.run(.queryable, on: "recordName", of: "Note", in: Self.name, in: $0)
        }
        #expect(try await query([], bench.call()) == nil)
        let outcome = try await deploy()
        #expect(outcome.plan.changes.map(\.line) == ["+ Note.___recordID QUERYABLE"])
        #expect(try await query([], call()) == nil)
    }

    @Test("QUERY-15: development indexes all that queries can use, and deploys it so")
    func automaticIndexes() async throws {
        _ = try await save(["title": Field(.string("tide"))], bench.call())
        try await deploy()
        let title = WireFilter(.beginsWith, .field("title"), .string("a"))
        for call in [bench.call(), call()] {
            let sorts = [WireSort(.field("title")), WireSort(.system(.modifiedTimestamp))]
            #expect(try await query([title], sorts: sorts, call) == nil)
            #expect(try await query([], call) == nil)
        }
    }

    @Test("QUERY-20: a type that was not deployed is not found in production, with what to do")
    func unknownType() async throws {
        #expect(
            try await query([], type: "Game", call())
                == "Did not find record type: Game" + Self.advice)
    }

    @Test("SUB-41, SUB-43: production takes the query subscriptions whose type and indexes it has")
    func subscriptions() async throws {
        func subscribe(
            _ id: String, type: String = "Note", _ filters: [WireFilter], _ call: Call
        ) async throws -> String? {
            var subscription = WireSubscription(
                subscriptionID: id, kind: .query, recordType: type, firesOn: [.create],
                notificationInfo: WireNotificationInfo())
            subscription.filters = filters
            return try await bench.subscribe(subscription, call).error?.reason
        }
        let words = "attempting to create a subscription in a production container: "
        #expect(
            try await subscribe("s", [], call())
                == words + "it has no record type 'Note'" + Self.advice)
        #expect(try await subscribe("s", [], bench.call()) == nil)
        _ = try await importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, size INT64);")
        try await deploy()
        let title = WireFilter(.equals, .field("title"), .string("a"))
        #expect(try await subscribe("s", [title], call()) == nil)
        // NB: what every record passes needs no index (SUB-42).
        #expect(try await subscribe("all", [], call()) == nil)
        let size = WireFilter(.equals, .field("size"), .int64(1))
        #expect(
            try await subscribe("t", [size], call())
                == words + "Field 'size' is not marked queryable; if development has the index, "
                + "deploy it: tidebell schema deploy \(Self.name); else add it there first: "
                + "tidebell schema index \(Self.name) Note.size QUERYABLE")
    }

    @Test(
        "SUB-26, SUB-42: who deploys, imports or checks is told of the subscriptions it silences, and how many"
    )
    func subscriptionsInUse() async throws {
        let schemas = Schemas(store: bench.store)
        let marked = "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, size INT64 SORTABLE);"
        let plain = "DEFINE SCHEMA RECORD TYPE Note (title STRING, size INT64 SORTABLE);"
        func subscribe(_ id: String, _ filters: [WireFilter], _ call: Call) async throws {
            var subscription = WireSubscription(
                subscriptionID: id, kind: .query, recordType: "Note", firesOn: [.create],
                notificationInfo: WireNotificationInfo())
            subscription.filters = filters
            #expect(try await bench.subscribe(subscription, call).error == nil)
        }
        func title(_ text: String) -> WireFilter {
            WireFilter(.equals, .field("title"), .string(text))
        }
        _ = try await schemas.import(marked, into: Self.name)
        _ = try await schemas.deploy(Self.name, by: "anna", at: Instant(rawValue: 1))
        for user in [bench.anna, bench.otto] {
            try await subscribe("a", [title("x")], bench.call(user))
        }
        try await subscribe("b", [title("y")], call())
        try await subscribe("c", [WireFilter(.lessThan, .field("size"), .int64(1))], call())
        try await subscribe("all", [], call())

        let words = "Note: title == %@ without the index QUERYABLE of Note.title"
        let validated = try await schemas.validate(plain, for: Self.name)
        #expect(validated.silenced == ["the 2 subscriptions \(words)"])
        #expect(try await schemas.import(plain, into: Self.name) == validated)
        let plan = try await schemas.diff(Self.name)
        #expect(plan.silenced == ["the subscription \(words)"])
        #expect(plan.unserved == ["the 2 subscriptions \(words)"])
        #expect(
            plan.warnings == [
                "no longer fires: the subscription \(words)",
                "would not fire in production: the 2 subscriptions \(words)",
            ])
        #expect(
            try await schemas.deploy(Self.name, by: "anna", at: Instant(rawValue: 2)).plan == plan)
        #expect(
            try await schemas.check(Self.name).map(\.description) == [
                "the index QUERYABLE of Note.title, for the 2 subscriptions Note: title == %@"
            ])
        // What is silent is silenced once, and what it asks for can come back.
        #expect(try await schemas.diff(Self.name).silenced == [])
        #expect(try await schemas.import(marked, into: Self.name).silenced == [])
        #expect(try await schemas.diff(Self.name).unserved == [])
        #expect(try await schemas.check(Self.name).count == 1)
    }

    @Test("QUERY-5: self CONTAINS looks at searchable fields alone, by an index and without one")
    func searchedFields() async throws {
        _ = try await importSchema(
            """
            DEFINE SCHEMA RECORD TYPE Note (
                title STRING SEARCHABLE, text STRING, tags LIST<STRING> SEARCHABLE
            );
            """)
        func note(_ title: String, _ text: String, _ tag: String) async throws {
            let operation = ModifyRecords.Operation(
                .create, recordName: title, recordType: "Note",
                fields: FieldChanges([
                    "title": Field(.string(title)), "text": Field(.string(text)),
                    "tags": Field(.list(.stringList, [.string(tag)])),
                ]))
            #expect(
                try await bench.modify(operation, zone: "_defaultZone", call: bench.call())[0]
                    .error == nil)
        }
        try await note("tide", "bell", "sea")
        try await note("bell", "tide", "sea")
        try await note("moor", "moor", "tide")
        func found(_ word: String) async throws -> [String] {
            let request = QueryRecords.Request(
                query: WireQuery(
                    recordType: "Note",
                    filters: [WireFilter(.containsAllTokens, .allText, .string(word))]))
            let call = bench.call()
            return try await bench.store.read { try QueryRecords.run(request, for: call, in: $0) }
                .records.compactMap(\.record?.recordName)
        }
        #expect(try await found("tide") == ["tide", "moor"])
        #expect(try await found("bell") == ["bell"])
        #expect(try await found("tide sea") == ["tide"])
        // By an index it is the same.
        try await bench.buildIndex("words", in: "_defaultZone")
        #expect(try await found("tide") == ["tide", "moor"])
        #expect(try await found("tide sea") == ["tide"])
        // A field that becomes searchable is searched from then on, one that is no more is not.
        _ = try await importSchema(
            "DEFINE SCHEMA RECORD TYPE Note (title STRING, text STRING SEARCHABLE, tags LIST<STRING>);"
        )
        #expect(try await found("tide") == ["bell"])
    }

    @Test("SUB-27: in production a subscription shows fields that its type has")
    func desiredKeys() async throws {
        _ = try await save(["title": Field(.string("tide"))], bench.call())
        try await deploy()
        func subscribe(_ keys: [String], _ call: Call) async throws -> String? {
            var info = WireNotificationInfo()
            info.desiredKeys = keys
            let subscription = WireSubscription(
                subscriptionID: "s", kind: .query, recordType: "Note", firesOn: [.create],
                notificationInfo: info)
            return try await bench.subscribe(subscription, call).error?.reason
        }
        #expect(try await subscribe(["title"], call()) == nil)
        #expect(
            try await subscribe(["colour"], call())
                == "could not find requested additional field 'colour' in record type 'Note'"
                + Self.advice)
        #expect(try await subscribe(["colour"], bench.call()) == nil)
    }

    @Test("ENV-1: users' own records are there without being deployed, without further fields")
    func users() async throws {
        let call = call()
        func change(_ fields: [String: Field?]) async throws -> String? {
            let operation = ModifyRecords.Operation(
                .forceUpdate, recordName: released.recordName, recordType: "Users",
                fields: FieldChanges(fields))
            return try await bench.modify(operation, zone: "_defaultZone", call: call)[0]
                .error?.reason
        }
        #expect(try await change([:]) == nil)
        #expect(
            try await change(["nick": Field(.string("a"))])
                == "Cannot create or modify field 'nick' in record 'Users' in production schema"
                + Self.advice)
    }
}
