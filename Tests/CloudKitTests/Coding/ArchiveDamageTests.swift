// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// Damaged archives are refused, never believed, and never end the program.
@Suite struct ArchiveDamageTests {
    /// The bytes of every kind of object, and a way to read them.
    static let blobs: [Blob] = [
        Blob("zone ID", CKRecordZoneID.Values(zoneName: "Notes", ownerName: "_0123")),
        Blob(
            "record ID",
            CKRecordID.Values(recordName: "r", zoneID: ArchiveSamples.zoneID)
        ),
        Blob(
            "reference",
            CKReference.Values(recordID: ArchiveSamples.recordID, action: .deleteSelf)
        ),
        Blob("token", CKServerChangeToken.Values(data: Data([1, 2, 3]))),
        Blob("notification ID", CKNotificationID.Values(rawValue: "9f1f")),
        Blob("notification info", ArchiveSamples.notificationInfo.values),
        Blob(
            "zone",
            CKRecordZone.Values(zoneID: ArchiveSamples.zoneID, state: CKRecordZone.State())
        ),
        Blob(
            "database subscription",
            CKDatabaseSubscription.Values(
                common: CKSubscription.Common(subscriptionID: "d"),
                recordType: "T"
            )
        ),
        Blob(
            "zone subscription",
            CKRecordZoneSubscription.Values(
                common: CKSubscription.Common(subscriptionID: "z"),
                zoneID: ArchiveSamples.zoneID
            )
        ),
        Blob(
            "query subscription",
            CKQuerySubscription.Values(
                common: CKSubscription.Common(subscriptionID: "q"),
                query: CKQuerySubscription.Query(
                    recordType: "T",
                    predicate: ArchiveSamples.querySubscription.predicate,
                    options: .firesOnRecordUpdate
                )
            )
        ),
        Blob(
            "query",
            CKQuery.Values(
                recordType: "T",
                predicate: NSPredicate(format: "a IN %@ AND NOT b LIKE $c", ["x", "y"]),
                sortKeys: [SortKey(NSSortDescriptor(key: "a", ascending: true))]
            )
        ),
        Blob(
            "record",
            CKRecord.ArchivedValues(
                identity: CKRecord.Identity(recordType: "T", recordID: ArchiveSamples.recordID),
                state: ArchiveSamples.record.state.current
            )
        ),
        Blob(
            "system fields",
            CKRecord.SystemFields(
                identity: CKRecord.Identity(recordType: "T", recordID: ArchiveSamples.recordID),
                state: ArchiveSamples.record.state.current
            )
        ),
    ]

    /// The bytes of the kinds that are archived on other ways than in a keyed archive, or
    /// came later.
    static let laterBlobs: [Blob] = [
        Blob(
            "sort descriptor",
            CKLocationSortDescriptor.Values(
                key: "place", location: CLLocation(latitude: 52.5, longitude: 13.4))
        ),
        Blob(
            "operation group",
            CKOperationGroup.Archived(
                operationGroupID: "g",
                values: CKOperationGroup.Values(
                    name: "sync", quantity: 7, expectedSendSize: .megabytes)
            )
        ),
        Blob(
            "zone configuration",
            CKFetchRecordZoneChangesConfiguration.Values(
                previousServerChangeToken: ArchiveSamples.token, resultsLimit: 9,
                desiredKeys: ["a", "b"]
            )
        ),
        Blob(
            "asset", CKAsset.Values(asset: CKAsset(fileURL: URL(fileURLWithPath: "/tmp/a")))
        ),
        Blob("query cursor", CKQueryCursor.Values(data: Data([1, 0, 255]))),
        Blob("state of a sync engine", ArchiveSamples.syncState),
        Blob("share", CKShare.Sharing(rootID: ArchiveSamples.recordID)),
        Blob(
            "user identity",
            CKUserIdentity.Values(
                userRecordID: ArchiveSamples.recordID, lookup: .emailAddress("a@example.org"))
        ),
        Blob("lookup info", CKUserIdentityLookupInfo.Values.phoneNumber("+491701234567")),
        Blob("participant", ArchiveSamples.participant),
        Blob(
            "share metadata",
            CKShareMetadata.Frame(
                containerIdentifier: "iCloud.org.example",
                share: CKShare(recordZoneID: ArchiveSamples.recordID.zoneID).archivedValues,
                sharing: CKShare.Sharing(), rootID: ArchiveSamples.recordID,
                rootRecord: CKRecord(recordType: "List", recordID: ArchiveSamples.recordID)
                    .archivedValues,
                owner: ArchiveSamples.participant.identity, own: ArchiveSamples.participant)
        ),
        Blob(
            "allowed sharing options",
            CKAllowedSharingOptions.Values(
                permissions: .any, access: .anyoneWithLink, allowsInviting: true)
        ),
    ]

    struct Blob: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        let isReadable: @Sendable ([UInt8]) -> Bool
        let readsPayload: @Sendable ([UInt8]) -> Void
        var testDescription: String { name }

