// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A subscription to all changes in a database: changes of records in all zones except the default
/// zone, new zones and deleted zones (SUB-7, SUB-8, SUB-54).
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// let info = CKSubscription.NotificationInfo()
/// info.shouldSendContentAvailable = true
/// subscription.notificationInfo = info
/// try await database.save(subscription)
/// ```
///
/// It can be saved in the private and the shared database (SUB-2).
/// See <https://developer.apple.com/documentation/cloudkit/ckdatabasesubscription>.
open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    // Sendable: the state is behind a lock.
    private let type: Locked<CKRecord.RecordType?>

    /// Creates a subscription with a new UUID (SUB-21, SUB-28).
    @available(*, deprecated, renamed: "init(subscriptionID:)")
    public convenience init() {
        self.init(subscriptionID: NewIdentifier.make())
    }

    /// Creates a subscription.
    ///
    /// - Precondition: `subscriptionID` is not empty (SUB-28).
    public convenience init(subscriptionID: CKSubscription.ID) {
        precondition(!subscriptionID.isEmpty, "The ID of a subscription must not be empty.")
        self.init(Values(common: Common(subscriptionID: subscriptionID)))
    }

    /// Creates a subscription of the given state; nothing is checked.
    init(_ values: Values) {
        type = Locked(values.recordType)
        super.init(unchecked: .database, values.common)
    }

    /// Reads a subscription from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// is a subscription with a new ID.
    public required init(coder: NSCoder) {
        let values = coder.decodeArchiveBlob(Values.self)
        if values == nil { coder.failDecoding(of: CKDatabaseSubscription.self) }
        let common = values?.common ?? Common(subscriptionID: NewIdentifier.make())
        type = Locked(values?.recordType)
        super.init(unchecked: .database, common)
    }

    /// Writes the subscription to a keyed archive.
    open override func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(values)
    }

    /// The record type to which the subscription is limited; nil for all types (SUB-12, SUB-15).
    open var recordType: CKRecord.RecordType? {
        get { type.current }
        set { type.current = newValue }
    }

    /// Returns a copy with the same state.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKDatabaseSubscription(values)
    }

    /// Compares ID, notification and record type.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKDatabaseSubscription else { return false }
        return super.isEqual(other) && recordType == other.recordType
    }
}

extension CKDatabaseSubscription {
    /// The archived state of a database subscription.
    struct Values: ArchiveValue {
        /// What all kinds of subscriptions keep.
        var common: Common

        /// The only type of records whose changes count.
        var recordType: CKRecord.RecordType?

        static var kind: ArchiveKind { .databaseSubscription }
    }

    private var values: Values { Values(common: common, recordType: recordType) }
}

extension CKDatabaseSubscription.Values {
    init(from reader: inout BlobReader) throws(BlobError) {
        common = try CKSubscription.Common(from: &reader)
        recordType = try reader.optionalString()
    }

    func write(to writer: inout BlobWriter) {
        common.write(to: &writer)
        writer.write(recordType)
    }
}
