// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The frame around one archived object: magic number, version, kind, length, checksum.
///
/// Foundation's keyed archives are fragile on Linux: one flipped byte among many
/// small keys can end the process. So each of our objects is a single run of bytes
/// under a single key, checked before anything in it is believed.
///
/// | bytes | content |
/// |---|---|
/// | 4 | "TDBL" |
/// | 1 | version of the format, 1 |
/// | 1 | ``ArchiveKind`` |
/// | 4 | length of the values |
/// | n | the values |
/// | 4 | CRC-32 of everything before |
package enum ArchiveBlob {
    /// The first four bytes of every blob.
    static let magic: [UInt8] = Array("TDBL".utf8)

    /// The version this code writes, and the newest it reads.
    static let version: UInt8 = 1

    /// The largest object, in bytes: a bound against damaged lengths.
    static let maximumSize = 1 << 30

    private static let headerSize = 10
    private static let checksumSize = 4

    /// Returns the bytes that stand for `value`.
    static func bytes<Value: ArchiveValue>(of value: Value) -> [UInt8] {
        var payload = BlobWriter()
        value.write(to: &payload)
        var frame = BlobWriter()
        for byte in magic { frame.write(byte: byte) }
        frame.write(byte: version)
        frame.write(byte: Value.kind.rawValue)
        frame.write(count: payload.bytes.count)
        let checked = frame.bytes + payload.bytes
        var tail = BlobWriter()
        tail.write(CRC32.checksum(checked))
        return checked + tail.bytes
    }

    /// Returns the length of the object that `bytes` begin with; nil when they begin with
    /// something else, or end before it does.
    static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= headerSize + checksumSize, bytes.starts(with: magic) else {
            return nil
        }
        var header = BlobReader(Array(bytes.prefix(headerSize)), from: 6)
        guard let count = try? header.uint32() else { return nil }
        let length = headerSize + Int(count) + checksumSize
        return length <= bytes.count ? length : nil
    }

    /// Returns the value `bytes` stand for.
    ///
    /// Fails when the bytes are damaged, cut off or of another kind; never traps.
    static func value<Value: ArchiveValue>(
        _ type: Value.Type,
        from bytes: [UInt8]
    ) throws(BlobError) -> Value {
        guard bytes.count >= headerSize + checksumSize else { throw .truncated }
        let payloadEnd = bytes.count - checksumSize
        var tail = BlobReader(bytes, from: payloadEnd)
        guard Array(bytes[0..<4]) == magic, bytes[4] == version,
            try tail.uint32() == CRC32.checksum(bytes[0..<payloadEnd])
        else { throw .damagedFrame }
        guard bytes[5] == Value.kind.rawValue else { throw .otherKind }
        var header = BlobReader(bytes, from: 6, upTo: payloadEnd)
        guard try header.count() == payloadEnd - headerSize else { throw .damagedFrame }
        var payload = BlobReader(bytes, from: headerSize, upTo: payloadEnd)
        let value = try Value(from: &payload)
        try payload.finish()
        return value
    }
}

/// The stored values of an archived class.
///
/// A class keeps its archived state in such a value, so that reading cannot leave
/// a half-built object behind.
protocol ArchiveValue {
    /// The class the values belong to.
    static var kind: ArchiveKind { get }

    /// Reads the values.
    init(from reader: inout BlobReader) throws(BlobError)

    /// Writes the values.
    func write(to writer: inout BlobWriter)
}

/// The class an archived object belongs to. Numbers are stored: never reuse one.
enum ArchiveKind: UInt8 {
    /// A `CKRecordZone.ID`.
    case recordZoneID = 1
    /// A `CKRecord.ID`.
    case recordID = 2
    /// A `CKRecord.Reference`.
    case reference = 3
    /// A `CKRecord` with its values.
    case record = 4
    /// A `CKRecord` without its values.
    case recordSystemFields = 5
    /// A `CKRecordZone`.
    case recordZone = 6
    /// A `CKServerChangeToken`.
    case serverChangeToken = 7
    /// A `CKSubscription.NotificationInfo`.
    case notificationInfo = 8
    /// A `CKQuerySubscription`.
    case querySubscription = 9
    /// A `CKRecordZoneSubscription`.
    case recordZoneSubscription = 10
    /// A `CKDatabaseSubscription`.
    case databaseSubscription = 11
    /// A `CKNotification.ID`.
    case notificationID = 12
    /// A `CKQuery`.
    case query = 13
    /// A `CKQueryOperation.Cursor`.
    case queryCursor = 14
    /// A `CKShare`.
    case share = 15
    /// A `CKShare.Participant`.
    case shareParticipant = 16
    /// A `CKShare.Metadata`.
    case shareMetadata = 17
    /// A `CKUserIdentity`.
    case userIdentity = 18
    /// A `CKUserIdentity.LookupInfo`.
    case userIdentityLookupInfo = 19
    /// A `CKLocationSortDescriptor`.
    case locationSortDescriptor = 20
    /// A `CKAllowedSharingOptions`.
    case allowedSharingOptions = 21
    /// A `CKOperation.Configuration`.
    case operationConfiguration = 22
    /// A `CKOperationGroup`.
    case operationGroup = 23
    /// A `CKFetchRecordZoneChangesOperation.ZoneConfiguration`.
    case zoneConfiguration = 24
    /// The state of a `CKSyncEngine`.
    case syncEngineState = 25
    /// A `CKAsset` outside a record.
    case asset = 26
    /// A long-lived operation.
    case longLivedOperation = 40
    /// A request in the journal of a long-lived operation.
    case sentRequest = 41
    /// An answer in it.
    case receivedAnswer = 42
}

/// The CRC-32 of IEEE 802.3, which finds every single damaged byte.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in
            crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1
        }
    }

    /// Returns the checksum of `bytes`.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        let crc = bytes.reduce(UInt32.max) { crc, byte in
            table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8)
        }
        return ~crc
    }
}
