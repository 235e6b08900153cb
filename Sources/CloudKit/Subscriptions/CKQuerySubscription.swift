// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TidebellWire

/// A subscription to changes of records that match a predicate; every such change sends its own
/// push (SUB-23).
///
/// ```swift
/// let subscription = CKQuerySubscription(
///     recordType: "Task", predicate: NSPredicate(format: "state = %@", "urgent"),
///     subscriptionID: "urgent-tasks", options: [.firesOnRecordCreation, .firesOnRecordUpdate])
/// let info = CKSubscription.NotificationInfo()
/// info.alertBody = "A task is urgent."
/// info.desiredKeys = ["title"]
/// subscription.notificationInfo = info
/// try await database.save(subscription)
/// ```
///
/// It can be saved in the public and the private database (SUB-4).
/// See <https://developer.apple.com/documentation/cloudkit/ckquerysubscription>.
open class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    // Sendable: type, predicate and options are constants (predicates do not change
    // once made), the zone is behind a lock.
    private let query: Query
    private let zone: Locked<CKRecordZoneID?>

    /// Creates a subscription with a new UUID (SUB-21, SUB-28).
    ///
    /// - Precondition: As for the initializer with an ID.
    @available(*, deprecated, renamed: "init(recordType:predicate:subscriptionID:options:)")
    public convenience init(
        recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        self.init(
            recordType: recordType,
            predicate: predicate,
            subscriptionID: NewIdentifier.make(),
            options: querySubscriptionOptions
        )
    }

    /// Creates a subscription.
    ///
    /// - Precondition: `recordType` and `subscriptionID` are not empty (SUB-16, SUB-28);
    ///   the options have at least one of creation, update and deletion (SUB-18).
    public convenience init(
        recordType: CKRecord.RecordType,
        predicate: NSPredicate,
        subscriptionID: CKSubscription.ID,
        options querySubscriptionOptions: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        precondition(!recordType.isEmpty, "The record type of a subscription must not be empty.")
        precondition(!subscriptionID.isEmpty, "The ID of a subscription must not be empty.")
        precondition(
            !querySubscriptionOptions.isDisjoint(with: .anyChange),
            "A query subscription must fire on creation, update or deletion."
        )
        let query = Query(
            recordType: recordType,
            predicate: predicate,
            options: querySubscriptionOptions
        )
        self.init(Common(subscriptionID: subscriptionID), query: query, zoneID: nil)
    }

    /// Creates a subscription of the given state; nothing is checked.
    init(_ common: Common, query: Query, zoneID: CKRecordZoneID?) {
        self.query = query
        zone = Locked(zoneID)
        super.init(unchecked: .query, common)
    }

    /// Reads a subscription from an archive.
    ///
    /// If the archive is damaged, the unarchiver fails; if it does not report failures, the result
    /// is a subscription that never fires.
    public required init(coder: NSCoder) {
        let values = coder.decodeArchiveBlob(Values.self)
        if values == nil { coder.failDecoding(of: CKQuerySubscription.self) }
        query =
            values?.query
            ?? Query(recordType: "", predicate: NSPredicate(value: false), options: [])
        zone = Locked(values?.zoneID)
        super.init(
            unchecked: .query,
            values?.common ?? Common(subscriptionID: NewIdentifier.make())
        )
    }

    /// Writes the subscription to a keyed archive.
    ///
    /// - Precondition: The predicate was made from a format, a constant or from such predicates;
    ///   blocks cannot be archived.
    open override func encode(with coder: NSCoder) {
        coder.encodeArchiveBlob(Values(common: common, query: query, zoneID: zoneID))
    }

    /// The type of the records; it cannot be changed (SUB-16, SUB-70).
    open var recordType: CKRecord.RecordType? { query.recordType }

    /// What the records that count have in common; fixed (SUB-16, SUB-70).
    // NB: the object itself: Foundation on Linux turns copies of compound
    // predicates into ones that are always false.
    open var predicate: NSPredicate { query.predicate }

    /// The zone to which the subscription is limited; nil for all zones (SUB-9).
    open var zoneID: CKRecordZone.ID? {
        get { zone.current }
        set { zone.current = newValue }
    }

    /// The events that fire the subscription; they cannot be changed (SUB-17, SUB-70).
    open var querySubscriptionOptions: CKQuerySubscription.Options { query.options }

    /// Returns a copy with the same state and the same predicate object.
    open override func copy(with zone: NSZone? = nil) -> Any {
        CKQuerySubscription(common, query: query, zoneID: zoneID)
    }

    /// Compares ID, notification, type, predicate, options and zone.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKQuerySubscription else { return false }
        return super.isEqual(other) && query == other.query && zoneID == other.zoneID
    }
}

extension CKQuerySubscription {
    /// The events that fire a query subscription (SUB-17).
    public struct Options: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: UInt

        /// Creates a set from raw bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// A record that matches was created.
        public static let firesOnRecordCreation = Options(rawValue: 1)

        /// A record was changed and matches now.
        public static let firesOnRecordUpdate = Options(rawValue: 2)

        /// A record that matched was deleted.
        public static let firesOnRecordDeletion = Options(rawValue: 4)

        /// The server deletes the subscription after its first push (SUB-19).
        public static let firesOnce = Options(rawValue: 8)
    }

    /// What a query subscription watches.
    struct Query {
        /// The type of the records.
        var recordType: CKRecord.RecordType

        /// What the records have in common.
        var predicate: NSPredicate

        /// The events.
        var options: Options
    }
}

extension CKQuerySubscription.Options {
    /// Creation, update and deletion: the default (SUB-21).
    static var anyChange: CKQuerySubscription.Options {
        [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    }
}
