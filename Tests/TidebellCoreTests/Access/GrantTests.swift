// SPDX-License-Identifier: Apache-2.0
import Testing
@testable import TidebellCore
import TidebellWire

@Suite("What roles may do in the public database")
struct GrantTests {
    private static let container = Bench.container
    private let bench: Bench

    init() async throws {
        bench = try await Bench()
        try await bench.store.write(.catalogue(Bench.container)) {
            _ = try ImportSchema.run(
                """
                DEFINE SCHEMA
                CREATE ROLE Editor;
                RECORD TYPE Open (
                    "___recordID" REFERENCE QUERYABLE,
                    GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator"
                );
                RECORD TYPE Diary (
                    "___recordID" REFERENCE QUERYABLE,
                    GRANT CREATE TO "_icloud", GRANT READ, WRITE TO "_creator"
                );
                RECORD TYPE Box (
                    title STRING QUERYABLE SORTABLE,
                    "___recordID" REFERENCE QUERYABLE,
                    GRANT CREATE, WRITE TO "_icloud", GRANT READ TO "_creator"
                );
                RECORD TYPE News (
                    "___recordID" REFERENCE QUERYABLE,
                    GRANT READ TO "_icloud", GRANT READ, CREATE, WRITE TO Editor
                );
                """, into: Self.container.container, limits: Limits(), in: $0)
        }
    }

    private func call(_ user: StoredUser?) -> Call {
        var call = bench.call(user, scope: .public)
        if user == nil { call.user = nil }
        return call
    }

    private func save(
        _ type: String, _ name: String, by user: StoredUser
    ) async throws -> String? {
        let operation = ModifyRecords.Operation(
            .forceUpdate, recordName: name, recordType: type, fields: FieldChanges([:]))
        return try await bench.modify(operation, zone: "_defaultZone", call: call(user))[0]
            .error?.reason
    }

    private func found(_ type: String, by user: StoredUser?) async throws -> [String] {
        let call = call(user)
        do {
            return try await bench.store.read {
                try QueryRecords.run(
                    .init(query: WireQuery(recordType: type)), for: call, in: $0)
            }.records.compactMap(\.record?.recordName)
        } catch let error as WireError { return [error.reason] }
    }

    private func seen(_ name: String, by user: StoredUser?) async throws -> String? {
        try await bench.lookup(name, zone: "_defaultZone", call: call(user))[0].error?.reason
    }

    /// Gives otto the role, or takes it away.
    private func setRole(_ isGiven: Bool) async throws {
        try await bench.store.write(.everything) {
            try ChangeRole.run(
                "Editor", of: "otto", in: Self.container, isGiven: isGiven, in: $0)
        }
    }