        init<Value: ArchiveValue & SendableMetatype>(_ name: String, _ value: Value) {
            self.name = name
            bytes = ArchiveBlob.bytes(of: value)
            isReadable = { (try? ArchiveBlob.value(Value.self, from: $0)) != nil }
            readsPayload = { bytes in
                var reader = BlobReader(bytes)
                _ = try? Value(from: &reader)
            }
        }
    }

    @Test("a whole blob is read", arguments: blobs + laterBlobs)
    func whole(blob: Blob) {
        #expect(blob.isReadable(blob.bytes))
    }

    @Test("every blob that was cut off is refused", arguments: blobs + laterBlobs)
    func truncation(blob: Blob) {
        for length in 0..<blob.bytes.count {
            #expect(!blob.isReadable(Array(blob.bytes.prefix(length))), "cut at \(length)")
        }
    }

    @Test("every blob with one changed byte is refused", arguments: blobs + laterBlobs)
    func flippedByte(blob: Blob) {
        for index in blob.bytes.indices {
            for mask in [UInt8(0x01), 0x80, 0xFF] {
                var bytes = blob.bytes
                bytes[index] ^= mask
                #expect(!blob.isReadable(bytes), "byte \(index) ^ \(mask)")
            }
        }
    }

    @Test(
        "values behind a right checksum but with damage inside never end the program",
        arguments: blobs + laterBlobs)
    func damagedPayload(blob: Blob) {
        let payload = Array(blob.bytes.dropFirst(10).dropLast(4))
        for index in payload.indices {
            for byte in [UInt8(0), 1, 0x7F, 0xFF] {
                var bytes = payload
                bytes[index] = byte
                blob.readsPayload(bytes)
            }
            blob.readsPayload(Array(payload.prefix(index)))
        }
    }

    @Test("an object of any class is written again as it was read", arguments: blobs + laterBlobs)
    func rewriting(blob: Blob) {
        #expect(ArchiveBlob.decodeArchive(blob.bytes) == blob.bytes)
        let values = [blob.bytes[5]] + blob.bytes.dropFirst(10).dropLast(4)
        #expect(ArchiveBlob.decodeValues(values) == blob.bytes)
    }

    @Test(
        "random damage is refused, or gives an object that is written and read alike",
        arguments: [1, 2, 3, 4] as [UInt64])
    func randomDamage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let blobs = Self.blobs + Self.laterBlobs
        for round in 0..<3_000 {
            let blob = blobs[Int(random.next() % UInt64(blobs.count))]
            var values = [blob.bytes[5]] + blob.bytes.dropFirst(10).dropLast(4)
            for _ in 0...(random.next() % 3) { random.damage(&values) }
            guard let bytes = ArchiveBlob.decodeValues(values) else { continue }
            #expect(
                ArchiveBlob.decodeArchive(bytes) == bytes,
                "\(blob.name), seed \(seed), round \(round)"
            )
        }
    }

    @Test("a blob of another kind is refused")
    func otherKind() {
        let bytes = ArchiveBlob.bytes(of: CKServerChangeToken.Values(data: Data([1])))
        #expect(throws: BlobError.otherKind) {
            try ArchiveBlob.value(CKNotificationID.Values.self, from: bytes)
        }
    }

    @Test("random bytes are refused")
    func randomBytes() {
        let seed: UInt64 = 0x7464_626C
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let bytes = (0..<Int(random.next() % 200)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            for blob in Self.blobs {
                #expect(!blob.isReadable(bytes), "seed \(seed)")
                blob.readsPayload(bytes)
            }
        }
    }

    @Test("the checksum is CRC-32")
    func checksum() {
        #expect(CRC32.checksum(Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(CRC32.checksum([]) == 0)
    }

    @Test("a token whose archived bytes are damaged is refused with an error")
    func damagedArchive() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: ArchiveSamples.token,
            requiringSecureCoding: true
        )
        let blob = ArchiveBlob.bytes(
            of: CKServerChangeToken.Values(data: ArchiveSamples.token.data))
        let range = try #require(data.range(of: Data(blob)))
        for index in range {
            var damaged = data
            damaged[index] ^= 0x10
            #expect(throws: (any Error).self, "byte \(index)") {
                try NSKeyedUnarchiver.unarchivedObject(
                    ofClass: CKServerChangeToken.self, from: damaged)
            }
        }
    }

    @Test("a subscription whose archived bytes are damaged is refused with an error")
    func damagedSubscription() throws {
        let subscription = ArchiveSamples.databaseSubscription
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: subscription,
            requiringSecureCoding: true
        )
        let range = try #require(data.range(of: Data("TDBL".utf8)))
        var damaged = data
        damaged[range.lowerBound + 12] ^= 0x10
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKDatabaseSubscription.self, from: damaged)
        }
    }
}

extension SeededGenerator {
    /// Flips a bit, writes a length, cuts off, cuts out or puts in.
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        guard bytes.count > 5 else { return }
        let index = 1 + Int(next() % UInt64(bytes.count - 5))
        let length = Int(next() % 8)
        switch next() % 5 {
        case 0: bytes[index] ^= 1 << (next() % 8)
        case 1:
            let lengths: [UInt32] = [0, 1, 2, 0x7F, 0xFFFF, .max, .max >> 1, 1 << 31]
            let value = lengths[length].bigEndian
            let written = withUnsafeBytes(of: value) { Array($0) }
            bytes.replaceSubrange(index..<(index + 4), with: written)
        case 2: bytes.removeLast(bytes.count - index)
        case 3: bytes.removeSubrange(index..<min(index + length, bytes.count))
        default:
            bytes.insert(contentsOf: (0..<length).map { _ in UInt8(next() % 256) }, at: index)
        }
    }
}
