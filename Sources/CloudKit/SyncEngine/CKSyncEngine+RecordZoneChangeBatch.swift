// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKSyncEngine {
    /// Records that are sent together.
    ///
    /// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5/recordzonechangebatch>.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// The most items of a batch (LIMIT-3).
        static let maximumCount = 250

        /// The most bytes of a batch that `init(pendingChanges:recordProvider:)` makes,
        /// as far as they can be estimated: half of a request's 2 MB (LIMIT-2).
        static let maximumSize = 1_000_000

        /// The records to save.
        public var recordsToSave: [CKRecord]

        /// The IDs of the records to delete.
        public var recordIDsToDelete: [CKRecord.ID]

        /// Whether the changes of each zone succeed or fail together. If one fails, the others in
        /// its zone fail with `batchRequestFailed` and stay pending (SYNC-23).
        public var atomicByZone: Bool

        /// Creates a batch from the first pending changes, as many as fit; nil if there is nothing
        /// to send (SYNC-22).
        ///
        /// - Parameters:
        ///   - pendingChanges: The changes to send, oldest first.
        ///   - recordProvider: Returns the record for a change to save; if it returns nil, the
        ///     change is skipped.
        public init?(
            pendingChanges: [CKSyncEngine.PendingRecordZoneChange],
            recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            var size = 0
            for change in pendingChanges where count < Self.maximumCount {
                switch change {
                case .deleteRecord(let recordID): recordIDsToDelete.append(recordID)
                case .saveRecord(let recordID):
                    guard let record = await recordProvider(recordID) else { continue }
                    size += record.estimatedSize
                    // The first one goes whatever its size: the server decides about it.
                    guard size <= Self.maximumSize || isEmpty else { return }
                    recordsToSave.append(record)
                }
            }
            guard !isEmpty else { return nil }
        }

        /// Creates a batch. It may have at most 250 items (LIMIT-3); otherwise sending it fails
        /// with `limitExceeded`.
        public init(
            recordsToSave: [CKRecord] = [],
            recordIDsToDelete: [CKRecord.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// The batch as text, for logs; no values.
        public var description: String {
            "<CKSyncEngine.RecordZoneChangeBatch: recordsToSave=\(recordsToSave.count), "
                + "recordIDsToDelete=\(recordIDsToDelete.count), atomicByZone=\(atomicByZone)>"
        }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    /// How many items there are.
    var count: Int { recordsToSave.count + recordIDsToDelete.count }

    /// Whether there is nothing to send.
    var isEmpty: Bool { recordsToSave.isEmpty && recordIDsToDelete.isEmpty }

    /// The IDs of all items.
    var recordIDs: [CKRecord.ID] { recordsToSave.map(\.recordID) + recordIDsToDelete }

    /// The batch as changes.
    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        recordsToSave.map { .saveRecord($0.recordID) }
            + recordIDsToDelete.map { .deleteRecord($0) }
    }

    /// The batch in smaller ones: by zone, or one zone's in halves unless it is atomic; none
    /// when it has to stay together.
    var parts: [Self] {
        let zones = Set(recordIDs.map(\.zoneID))
        if zones.count > 1 {
            return recordIDs.grouped(by: \.zoneID).map { zone in
                without(Set(recordIDs.filter { $0.zoneID != zone.key }))
            }
        }
        guard count > 1, !atomicByZone else { return [] }
        let first = Set(recordIDs.prefix(count / 2))
        return [without(Set(recordIDs.dropFirst(count / 2))), without(first)]
    }

    /// Returns the batch without some records.
    func without(_ recordIDs: Set<CKRecord.ID>) -> Self {
        guard !recordIDs.isEmpty else { return self }
        var rest = self
        rest.recordsToSave.removeAll { recordIDs.contains($0.recordID) }
        rest.recordIDsToDelete.removeAll { recordIDs.contains($0) }
        return rest
    }
}

extension CKRecord {
    /// About how many bytes the record adds to a request, without its assets' files.
    var estimatedSize: Int {
        let state = state.current
        return [state.plain, state.encrypted].reduce(200) { size, fields in
            fields.values.reduce(size) { $0 + $1.key.utf8.count + $1.value.estimatedSize }
        }
    }
}

extension CKRecord.FieldValue {
    /// About how many bytes the value adds to a request.
    fileprivate var estimatedSize: Int {
        switch self {
        case .string(let text): 40 + text.utf8.count
        case .bytes(let data): 40 + (data.count + 2) / 3 * 4  // Base64
        case .list(let elements): elements.reduce(40) { $0 + $1.estimatedSize }
        case .int64, .double, .date: 60
        case .location, .reference, .asset: 300
        }
    }
}
