// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

/// Records between the app and the wire, seen through what is sent and answered.
@Suite struct RecordConversionTests {
    static let zoneID = CKRecordZone.ID(zoneName: "Notes")

    @Test("REC-4: every type of value is sent with its tag")
    func everyTypeIsSent() async throws {
        let record = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "n", zoneID: Self.zoneID)
        )
        record["text"] = "é"
        record["whole"] = 3
        record["fraction"] = 2.5
        record["time"] = Date(timeIntervalSince1970: 1.0625)
        record["bytes"] = Data([0, 255])
        record["near"] = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "m", zoneID: Self.zoneID),
            action: .deleteSelf
        )
        record["far"] = CKRecord.Reference(
            recordID: CKRecord.ID(
                recordName: "m",
                zoneID: CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
            ),
            action: .none
        )
        record["texts"] = ["a", "b"]
        record["none"] = [String]()
        record["place"] = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
            altitude: 3,
            horizontalAccuracy: 4,
            verticalAccuracy: 5,
            course: 6,
            speed: 7,
            timestamp: Date(timeIntervalSince1970: 8)
        )
        record.encryptedValues["secret"] = "s"
        let transport = ScriptedTransport(answering: Answer.records(Answer.record("n")))
        _ = try await TestDevice(transport).database.save(record)
        let sent = try #require(transport.sent.first?.body)
        // Names in order, so that the text as a whole can be compared. A Date counts from
        // 2001, in steps of 119 nanoseconds here.
        let fields = [
            #""bytes":{"value":"AP8=","type":"BYTES"}"#,
            #""far":{"value":{"recordName":"m","zoneID":{"zoneName":"Z","ownerRecordName":"_o","zoneType":"REGULAR_CUSTOM_ZONE"},"action":"NONE"},"type":"REFERENCE"}"#,
            #""fraction":{"value":2.5,"type":"DOUBLE"}"#,
            #""near":{"value":{"recordName":"m","action":"DELETE_SELF"},"type":"REFERENCE"}"#,
            #""none":{"value":[]}"#,
            #""place":{"value":{"latitude":1.0,"longitude":2.0,"horizontalAccuracy":4.0,"verticalAccuracy":5.0,"altitude":3.0,"speed":7.0,"course":6.0,"timestamp":8000},"type":"LOCATION"}"#,
            #""secret":{"value":"s","type":"STRING","isEncrypted":true}"#,
            #""text":{"value":"é","type":"STRING"}"#,
            #""texts":{"value":["a","b"],"type":"STRING_LIST"}"#,
            #""time":{"value":1063,"type":"TIMESTAMP","nanoseconds":-499964}"#,
            #""whole":{"value":3,"type":"INT64"}"#,
        ]
        #expect(sent.hasSuffix(#""fields":{\#(fields.joined(separator: ","))}}}]}"#))
    }

    @Test("REC-4: a date near the middle of two milliseconds comes back equal")
    func datesBetweenMilliseconds() {
        var changed: [Date] = []
        for second in 0..<2_000 {
            let middle = 785_000_000 + Double(second) * 1.731 + 0.000_5
            for seconds in [middle.nextDown.nextDown, middle.nextDown, middle, middle.nextUp] {
                let date = Date(timeIntervalSinceReferenceDate: seconds)
                let value = CKRecord.FieldValue.date(date)
                let sent = Date(millisecondsSince1970: date.millisecondsSince1970)
                let back = CKRecord.FieldValue.date(sent).moved(by: value.nanoseconds)
                if back != value { changed.append(date) }
            }
        }
        #expect(changed == [])
    }

    @Test("REC-4: every type of value is read by its tag")
    func everyTypeIsRead() async throws {
        let fields = """
            {"text":{"value":"é","type":"STRING"},"whole":{"value":3,"type":"INT64"},\
            "fraction":{"value":2,"type":"DOUBLE"},"time":{"value":1063,"type":"TIMESTAMP"},\
            "bytes":{"value":"AP8=","type":"BYTES"},\
            "near":{"value":{"recordName":"m","action":"DELETE_SELF"},"type":"REFERENCE"},\
            "texts":{"value":["a","b"],"type":"STRING_LIST"},\
            "none":{"value":[],"type":"STRING_LIST"},\
            "place":{"value":{"latitude":1,"longitude":2},"type":"LOCATION"},\
            "secret":{"value":"s","type":"STRING","isEncrypted":true}}
            """
        let record = try await fetched(fields)
        #expect(record["text"] as? String == "é")
        #expect(record["whole"] as? Int == 3)
        #expect(record["fraction"] as? Double == 2)
        #expect(record["time"] as? Date == Date(timeIntervalSince1970: 1.063))
        #expect(record["bytes"] as? Data == Data([0, 255]))
        #expect(
            record["near"] as? CKRecord.Reference
                == CKRecord.Reference(
                    recordID: CKRecord.ID(recordName: "m", zoneID: Self.zoneID),
                    action: .deleteSelf
                )
        )
        #expect(record["texts"] as? [String] == ["a", "b"])
        #expect(record["none"] as? [String] == [])
        let location = try #require(record["place"] as? CLLocation)
        #expect(location.coordinate.longitude == 2)
        #expect(location.speed == -1)
        #expect(record["secret"] == nil)
        #expect(record.encryptedValues["secret"] as? String == "s")
        #expect(record.changedKeys().isEmpty)
    }

    @Test("SAVE-30, ZONE-8: tag, dates and users are the server's; the owner is the current user")
    func systemFieldsAreTheServers() async throws {
        let record = try await fetched("{}", more: #","parent":{"recordName":"p"}"#)
        #expect(record.recordType == "Note")
        #expect(record.recordID == CKRecord.ID(recordName: "n", zoneID: Self.zoneID))
        #expect(record.recordChangeTag == "t1")
        #expect(record.creationDate == Date(timeIntervalSince1970: 1))
        #expect(record.modificationDate == Date(timeIntervalSince1970: 2.5))
        #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        #expect(record.lastModifiedUserRecordID?.recordName == "_you")
        #expect(record.parent?.recordID == CKRecord.ID(recordName: "p", zoneID: Self.zoneID))
    }

    @Test("Fields that cannot be read fail their record only")
    func unreadableFieldsFailTheirRecord() async throws {
        let transport = ScriptedTransport(
            answering: Answer.records(
                Answer.record("bad", fields: #"{"a":{"value":true}}"#),
                Answer.record("good")
            )
        )
        let ids = ["bad", "good"].map { CKRecord.ID(recordName: $0, zoneID: Self.zoneID) }
        let results = try await TestDevice(transport).database.records(for: ids)
        #expect(
            text(try #require(results[ids[0]]))
                == "internalError: The fields of record 'bad' cannot be read: a.value: CloudKit "
                + "has no boolean type; use INT64 0 or 1"
        )
        #expect(text(try #require(results[ids[1]])) == "success")
    }

    private static let noDate = "the date is not a valid number of seconds."

    /// Values that cannot be sent, and why.
    static let unsendable: [(String, @Sendable (CKRecord) -> Void)] = [
        ("nan is not a number that CloudKit can store.", { $0["f"] = Double.nan }),
        (
            "the location has numbers CloudKit cannot store.",
            { $0["f"] = CLLocation(latitude: .infinity, longitude: 0) }
        ),
        (noDate, { $0["f"] = Date(timeIntervalSince1970: .nan) }),
        (noDate, { $0["f"] = Date(timeIntervalSince1970: .infinity) }),
        (noDate, { $0["f"] = [Date(), Date(timeIntervalSince1970: -.infinity)] }),
        (
            "the location's timestamp is not a valid date.",
            { record in
                record["f"] = CLLocation(
                    coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2),
                    altitude: 0,
                    horizontalAccuracy: 0,
                    verticalAccuracy: 0,
                    timestamp: Date(timeIntervalSince1970: .nan)
                )
            }
        ),
    ]

    @Test("A value that cannot be sent fails with invalidArguments", arguments: unsendable.indices)
    func anUnsendableValueFails(row: Int) async {
        let (reason, set) = Self.unsendable[row]
        let transport = ScriptedTransport(answering: "{}")
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        set(record)
        let result = await Result { try await TestDevice(transport).database.save(record) }
        #expect(
            text(result) == "invalidArguments: Field 'f' of record 'n' cannot be saved: \(reason)")
        #expect(transport.sent.isEmpty)
    }

    @Test("Times beyond the wire become the first or last it can express")
    func timesBeyondTheWire() {
        #expect(Date.distantPast.millisecondsSince1970 == -62_135_769_600_000)
        #expect(Date(timeIntervalSince1970: 1e300).millisecondsSince1970 == .max)
        #expect(Date(timeIntervalSince1970: -1e300).millisecondsSince1970 == .min)
    }

    private func fetched(_ fields: String, more: String = "") async throws -> CKRecord {
        let transport = ScriptedTransport(
            answering: Answer.records(Answer.record("n", fields: fields, more: more))
        )
        let id = CKRecord.ID(recordName: "n", zoneID: Self.zoneID)
        return try await TestDevice(transport).database.record(for: id)
    }
}
