// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The records that an app has from the server, as far as its sync engine knows: what was
/// fetched and what was sent.
///
/// When a zone has to be fetched whole, because its token is expired, the server returns what
/// there is, and not what is gone. A record that is known and does not come is gone: it is
/// reported to the app like any deletion.
struct KnownRecords: Sendable, Equatable {
    /// The most records that are known, of all zones together: a bound for the state that the
    /// app keeps (about 50 bytes each). Of further ones it is not noticed that they are gone.
    static let limit = 10_000

    private struct Known: Sendable, Equatable {
        var recordType: CKRecord.RecordType
        /// Whether a fetch of the whole zone is under way in which the record did not come yet.
        var isDoubtful: Bool
    }

    private var zones: [CKRecordZone.ID: [String: Known]] = [:]
    private var count = 0

    /// Notes a record that exists.
    mutating func confirm(_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) {
        let known = Known(recordType: recordType, isDoubtful: false)
        if zones[recordID.zoneID]?[recordID.recordName] == nil {
            guard count < Self.limit else { return }
            count += 1
        }
        zones[recordID.zoneID, default: [:]][recordID.recordName] = known
    }

    /// Notes that a record exists or may exist, if it is known.
    mutating func keep(_ recordID: CKRecord.ID) {
        zones[recordID.zoneID]?[recordID.recordName]?.isDoubtful = false
    }

    /// Forgets a record that is gone.
    mutating func forget(_ recordID: CKRecord.ID) {
        guard zones[recordID.zoneID]?.removeValue(forKey: recordID.recordName) != nil else {
            return
        }
        count -= 1
    }

    /// Forgets the records of a zone that is gone.
    mutating func forgetZone(_ zoneID: CKRecordZone.ID) {
        count -= zones.removeValue(forKey: zoneID)?.count ?? 0
    }

    /// Doubts all records of a zone, whose fetch has begun anew.
    mutating func doubt(_ zoneID: CKRecordZone.ID) {
        zones[zoneID] = zones[zoneID]?.mapValues {
            Known(recordType: $0.recordType, isDoubtful: true)
        }
    }

    /// The records of a zone that are doubted still, by name.
    func doubtful(in zoneID: CKRecordZone.ID) -> [CKDatabase.RecordZoneChange.Deletion] {
        let doubtful = (zones[zoneID] ?? [:]).filter { $0.value.isDoubtful }
        return doubtful.sorted { $0.key < $1.key }.map { name, known in
            .init(
                recordID: CKRecord.ID(recordName: name, zoneID: zoneID),
                recordType: known.recordType
            )
        }
    }
}

// MARK: - Archive

extension KnownRecords {
    /// Reads what ``write(to:)`` wrote.
    init(from reader: inout BlobReader) throws(BlobError) {
        for _ in 0..<(try reader.count()) {
            let zoneID = try reader.zoneID()
            var records: [String: Known] = [:]
            for _ in 0..<(try reader.count()) {
                let name = try reader.string()
                let recordType = try reader.string()
                records[name] = Known(recordType: recordType, isDoubtful: try reader.bool())
            }
            zones[zoneID] = records
            count += records.count
        }
    }

    /// Writes everything, in an order of its own: the same records give the same bytes.
    func write(to writer: inout BlobWriter) {
        let zones = zones.filter { !$0.value.isEmpty }.sorted {
            ($0.key.ownerName, $0.key.zoneName) < ($1.key.ownerName, $1.key.zoneName)
        }
        writer.write(count: zones.count)
        for (zoneID, records) in zones {
            writer.write(zoneID)
            writer.write(count: records.count)
            for (name, known) in records.sorted(by: { $0.key < $1.key }) {
                writer.write(name)
                writer.write(known.recordType)
                writer.write(known.isDoubtful)
            }
        }
    }
}
