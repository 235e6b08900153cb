// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// What operations do with a record between the program and the wire.
@Suite struct CKRecordStateTests {
    private let identity = CKRecord.Identity(
        recordType: "Item",
        recordID: CKRecord.ID(recordName: "n")
    )

    @Test("SAVE-29: after a save the record has the server's state and no changed keys")
    func saved() {
        let record = CKRecord(recordType: "Item")
        record["a"] = 1
        record.encryptedValues["b"] = 2
        record.setParent(CKRecord.ID(recordName: "p"))
        let server = CKRecord.ServerState(
            recordChangeTag: "t1",
            creationDate: Date(timeIntervalSinceReferenceDate: 1),
            creatorUserRecordID: CKRecord.ID(recordName: "u"),
            modificationDate: Date(timeIntervalSinceReferenceDate: 2),
            lastModifiedUserRecordID: CKRecord.ID(recordName: "v")
        )
        record.applyServerState(server)
        record.markSaved()
        #expect(record.changedKeys().isEmpty)
        #expect(record.encryptedValues.changedKeys().isEmpty)
        #expect(!record.isParentChanged)
        #expect(record.recordChangeTag == "t1")
        #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 1))
        #expect(record.modificationDate == Date(timeIntervalSinceReferenceDate: 2))
        #expect(record.creatorUserRecordID == CKRecord.ID(recordName: "u"))
        #expect(record.lastModifiedUserRecordID == CKRecord.ID(recordName: "v"))
        #expect(record["a"] as? Int == 1)
    }

    @Test("REC-8: a fetched record has values and no changed keys")
    func fetched() {
        let record = CKRecord(
            fetched: identity,
            server: CKRecord.ServerState(recordChangeTag: "t"),
            fields: [
                CKRecord.Field(key: "a", value: .int64(1)),
                CKRecord.Field(key: "b", value: .string("s"), isEncrypted: true),
            ]
        )
        #expect(record.allKeys() == ["a"])
        #expect(record.encryptedValues.allKeys() == ["b"])
        #expect(record.changedKeys().isEmpty)
        #expect(record.changedFields.isEmpty)
    }

    @Test("SAVE-12: changed fields hold removed ones without a value")
    func changedFields() {
        let record = CKRecord(
            fetched: identity,
            server: CKRecord.ServerState(),
            fields: [CKRecord.Field(key: "a", value: .int64(1))]
        )
        record["a"] = nil
        record["b"] = "x"
        record.encryptedValues["c"] = 2.5
        #expect(
            record.changedFields == [
                CKRecord.Field(key: "a", value: nil),
                CKRecord.Field(key: "b", value: .string("x")),
                CKRecord.Field(key: "c", value: .double(2.5), isEncrypted: true),
            ]
        )
        #expect(
            record.fields == [
                CKRecord.Field(key: "b", value: .string("x")),
                CKRecord.Field(key: "c", value: .double(2.5), isEncrypted: true),
            ]
        )
    }

    @Test("a field name stands for one value, plain or encrypted")
    func movedField() {
        let record = CKRecord(recordType: "Item")
        record["a"] = 1
        record.encryptedValues["a"] = 2
        let encrypted = CKRecord.Field(key: "a", value: .int64(2), isEncrypted: true)
        #expect(record.changedFields == [encrypted])
        record["a"] = 3
        #expect(record.changedFields == [CKRecord.Field(key: "a", value: .int64(3))])
        #expect(record.fields == [CKRecord.Field(key: "a", value: .int64(3))])
    }

    @Test(
        "REC-1: record names are 1 to 255 ASCII characters without an underscore in front",
        arguments: [
            ("a", true), (String(repeating: "a", count: 255), true), ("a b/ü".prefixASCII, true),
            ("", false), (String(repeating: "a", count: 256), false), ("ü", false), ("_a", false),
        ]
    )
    func recordNames(name: String, isLegal: Bool) {
        #expect((RecordNaming.violation(ofRecordName: name) == nil) == isLegal)
    }

    @Test(
        "REC-2: record types are a letter, then letters, digits and underscores",
        arguments: [
            ("Item", true), ("CD_Item2", true), ("cloudkit.share", true), ("Users", true),
            ("", false), ("2Item", false), ("My Item", false), ("Itém", false), ("_Item", false),
        ]
    )
    func recordTypes(type: String, isLegal: Bool) {
        #expect((RecordNaming.violation(ofRecordType: type) == nil) == isLegal)
    }

    @Test("REC-3: field names with an underscore in front are a matter of permission")
    func reservedKeys() {
        let violation = RecordNaming.violation(ofFieldKey: "_asset")
        #expect(violation?.code == .permissionFailure)
        #expect(
            violation?.localizedDescription
                == "Unprivileged attempt to insert a system field: _asset"
        )
    }

    @Test(
        "REC-3: field names are a letter, then letters, digits and underscores",
        arguments: [
            ("name", true), ("cloudkit.title", true), ("a_1", true),
            ("1a", false), ("a b", false), ("ä", false),
            (String(repeating: "a", count: 256), false),
        ]
    )
    func fieldKeys(key: String, isLegal: Bool) {
        #expect((RecordNaming.violation(ofFieldKey: key) == nil) == isLegal)
    }

    @Test(
        "ZONE-4: zone names are 1 to 255 ASCII characters without an underscore in front",
        arguments: [
            ("Notes", true), ("_defaultZone", true), ("_x", false), ("", false), ("ü", false),
        ]
    )
    func zoneNames(name: String, isLegal: Bool) {
        #expect((RecordNaming.violation(ofZoneName: name) == nil) == isLegal)
    }
}

extension String {
    /// The text without what is not ASCII.
    fileprivate var prefixASCII: String { String(filter(\.isASCII)) }
}
