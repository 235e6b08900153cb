// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A subscription to changes of the records in a zone: every creation, change and deletion sends a push to the user's
/// other devices (SUB-53).
///
/// It can be saved in the private database, for custom zones that exist (SUB-3, SUB-6).
///
/// ```swift
/// let zoneID = CKRecordZone.ID(zoneName: "Feed")
/// try await database.save(CKRecordZone(zoneID: zoneID))
/// let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "feed-changes")
/// subscription.recordType = "FeedItem"  // without it, records of all types
/// let info = CKSubscription.NotificationInfo()
/// info.shouldSendContentAvailable = true
/// subscription.notificationInfo = info
/// try await database.save(subscription)
/// ```
///
/// The app receives the push as a ``CKRecordZoneNotification``, and then fetches what changed with
/// the zone's change token.
/// See <https://developer.apple.com/documentation/cloudkit/ckrecordzonesubscription>.
open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    // Sendable: the zone is a constant, the rest is behind a lock.
    private let zone: CKRecordZoneID
    private let type: Locked<CKRecord.RecordType?>

    /// Creates a subscription with a new UUID (SUB-21, SUB-28).
    @available(*, deprecated, renamed: "init(zoneID:subscriptionID:)")
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: NewIdentifier.make())
    }

    /// Creates a subscription.
    ///
    /// - Precondition: `subscriptionID` is not empty (SUB-28).
    public convenience init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        precondition(!subscriptionID.isEmpty, "The ID of a subscription must not be empty.")
        self.init(Values(common: Common(subscriptionID: subscriptionID), zoneID: zoneID))
    }

    /// Creates a subscription of the given state; nothing is checked.
    init(_ values: Values) {
        zone = values.zoneID
        type = Locked(values.recordType)
        super.init(unchecked: .recordZone, values.common)
    }

    /// Reads a subscription from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// is a subscription with a new ID to the default zone, which the server refuses.
    public required init(coder: NSCoder) {
        let values = coder.decodeArchiveBlob(Values.self)
        if values == nil { coder.failDecoding(of: CKRecordZoneSubscription.self) }
        zone = values?.zoneID ?? .default
        type = Locked(values?.recordType)
        let common = values?.common ?? Common(subscriptionID: NewIdentifier.make())
        super.init(unchecked: .recordZone, common)
    }

    /// Writes the subscription to a keyed archive.
    open override func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The zone of the subscription; it cannot be changed (SUB-70).
    open var zoneID: CKRecordZone.ID { zone }

    /// The record type to which the subscription is limited; nil for all types (SUB-12, SUB-15).
    open var recordType: CKRecord.RecordType? {
        get { type.current }
        set { type.current = newValue }
    }

    /// Returns a copy with the same state.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKRecordZoneSubscription(values)
    }

    /// Compares ID, notification, zone and record type.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordZoneSubscription else { return false }
        return super.isEqual(other) && zoneID == other.zoneID && recordType == other.recordType
    }
}

extension CKRecordZoneSubscription {
    /// The archived state of a zone subscription.
    struct Values: ArchiveValue {
        /// What all kinds of subscriptions keep.
        var common: Common

        /// The zone whose changes count.
        var zoneID: CKRecordZoneID

        /// The only type of records whose changes count.
        var recordType: CKRecord.RecordType?

        static var kind: ArchiveKind { .recordZoneSubscription }
    }

    private var values: Values {
        Values(common: common, zoneID: zoneID, recordType: recordType)
    }
}

extension CKRecordZoneSubscription.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        common = try CKSubscription.Common(from: &reader)
        zoneID = try reader.zoneID()
        recordType = try reader.optionalString()
    }

    func write(to writer: inout BlobWriter) {
        common.write(to: &writer)
        writer.write(zoneID)
        writer.write(recordType)
    }
}
