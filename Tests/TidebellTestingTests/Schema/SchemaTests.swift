// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import TidebellTesting
import Testing

@Suite("The schema of a container", .hangs)
struct SchemaTests {
    private static let schema = """
        DEFINE SCHEMA
        RECORD TYPE Note (
            "___recordID" REFERENCE,
            title STRING QUERYABLE, size INT64,
            GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator"
        );
        """

    /// Writes a schema to a file, for as long as `body` runs.
    private func withFile(
        _ text: String, _ body: (String) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidebell-\(UUID()).ckdb")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file.path)
    }

    private func note(_ fields: [String: any CKRecordValueProtocol]) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        for (key, value) in fields { note[key] = value }
        return note
    }

    private func query(_ format: String, on device: TestDevice) async throws {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: format))
        _ = try await device.privateDatabase.records(matching: query)
    }

    /// Runs `body`, which fails with an error of CloudKit's; returns code and sentence.
    private func failure(_ body: () async throws -> Void) async -> (CKError.Code, String)? {
        do {
            try await body()
            return nil
        } catch let error as CKError {
            return (error.code, error.localizedDescription)
        } catch { return nil }
    }

    @Test("T-18, ENV-1, QUERY-14: a test in production fails for what the schema's file lacks")
    func production() async throws {
        try await withFile(Self.schema) { path in
            let cloud = try await TestCloud(environment: .production, schema: path)
            let phone = try await cloud.device(user: "anna")
            try await phone.privateDatabase.save(note(["title": "tide", "size": 3]))
            try await query("title == 'tide'", on: phone)
            for (code, words, body) in [
                (
                    CKError.Code.invalidArguments, "Field 'size' is not marked queryable",
                    { try await query("size == 3", on: phone) }
                ),
                (
                    .invalidArguments, "Field 'recordName' is not marked queryable",
                    { try await query("TRUEPREDICATE", on: phone) }
                ),
                (
                    .invalidArguments,
                    "Cannot create or modify field 'colour' in record 'Note' in production schema",
                    {
                        let note = CKRecord(
                            recordType: "Note", recordID: CKRecord.ID(recordName: "red"))
                        note["colour"] = "red"
                        _ = try await phone.privateDatabase.save(note)
                    }
                ),
            ] as [(CKError.Code, String, () async throws -> Void)] {
                let failure = await failure(body)
                #expect(failure?.0 == code, "\(words)")
                #expect(failure?.1.contains(words) == true, "\(failure?.1 ?? "nothing")")
            }
        }
    }

    @Test("C9: what a test in development used and a schema lacks is named, with the queries")
    func check() async throws {
        try await withFile(Self.schema) { path in
            let cloud = try await TestCloud(schema: path)
            let phone = try await cloud.device(user: "anna")
            try await phone.privateDatabase.save(note(["title": "tide", "size": 3]))
            try await query("title == 'tide'", on: phone)
            try await cloud.checkSchema(path)
            try await cloud.checkSchema()
            try await phone.privateDatabase.save(
                CKRecord(recordType: "Game", recordID: CKRecord.ID(recordName: "g")))
            let more = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "m"))
            more["colour"] = "red"
            try await phone.privateDatabase.save(more)
            try await query("colour BEGINSWITH 'r' AND title == 'x'", on: phone)
            let error = await #expect(throws: TestCloudError.self) {
                try await cloud.checkSchema(path)
            }
            guard case .schemaLacks(let missing) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                missing == [
                    "the record type Game",
                    "the field Note.colour STRING, for the query Note: colour BEGINSWITH %@ AND "
                        + "title == %@",
                ])
            // Deployed, production has it.
            try await cloud.deploySchema()
            try await cloud.checkSchema()
        }
    }

    @Test("A file that is no schema is a misuse, with line and column")
    func misuse() async throws {
        try await withFile("DEFINE SCHEMA\n  RECORD Note ();") { path in
            let error = await #expect(throws: TestCloudError.self) {
                _ = try await TestCloud(schema: path)
            }
            #expect(
                error?.description
                    == "The schema cannot be read, line 2, column 10: expected TYPE, found 'Note'.")
        }
    }

    @Test("ENV-1, ENV-2: the first share in production needs one in development and a deployment")
    func shares() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let released = try await cloud.device(user: "anna", environment: .production)
        let zone = CKRecordZone(zoneName: "Notes")
        for device in [phone, released] { try await device.privateDatabase.save(zone) }
        let share = { CKShare(recordZoneID: zone.zoneID) }
        let failure = await failure { _ = try await released.privateDatabase.save(share()) }
        #expect(failure?.0 == .invalidArguments)
        #expect(
            failure?.1.contains("Cannot create new type cloudkit.share in production schema")
                == true)
        try await phone.privateDatabase.save(share())
        try await cloud.deploySchema()
        try await released.privateDatabase.save(share())
    }

    @Test("SUB-26, C2: a dropped index silences a subscription until it is there again")
    func silence() async throws {
        try await withFile(Self.schema) { path in
            let cloud = try await TestCloud(schema: path)
            let phone = try await cloud.device(user: "anna")
            let laptop = try await cloud.device(user: "anna")
            try await phone.registerForRemoteNotifications()
            let subscription = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(format: "title == 'tide'"),
                subscriptionID: "tides")
            subscription.notificationInfo = .silent
            try await phone.privateDatabase.save(subscription)
            func save(_ name: String) async throws {
                let note = CKRecord(
                    recordType: "Note", recordID: CKRecord.ID(recordName: name))
                note["title"] = "tide"
                try await laptop.privateDatabase.save(note)
            }
            try await save("a")
            _ = try await phone.nextPush()
            try await cloud.importSchema(
                Self.schema.replacing("title STRING QUERYABLE", with: "title STRING"))
            try await save("b")
            try await phone.expectNoPushes()
            try await cloud.importSchema(Self.schema)
            try await save("c")
            _ = try await phone.nextPush()
        }
    }

    @Test("T-18, SUB-41 to SUB-43: a query subscription in production waits for type and index")
    func gate() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let released = try await cloud.device(user: "anna", environment: .production)
        try await released.registerForRemoteNotifications()
        func subscribe() async -> (CKError.Code, String)? {
            await failure {
                let subscription = CKQuerySubscription(
                    recordType: "Note", predicate: NSPredicate(format: "title == 'tide'"),
                    subscriptionID: "tides")
                subscription.notificationInfo = .silent
                try await released.privateDatabase.save(subscription)
            }
        }
        let words = "attempting to create a subscription in a production container: "
        // Zone and database subscriptions need no schema.
        let all = CKDatabaseSubscription(subscriptionID: "all")
        all.notificationInfo = .silent
        try await released.privateDatabase.save(all)
        var refused = await subscribe()
        #expect(refused?.0 == .invalidArguments)
        #expect(refused?.1.contains(words + "it has no record type 'Note'") == true)

        try await phone.privateDatabase.save(note(["title": "tide"]))
        try await cloud.importSchema(
            Self.schema.replacing("title STRING QUERYABLE", with: "title STRING"))
        try await cloud.deploySchema()
        refused = await subscribe()
        #expect(refused?.0 == .invalidArguments)
        #expect(refused?.1.contains(words + "Field 'title' is not marked queryable") == true)

        try await cloud.importSchema(Self.schema)
        try await cloud.deploySchema()
        #expect(await subscribe() == nil)
        let other = try await cloud.device(user: "anna", environment: .production)
        try await other.privateDatabase.save(note(["title": "tide"]))
        let push = try await released.nextPush()
        #expect(push.notification?.subscriptionID == "tides")
    }

    @Test("ENV-8, ENV-9: after a reset tokens have expired, and a device begins anew")
    func reset() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let database = phone.privateDatabase
        let zone = CKRecordZone(zoneName: "Notes")
        try await database.save(zone)
        let id = CKRecord.ID(recordName: "n", zoneID: zone.zoneID)
        try await database.save(CKRecord(recordType: "Note", recordID: id))
        let token = try await database.databaseChanges(since: nil).changeToken
        let ofZone = try await database.recordZoneChanges(
            inZoneWith: zone.zoneID, since: nil
        ).changeToken

        try await cloud.resetSchema()
        let expired = await failure { _ = try await database.databaseChanges(since: token) }
        #expect(expired?.0 == .changeTokenExpired)
        let gone = await failure {
            _ = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: ofZone)
        }
        #expect(gone?.0 == .zoneNotFound)
        let fresh = try await database.databaseChanges(since: nil)
        #expect(fresh.modifications.isEmpty && fresh.deletions.isEmpty)
        try await database.save(zone)
        try await database.save(CKRecord(recordType: "Note", recordID: id))
        let later = try await database.databaseChanges(since: fresh.changeToken)
        #expect(later.modifications.map(\.zoneID) == [zone.zoneID])
        let again = await failure {
            _ = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: ofZone)
        }
        #expect(again?.0 == .changeTokenExpired)
    }

    @Test("QUERY-14: a test asks how a query is answered, and how many records are looked at")
    func explained() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        for name in ["a", "b", "c"] {
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            note["title"] = name
            try await phone.privateDatabase.save(note)
        }
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title == 'b'"))
        let explained = try await cloud.explain(query, on: phone)
        #expect(explained.recordsLookedAt == 3)
        #expect(explained.zones.map(\.name) == ["_defaultZone"])
        #expect(explained.zones.map(\.index) == [nil])
        #expect(explained.zones.map(\.recordsFound) == [1])
        #expect(
            "\(explained)".hasPrefix("zone _defaultZone: all records of the type, one by one: "))
        let unknown = CKQuery(recordType: "Game", predicate: NSPredicate(value: true))
        let error = await #expect(throws: TestCloudError.self) {
            _ = try await cloud.explain(unknown, on: phone)
        }
        #expect(error?.description == "The query is refused: Did not find record type: Game.")
    }
}