    @Test("ACCT-7: what a type grants is what everybody, users and creators may do")
    func systemRoles() async throws {
        let (anna, otto) = (bench.anna, bench.otto)
        for type in ["Open", "Diary"] {
            #expect(try await save(type, type, by: anna) == nil)
            #expect(try await save(type, type, by: anna) == nil)
            #expect(
                try await save(type, type, by: otto)
                    == "WRITE operation not permitted: record '\(type)' was created by another user"
            )
        }
        #expect(
            try await save("News", "n", by: anna)
                == "CREATE operation not permitted: the record type 'News' grants it to the roles "
                + "Editor")
        let hidden =
            "READ operation not permitted: the record type 'Diary' grants it to the roles _creator"
        for user in [anna, otto, nil] { #expect(try await found("Open", by: user) == ["Open"]) }
        #expect(try await found("Diary", by: anna) == ["Diary"])
        #expect(try await found("Diary", by: otto) == [])
        #expect(try await found("Diary", by: nil) == [hidden])
        #expect(try await seen("Diary", by: anna) == nil)
        #expect(try await seen("Diary", by: otto) == hidden)
        #expect(try await seen("Diary", by: nil) == hidden)
        #expect(try await seen("Open", by: nil) == nil)
    }

    @Test(
        "ACCT-7: who has a role of the container may do what types grant to it, as long as they do")
    func ownRoles() async throws {
        let (anna, otto) = (bench.anna, bench.otto)
        try await setRole(true)
        #expect(try await save("News", "n", by: otto) == nil)
        #expect(try await found("News", by: anna) == ["n"])
        #expect(
            try await found("News", by: nil)
                == [
                    "READ operation not permitted: the record type 'News' grants it to the roles "
                        + "Editor, _icloud"
                ])
        let members = try await bench.store.read {
            try ChangeRole.members(of: "Editor", in: Self.container, $0)
        }
        #expect(members == ["otto"])
        try await setRole(false)
        #expect(
            try await save("News", "n", by: otto)
                == "WRITE operation not permitted: record 'n' is of the type 'News', which grants no "
                + "WRITE to its creator")
    }

    @Test("ACCT-7: no error and no answer of a save shows a record to who may not read it")
    func savesShowNothing() async throws {
        func modify(
            _ type: ModifyRecords.OperationType, tag: String? = nil, by user: StoredUser
        ) async throws -> RecordResult {
            let operation = ModifyRecords.Operation(
                type, recordName: "box", recordType: "Box", recordChangeTag: tag,
                fields: FieldChanges(
                    user.id == bench.anna.id ? ["title": Field(.string("secret"))] : [:]))
            return try await bench.modify(operation, zone: "_defaultZone", call: call(user))[0]
        }
        let made = try await modify(.create, by: bench.anna)
        #expect(made.record?.fields.json.isEmpty == false)
        for (kind, tag) in [(ModifyRecords.OperationType.create, nil), (.update, "1")] {
            let own = try #require(try await modify(kind, tag: tag, by: bench.anna).error)
            let others = try #require(try await modify(kind, tag: tag, by: bench.otto).error)
            #expect(own.detail?.serverRecord != nil)
            #expect(others.code == own.code && others.detail?.serverRecord == nil)
        }
        let saved = try await modify(.forceUpdate, by: bench.otto)
        #expect(saved.record?.fields == RecordFields.none)
        let after = try #require(try await modify(.forceUpdate, by: bench.anna).record)
        #expect(try after.fields.decoded()["title"]?.value == .string("secret"))
    }

    @Test("ACCT-7: of a type that only creators read, a page's marker tells nothing of the others")
    func markersTellNothing() async throws {
        for (user, count) in [(bench.anna, 5), (bench.otto, 1)] {
            for index in 0..<count {
                let operation = ModifyRecords.Operation(
                    .create, recordName: "\(user.id.rawValue)-\(index)", recordType: "Box",
                    fields: FieldChanges(["title": Field(.string("secret"))]))
                _ = try await bench.modify(operation, zone: "_defaultZone", call: call(user))
            }
        }
        var query = WireQuery(recordType: "Box")
        query.sorts = [WireSort(.field("title"))]
        let (container, plain) = (call(bench.anna), WireQuery(recordType: "Box"))
        for query in [query, plain] {
            let page = try await bench.store.read {
                try QueryRecords.run(.init(query: query, resultsLimit: 2), for: container, in: $0)
            }
            let bytes = try #require(
                page.continuationMarker.flatMap { Base64URL.bytes(ofEither: $0) })
            #expect(!BytePattern("secret").isFound(in: bytes))
            #expect(!BytePattern("zone").isFound(in: bytes))
        }
    }

    @Test("ACCT-7: where a page of such a type ends says nothing of the values of others")
    func pagesEndAtOwnRecords() async throws {
        func make(_ title: String, by user: StoredUser) async throws {
            let operation = ModifyRecords.Operation(
                .create, recordName: title, recordType: "Box",
                fields: FieldChanges(["title": Field(.string(title))]))
            let made = try await bench.modify(operation, zone: "_defaultZone", call: call(user))
            #expect(made[0].error == nil)
        }
        try await make("b", by: bench.otto)
        try await make("m", by: bench.anna)
        try await make("z", by: bench.otto)
        let otto = call(bench.otto)
        let database = try #require(
            try await bench.store.read { try $0.database(otto.database().key)?.id })
        try await bench.store.write(.databaseWithID(database)) { transaction in
            let zone = try #require(try transaction.zones(["_defaultZone"], in: database).first)
            let wish = IndexInterest.Wish(
                database: database, zone: zone.key, recordType: "Box", name: "value title")
            try BuildFieldIndex.begin(wish, limits: Limits(), at: otto.now, in: transaction)
            for index in try transaction.fieldIndexes(in: zone.key, of: nil) {
                _ = try BuildFieldIndex.step(index.id, limit: 99, in: transaction)
            }
        }
        var request = QueryRecords.Request(
            query: WireQuery(
                recordType: "Box",
                filters: [WireFilter(.greaterThan, .field("title"), .string("a"))]),
            resultsLimit: 1)
        func page() async throws -> QueryRecords.Response {
            let request = request
            return try await bench.store.read {
                try QueryRecords.run(request, for: otto, in: $0)
            }
        }
        let first = try await page()
        #expect(first.records.compactMap(\.record?.recordName) == ["b"])
        // Saved on both sides of what is anna's: found alike after the page, or alike not.
        try await make("c", by: bench.otto)
        try await make("y", by: bench.otto)
        (request.continuationMarker, request.resultsLimit) = (first.continuationMarker, 9)
        #expect(try await page().records.compactMap(\.record?.recordName) == ["z", "c", "y"])
    }

    @Test("ACCT-7: nobody gets the file of a record that they may not read")
    func filesOfOthers() async throws {
        _ = try await save("Diary", "d", by: bench.anna)
        for (user, isRefused) in [(bench.anna, false), (bench.otto, true)] {
            let call = call(user)
            let request = RereferenceAssets.Request(
                zoneID: ZoneID(zoneName: "_defaultZone"),
                assets: [.init(recordName: "d", fieldName: "file")])
            let answer = try await bench.store.read {
                try RereferenceAssets.run(request, for: call, in: $0)
            }
            let reason = if case .failure(let error) = answer.assets[0] { error.reason } else { "" }
            #expect(
                reason
                    == (isRefused
                        ? "READ operation not permitted: the record type 'Diary' grants it to the "
                            + "roles _creator"
                        : "field 'file' of record 'd' has no asset"))
        }
    }

    @Test("ACCT-7: nobody subscribes to what they may not read")
    func subscriptions() async throws {
        func subscribe(_ type: String, _ user: StoredUser) async throws -> String? {
            let subscription = WireSubscription(
                subscriptionID: type, kind: .query, recordType: type, firesOn: [.create],
                notificationInfo: WireNotificationInfo())
            return try await bench.subscribe(subscription, call(user)).error?.reason
        }
        #expect(try await subscribe("Open", bench.anna) == nil)
        #expect(try await subscribe("News", bench.anna) == nil)
        #expect(
            try await subscribe("Diary", bench.anna)
                == "READ operation not permitted: the record type 'Diary' grants it to the roles "
                + "_creator")
    }

    @Test("A role that the schema lacks cannot be given, and its error names those there are")
    func unknownRole() async throws {
        let error = await #expect(throws: OperatorError.self) {
            try await bench.store.write(.everything) {
                try ChangeRole.run(
                    "Boss", of: "otto", in: Self.container, isGiven: true, in: $0)
            }
        }
        #expect(
            error?.description
                == "iCloud.org.tidebell.tests (development) has no role 'Boss'; it has Editor. A "
                + "schema's file creates roles.")
    }
}
