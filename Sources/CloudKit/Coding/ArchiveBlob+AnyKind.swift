// SPDX-License-Identifier: Apache-2.0
import Foundation

extension ArchiveBlob {
    /// Reads an archived object of any class and writes it again; nil when `bytes` are damaged.
    ///
    /// Never traps, whatever the bytes are. What it returns is read as the same object:
    /// reading it once more gives the same bytes.
    package static func decodeArchive(_ bytes: [UInt8]) -> [UInt8]? {
        // The kind stands behind the magic number and the version.
        guard bytes.count > 5, let type = ArchiveKind(rawValue: bytes[5])?.valueType else {
            return nil
        }
        return rewrite(bytes, as: type)
    }

    /// Reads values that stand in no frame, and writes them with one; nil when they are damaged.
    ///
    /// The first byte is the kind. Damage that a checksum would find, as random changes
    /// are, comes through to the values here.
    package static func decodeValues(_ bytes: [UInt8]) -> [UInt8]? {
        guard let kind = bytes.first, let type = ArchiveKind(rawValue: kind)?.valueType else {
            return nil
        }
        return rewrite(values: bytes, as: type)
    }

    private static func rewrite<Value: ArchiveValue>(_ bytes: [UInt8], as type: Value.Type)
        -> [UInt8]?
    {
        // Which check failed does not matter: the bytes are damaged.
        (try? value(type, from: bytes)).map { Self.bytes(of: $0) }
    }

    private static func rewrite<Value: ArchiveValue>(values: [UInt8], as type: Value.Type)
        -> [UInt8]?
    {
        var reader = BlobReader(values, from: 1)
        guard let value = try? Value(from: &reader), reader.remaining == 0 else { return nil }
        return Self.bytes(of: value)
    }
}

extension ArchiveKind {
    /// The stored values of the class; nil while nothing of it is archived.
    fileprivate var valueType: (any ArchiveValue.Type)? {
        switch self {
        case .recordZoneID: CKRecordZoneID.Values.self
        case .recordID: CKRecordID.Values.self
        case .reference: CKReference.Values.self
        case .record: CKRecord.ArchivedValues.self
        case .recordSystemFields: CKRecord.SystemFields.self
        case .recordZone: CKRecordZone.Values.self
        case .serverChangeToken: CKServerChangeToken.Values.self
        case .notificationInfo: CKNotificationInfo.Values.self
        case .querySubscription: CKQuerySubscription.Values.self
        case .recordZoneSubscription: CKRecordZoneSubscription.Values.self
        case .databaseSubscription: CKDatabaseSubscription.Values.self
        case .notificationID: CKNotificationID.Values.self
        case .query: CKQuery.Values.self
        case .locationSortDescriptor: CKLocationSortDescriptor.Values.self
        case .operationGroup: CKOperationGroup.Archived.self
        case .zoneConfiguration: CKFetchRecordZoneChangesConfiguration.Values.self
        case .syncEngineState: SyncState.self
        case .asset: CKAsset.Values.self
        case .queryCursor: CKQueryCursor.Values.self
        case .longLivedOperation: LongLivedOperation.self
        case .sentRequest: SentFrame.self
        case .receivedAnswer: ReceivedFrame.self
        case .share: CKShare.Sharing.self
        case .shareParticipant: CKShareParticipant.Values.self
        case .shareMetadata: CKShareMetadata.Frame.self
        case .userIdentity: CKUserIdentity.Values.self
        case .userIdentityLookupInfo: CKUserIdentityLookupInfo.Values.self
        case .allowedSharingOptions: CKAllowedSharingOptions.Values.self
        case .operationConfiguration: nil
        }
    }
}
