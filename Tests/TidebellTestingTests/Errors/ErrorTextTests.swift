// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Testing
import TidebellTesting

/// What a developer reads when something is wrong: which item it is, in the API's words, and what to do. Apple's own
/// words come first.
@Suite("Texts of errors")
struct ErrorTextTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let missing = CKRecordZone.ID(zoneName: "Nope")

    /// The text of the error that a mistake ends with, made on a device whose zone `Notes` has a record `shopping`.
    private func text(
        of mistake: @Sendable (CKDatabase) async throws -> Void
    ) async throws -> String {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let database = phone.container().privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
        let record = Self.record("shopping")
        record["title"] = "milk"
        try await database.save(record)
        do {
            try await mistake(database)
        } catch {
            return error.localizedDescription
        }
        return "no error"
    }

    private static func record(
        _ name: String, in zoneID: CKRecordZone.ID = zoneID
    ) -> CKRecord {
        CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    @Test("ERR-20: a record that is not there is named")
    func unknownRecord() async throws {
        let found = try await text { _ = try await $0.record(for: Self.record("books").recordID) }
        #expect(
            found == "Record not found (record 'books' of zone 'Notes'); it was deleted, or never "
                + "saved"
        )
    }

    @Test("ERR-23: a conflict names the record and says what to save")
    func conflict() async throws {
        let found = try await text { try await $0.save(Self.record("shopping")) }
        #expect(
            found == "record to insert already exists (record 'shopping' of zone 'Notes'); merge "
                + "into the error's serverRecord and save that, or save with .changedKeys"
        )
    }

    @Test("ERR-35: whoever saves into a missing zone is told to save the zone first")
    func missingZone() async throws {
        let saved = try await text { try await $0.save(Self.record("a", in: Self.missing)) }
        #expect(saved == "Zone 'Nope' does not exist; save a CKRecordZone first")
        let fetched = try await text {
            _ = try await $0.recordZoneChanges(inZoneWith: Self.missing, since: nil)
        }
        #expect(fetched == saved)
    }

    @Test("SUB-2 to SUB-7: subscriptions that cannot be say what can")
    func subscriptions() async throws {
        let onDefault = try await text {
            try await $0.save(
                CKRecordZoneSubscription(zoneID: .default, subscriptionID: "default"))
        }
        #expect(
            onDefault == "a zone subscription cannot watch the default zone (subscription "
                + "'default'); save the records in a CKRecordZone, or use a CKQuerySubscription"
        )
        let twice = try await text { database in
            for id in ["a", "b"] {
                try await database.save(
                    CKRecordZoneSubscription(zoneID: Self.zoneID, subscriptionID: id))
            }
        }
        #expect(
            twice == "subscription is duplicate of 'a' (subscription 'b'); use that one, or "
                + "delete it first"
        )
    }

    @Test("QUERY-20, QUERY-21: what is wrong with a predicate is said in its own words")
    func predicates() async throws {
        let found = try await text { database in
            _ = try await database.records(
                matching: CKQuery(
                    recordType: "Note", predicate: NSPredicate(format: "title CONTAINS 'x'")),
                inZoneWith: Self.zoneID
            )
        }
        #expect(
            found
                == "query: the predicate's CONTAINS on 'title': a STRING field is no list; search it "
                + "for words by self CONTAINS 'word', or compare how it begins by BEGINSWITH"
        )
    }

    @Test("QUERY-20: a record type that nobody saved is compared with those there are")
    func misspelledType() async throws {
        func query(_ type: String) async throws -> String {
            try await text { database in
                _ = try await database.records(
                    matching: CKQuery(recordType: type, predicate: NSPredicate(value: true)),
                    inZoneWith: Self.zoneID
                )
            }
        }
        #expect(
            try await query("Noet") == "Did not find record type: Noet; did you mean 'Note'?")
        #expect(try await query("Picture") == "Did not find record type: Picture")
    }

    @Test("SUB-5: what the public database does not take says what it does")
    func publicDatabase() async throws {
        let cloud = try await TestCloud()
        let phone = try await cloud.device(user: "anna")
        let database = phone.container().publicCloudDatabase
        func text(_ subscription: CKSubscription) async -> String? {
            await #expect(throws: CKError.self) { try await database.save(subscription) }?
                .localizedDescription
        }
        #expect(
            await text(CKRecordZoneSubscription(zoneID: Self.zoneID, subscriptionID: "z"))
                == "a zone subscription cannot be saved in the public database (subscription 'z'); use "
                + "a CKQuerySubscription")
        #expect(
            await text(CKDatabaseSubscription(subscriptionID: "d"))
                == "a database subscription cannot be saved in the public database (subscription 'd'); "
                + "use a CKQuerySubscription")
    }

    @Test("ERR-20: a subscription that is not there is named")
    func unknownSubscription() async throws {
        let found = try await text { _ = try await $0.subscription(for: "nope") }
        #expect(found == "subscription 'nope' does not exist; it was deleted, or never saved")
    }

    @Test("ERR-21: a value of another type says that the field keeps its type")
    func fieldType() async throws {
        let found = try await text { database in
            let record = Self.record("other")
            record["title"] = 7
            try await database.save(record)
        }
        #expect(
            found
                == "Invalid value, expected type STRING. (field 'title' of record type 'Note', given as INT64) "
                + "(record 'other' of zone 'Notes'); a field keeps the type of the first value "
                + "saved in it: use another name"
        )
    }

    @Test("TOK-5: changes of the default zone are fetched by nobody, and the error says what to do")
    func defaultZone() async throws {
        let found = try await text {
            _ = try await $0.recordZoneChanges(inZoneWith: .default, since: nil)
        }
        #expect(
            found == "cannot get changes in default zone (zone '_defaultZone'); save records whose "
                + "changes are fetched in a CKRecordZone"
        )
    }

    @Test("QUERY-21: a field that nobody knows is compared with those there are")
    func misspelledField() async throws {
        let found = try await text { database in
            _ = try await database.records(
                matching: CKQuery(
                    recordType: "Note", predicate: NSPredicate(format: "tilte == 'milk'")),
                inZoneWith: Self.zoneID
            )
        }
        #expect(
            found == "query: the predicate's == on 'tilte': Did not find field: 'tilte' in type "
                + "'Note'; did you mean 'title'?"
        )
    }

    @Test("NINFO-16: desired keys are called so, not by the wire's word")
    func desiredKeys() async throws {
        let found = try await text { database in
            let subscription = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "s",
                options: .firesOnRecordCreation
            )
            let info = CKSubscription.NotificationInfo()
            info.desiredKeys = ["a", "b", "c", "d"]
            subscription.notificationInfo = info
            try await database.save(subscription)
        }
        #expect(found == "desiredKeys names 4 fields; at most 3 fit a push")
    }

    @Test("ERR-35: a missing zone of somebody else is named with its owner")
    func otherOwner() async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Trip", ownerName: "_ben")
        let cloud = try await TestCloud()
        let database = try await cloud.device(user: "anna").container().sharedCloudDatabase
        let error = await #expect(throws: CKError.self) {
            try await database.save(Self.record("a", in: zoneID))
        }
        #expect(
            error?.localizedDescription
                == "Zone 'Trip' does not exist; its owner is '_ben', who may have ended the share"
        )
    }
}
