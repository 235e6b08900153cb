// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// Archives shaped like those of Apple's systems, built by hand.
@Suite struct AppleArchiveTests {
    /// Returns an archive of the objects, the last of which is the root.
    private func archive(_ objects: [String]) throws -> Data {
        let list = ["<string>$null</string>"] + objects
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            <key>$version</key><integer>100000</integer>
            <key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(uid(list.count - 1))</dict>
            <key>$objects</key><array>\(list.joined())</array>
            </dict></plist>
            """
        return Data(xml.utf8)
    }

    private func uid(_ index: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(index)</integer></dict>"
    }

    private func object(_ entries: [String: String], class index: Int) -> String {
        let body = entries.sorted { $0.key < $1.key }.map { "<key>\($0.key)</key>\($0.value)" }
        return "<dict>\(body.joined())<key>$class</key>\(uid(index))</dict>"
    }

    private func classObject(_ name: String) -> String {
        "<dict><key>$classname</key><string>\(name)</string>"
            + "<key>$classes</key><array><string>\(name)</string><string>NSObject</string></array></dict>"
    }

    private func text(_ value: String) -> String { "<string>\(value)</string>" }

    @Test("a change token of Apple's systems is read")
    func token() throws {
        let data = try archive([
            "<data>AQID</data>",
            classObject("CKServerChangeToken"),
            object(["ChangeTokenData": uid(1)], class: 2),
        ])
        let token = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self, from: data)
        #expect(token == CKServerChangeToken(data: Data([1, 2, 3])))
        let top = try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data)
        #expect(top as? CKServerChangeToken == token)
    }

    @Test("a record ID of Apple's systems is read")
    func recordID() throws {
        let data = try archive([
            text("Notes"), text("_0123"), classObject("CKRecordZoneID"),
            object(["ZoneName": uid(1), "ownerName": uid(2)], class: 3),
            text("r"), classObject("CKRecordID"),
            object(["RecordName": uid(5), "ZoneID": uid(4)], class: 6),
        ])
        let id = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.ID.self, from: data)
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_0123")
        #expect(id == CKRecord.ID(recordName: "r", zoneID: zoneID))
    }

    @Test("ASSET-1: an asset of Apple's systems is read, as a value of a dictionary too")
    func asset() throws {
        let data = try archive([
            text("file:///tmp/a.png"), classObject("NSURL"),
            object(["NS.base": uid(0), "NS.relative": uid(1)], class: 2),
            classObject("CKAsset"), object(["AssetFileURL": uid(3)], class: 4),
            text("picture"), classObject("NSDictionary"),
            object(
                [
                    "NS.keys": "<array>\(uid(6))</array>",
                    "NS.objects": "<array>\(uid(5))</array>",
                ], class: 7),
        ])
        let object = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self, CKAsset.self], from: data
        )
        let values = try #require(object as? [String: Any])
        #expect(Array(values.keys) == ["picture"])
        #expect((values["picture"] as? CKAsset)?.fileURL == URL(string: "file:///tmp/a.png"))
    }

    @Test("zones and subscriptions of Apple's systems are an error, not an end of the program")
    func unknownLayouts() throws {
        for name in [
            "CKRecordZone", "CKQuerySubscription", "CKRecordZoneSubscription",
            "CKDatabaseSubscription",
        ] {
            let data = try archive([classObject(name), object(["Other": "<true/>"], class: 1)])
            let classes: [AnyClass] = [CKRecordZone.self, CKSubscription.self]
            let read = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
            #expect(read == nil, "\(name)")
        }
    }

    @Test("references and locations of archives of version 0.1.0 are read")
    func olderNames() throws {
        let reference = CKRecord.Reference(
            recordID: CKRecord.ID(recordName: "r"), action: .deleteSelf
        )
        let location = CLLocation(latitude: 1, longitude: 2)
        for (object, new, old) in [
            (reference, "CloudKit.CKReference", "CloudKit.CKRecordReference"),
            (location, "TidebellLocation.CLLocation", "CoreLocation.CLLocation"),
        ] as [(NSObject & NSSecureCoding, String, String)] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            archiver.outputFormat = .xml
            archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
            archiver.finishEncoding()
            let text = String(decoding: archiver.encodedData, as: UTF8.self)
            #expect(text.contains(new))
            let older = Data(text.replacingOccurrences(of: new, with: old).utf8)
            let read = try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [CKRecord.Reference.self, CLLocation.self], from: older
            )
            #expect(read as? NSObject == object)
        }
    }

    @Test("REC-9: a record of Apple's systems is read with its values")
    func record() throws {
        let data = try archive([
            /* 1 */ text("Notes"), text("__defaultOwner__"), classObject("CKRecordZoneID"),
            /* 4 */ object(["ZoneName": uid(1), "ownerName": uid(2)], class: 3),
            /* 5 */ text("r"), classObject("CKRecordID"),
            /* 7 */ object(["RecordName": uid(5), "ZoneID": uid(4)], class: 6),
            /* 8 */ text("Person"), text("tag"), classObject("NSDate"),
            /* 11 */ object(["NS.time": "<real>1.5</real>"], class: 10),
            /* 12 */ text("age"), "<integer>26</integer>", classObject("NSMutableDictionary"),
            /* 15 */ object(
                [
                    "NS.keys": "<array>\(uid(12))</array>",
                    "NS.objects": "<array>\(uid(13))</array>",
                ], class: 14),
            /* 16 */ classObject("CKRecordValueStore"),
            /* 17 */ object(["RecordValues": uid(15)], class: 16),
            /* 18 */ classObject("CKRecord"),
            /* 19 */ object(
                [
                    "RecordType": uid(8), "RecordID": uid(7), "ETag": uid(9),
                    "RecordCtime": uid(11), "RecordMtime": uid(11),
                    "CreatorUserRecordID": uid(7), "ParentReference": uid(0),
                    "ValueStore": uid(17), "KnownToServer": "<true/>",
                ],
                class: 18
            ),
        ])
        let record = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
        )
        let id = CKRecord.ID(recordName: "r", zoneID: CKRecordZone.ID(zoneName: "Notes"))
        #expect(record.recordType == "Person")
        #expect(record.recordID == id)
        #expect(record.recordChangeTag == "tag")
        #expect(record.creationDate == Date(timeIntervalSinceReferenceDate: 1.5))
        #expect(record.creatorUserRecordID == id)
        #expect(record.parent == nil)
        #expect(record["age"] as? Int == 26)
        #expect(record.changedKeys().isEmpty)
    }
}
