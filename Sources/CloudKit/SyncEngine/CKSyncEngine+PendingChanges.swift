// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// A pending change of a record.
    public enum PendingRecordZoneChange: Sendable, Hashable, CustomStringConvertible {
        /// Save the record.
        case saveRecord(CKRecord.ID)
        /// Delete the record.
        case deleteRecord(CKRecord.ID)

        /// The change as text, for logs.
        public var description: String {
            switch self {
            case .saveRecord(let recordID): "saveRecord(\(recordID))"
            case .deleteRecord(let recordID): "deleteRecord(\(recordID))"
            }
        }
    }

    /// A pending change of a zone.
    public enum PendingDatabaseChange: Sendable, Hashable, CustomStringConvertible {
        /// Save the zone.
        case saveZone(CKRecordZone)
        /// Delete the zone.
        case deleteZone(CKRecordZone.ID)

        /// Returns whether both are the same change of zones with the same ID; zones themselves
        /// compare by identity.
        public static func == (lhs: Self, rhs: Self) -> Bool {
            switch (lhs, rhs) {
            case (.saveZone(let left), .saveZone(let right)): left.zoneID == right.zoneID
            case (.deleteZone(let left), .deleteZone(let right)): left == right
            default: false
            }
        }

        /// Hashes the kind of change and the ID of the zone.
        public func hash(into hasher: inout Hasher) {
            switch self {
            case .saveZone(let zone):
                hasher.combine(0)
                hasher.combine(zone.zoneID)
            case .deleteZone(let zoneID):
                hasher.combine(1)
                hasher.combine(zoneID)
            }
        }

        /// The change as text, for logs.
        public var description: String {
            switch self {
            case .saveZone(let zone): "saveZone(\(zone.zoneID))"
            case .deleteZone(let zoneID): "deleteZone(\(zoneID))"
            }
        }
    }
}

/// A change to one item; two changes of the same item cannot both be pending (SYNC-19).
protocol PendingChange: Hashable, Sendable {
    /// What distinguishes items.
    associatedtype ItemID: Hashable & Sendable

    /// The item that is saved or deleted.
    var itemID: ItemID { get }
}

extension CKSyncEngine.PendingRecordZoneChange: PendingChange {
    var itemID: CKRecord.ID {
        switch self {
        case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
        }
    }
}

extension CKSyncEngine.PendingDatabaseChange: PendingChange {
    var itemID: CKRecordZone.ID {
        switch self {
        case .saveZone(let zone): zone.zoneID
        case .deleteZone(let zoneID): zoneID
        }
    }
}
