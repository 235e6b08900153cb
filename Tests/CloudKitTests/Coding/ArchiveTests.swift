// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

/// Archives written and read the way programs do.
@Suite struct ArchiveTests {
    private func archived(_ object: some NSObject & NSSecureCoding) throws -> Data {
        try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try archived(object)
        return try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }

    @Test("IDs, references and tokens keep their value in an archive")
    func values() throws {
        #expect(try roundTrip(ArchiveSamples.zoneID) == ArchiveSamples.zoneID)
        #expect(try roundTrip(ArchiveSamples.recordID) == ArchiveSamples.recordID)
        #expect(try roundTrip(ArchiveSamples.reference) == ArchiveSamples.reference)
        #expect(try roundTrip(ArchiveSamples.token) == ArchiveSamples.token)
        #expect(try roundTrip(ArchiveSamples.notificationID) == ArchiveSamples.notificationID)
    }

    @Test("NINFO-1: a notification configuration keeps its parts in an archive")
    func notificationInfo() throws {
        let info = ArchiveSamples.notificationInfo
        #expect(try roundTrip(info) == info)
        let empty = CKSubscription.NotificationInfo()
        #expect(try roundTrip(empty) == empty)
    }

    @Test("SUB-70: subscriptions of every kind keep their parts in an archive")
    func subscriptions() throws {
        #expect(try roundTrip(ArchiveSamples.querySubscription) == ArchiveSamples.querySubscription)
        #expect(try roundTrip(ArchiveSamples.zoneSubscription) == ArchiveSamples.zoneSubscription)
        let database = ArchiveSamples.databaseSubscription
        #expect(try roundTrip(database) == database)
        let data = try archived(database)
        let asBase = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKSubscription.self, from: data)
        #expect(asBase == database)
    }

    @Test("ZONE-3: a zone keeps its state in an archive")
    func zone() throws {
        let zone = try roundTrip(ArchiveSamples.zone)
        #expect(zone.zoneID == ArchiveSamples.zoneID)
        #expect(zone.capabilities == [.fetchChanges, .sharing])
        #expect(zone.share == ArchiveSamples.reference)
        #expect(zone.encryptionScope == .perZone)
    }

    @Test("a record keeps values and changes in an archive")
    func record() throws {
        let record = ArchiveSamples.record
        let read = try roundTrip(record)
        #expect(read.recordType == "Item")
        #expect(read.recordID == record.recordID)
        #expect(read.state.current == record.state.current)
        #expect(read.changedKeys() == record.changedKeys())
    }

    @Test("ASSET-1: an asset in a dictionary is archived and read")
    func assetInDictionary() throws {
        let url = URL(fileURLWithPath: "/tmp/a b")
        let values = ["picture": CKAsset(fileURL: url)] as NSDictionary
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: values, requiringSecureCoding: true
        )
        let read = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSString.self, CKAsset.self], from: data
        )
        #expect(((read as? [String: Any])?["picture"] as? CKAsset)?.fileURL == url)
    }

    @Test("a record keeps the location of its assets in an archive")
    func assets() throws {
        let record = CKRecord(recordType: "Item")
        record["asset"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a b"))
        let read = try #require(try roundTrip(record)["asset"] as? CKAsset)
        #expect(read.fileURL?.path == "/tmp/a b")
    }

    @Test("REC-9: system fields keep what the server gave, and no values")
    func systemFields() throws {
        let record = ArchiveSamples.record
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let read = try #require(CKRecord(coder: unarchiver))
        unarchiver.finishDecoding()
        #expect(read.recordType == "Item")
        #expect(read.recordID == record.recordID)
        #expect(read.serverState == record.serverState)
        #expect(read.parent == record.parent)
        #expect(read.share == record.share)
        #expect(read.allKeys().isEmpty)
        #expect(read.changedKeys().isEmpty)
        #expect(read.encryptedValues.allKeys().isEmpty)
    }

    @Test("a location keeps every measured value in an archive")
    func location() throws {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 52.5, longitude: 13.4),
            altitude: 34,
            horizontalAccuracy: 5,
            verticalAccuracy: 6,
            course: 90,
            courseAccuracy: 1,
            speed: 2,
            speedAccuracy: 0.5,
            timestamp: Date(timeIntervalSinceReferenceDate: 100)
        )
        #expect(try roundTrip(location) == location)
    }

    @Test("arrays and dictionaries of IDs are read by Apple's methods")
    func collections() throws {
        let ids = [ArchiveSamples.recordID, CKRecord.ID(recordName: "b")]
        let array = try archived(ids as NSArray)
        let readArray = try NSKeyedUnarchiver.unarchivedArrayOfObjects(
            ofClass: CKRecord.ID.self,
            from: array
        )
        #expect(readArray == ids)
        let tokens = [ArchiveSamples.zoneID: ArchiveSamples.token]
        let dictionary = try archived(tokens as NSDictionary)
        let readDictionary = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClass: CKRecordZone.ID.self,
            objectClass: CKServerChangeToken.self,
            from: dictionary
        )
        #expect(readDictionary == tokens)
    }

    @Test("objects stand in archives of a program's own classes and keys")
    func ownKeys() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(ArchiveSamples.token, forKey: "token")
        archiver.encode(ArchiveSamples.zoneID, forKey: "zone")
        archiver.encode([ArchiveSamples.recordID] as NSArray, forKey: "records")
        let tokens = [ArchiveSamples.zoneID: ArchiveSamples.token]
        archiver.encode(tokens as NSDictionary, forKey: "tokens")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        let token = unarchiver.decodeObject(of: CKServerChangeToken.self, forKey: "token")
        #expect(token == ArchiveSamples.token)
        let zone = unarchiver.decodeObject(of: CKRecordZone.ID.self, forKey: "zone")
        #expect(zone == ArchiveSamples.zoneID)
        let records = unarchiver.decodeArrayOfObjects(ofClass: CKRecord.ID.self, forKey: "records")
        #expect(records == [ArchiveSamples.recordID])
        let readTokens = unarchiver.decodeDictionary(
            withKeyClass: CKRecordZone.ID.self,
            objectClass: CKServerChangeToken.self,
            forKey: "tokens"
        )
        #expect(readTokens == tokens)
        #expect(unarchiver.decodeArrayOfObjects(ofClass: CKRecord.ID.self, forKey: "none") == nil)
    }

    @Test("TOK-1: an archive without a token gives an empty one, as test doubles expect")
    func emptyToken() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(CKServerChangeToken(coder: unarchiver)?.data == Data())
        #expect(CKServerChangeToken(coder: NSKeyedArchiver(requiringSecureCoding: true)) != nil)
    }

    @Test("an archive without the object gives nil")
    func missing() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(CKRecord(coder: unarchiver) == nil)
        #expect(CKRecord.ID(coder: unarchiver) == nil)
        #expect(CKRecordZone.ID(coder: unarchiver) == nil)
        #expect(CKRecordZone(coder: unarchiver) == nil)
        #expect(CKRecord.Reference(coder: unarchiver) == nil)
        #expect(CKNotification.ID(coder: unarchiver) == nil)
        #expect(CKSubscription.NotificationInfo(coder: unarchiver) == nil)
        #expect(CLLocation(coder: unarchiver) == nil)
    }
}
