// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The base class of subscriptions. A subscription makes the server send pushes about changes to
/// the user's devices (SUB-1).
///
/// This class is abstract: create a ``CKQuerySubscription``, ``CKRecordZoneSubscription`` or
/// ``CKDatabaseSubscription``. Compares by value.
/// See <https://developer.apple.com/documentation/cloudkit/cksubscription>.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable: ID and kind are constants, the rest is behind a lock.
    private let identity: String
    private let kind: SubscriptionType
    private let info: Locked<CKNotificationInfo?>

    /// The ID of a subscription, unique in its database.
    public typealias ID = String

    /// The kinds of subscriptions (SUB-1).
    public enum SubscriptionType: Int, Sendable {
        /// A ``CKQuerySubscription``.
        case query = 1
        /// A ``CKRecordZoneSubscription``.
        case recordZone = 2
        /// A ``CKDatabaseSubscription``.
        case database = 3
    }

    /// Creates the common part of a subscription a server or an archive named; the ID
    /// is not checked.
    init(unchecked kind: SubscriptionType, _ common: Common) {
        identity = common.subscriptionID
        self.kind = kind
        info = Locked(common.notificationInfo)
        super.init()
    }

    /// Reads the common part from an archive; only subclasses can be read.
    public required init?(coder: NSCoder) {
        nil
    }

    /// Always true: subscriptions support secure coding.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the subscription to a keyed archive.
    open func encode(with coder: NSCoder) {
        preconditionFailure("CKSubscription is abstract; \(Swift.type(of: self)) has to encode.")
    }

    /// The ID of the subscription, unique in its database.
    open var subscriptionID: CKSubscription.ID { identity }

    /// The kind of the subscription.
    open var subscriptionType: CKSubscription.SubscriptionType { kind }

    /// What the pushes of the subscription contain; the property keeps a copy (SUB-69).
    ///
    /// Nil means a push that displays nothing (SUB-68).
    open var notificationInfo: CKSubscription.NotificationInfo? {
        get { info.current }
        set { info.current = newValue?.clone() }
    }

    /// Returns a copy with the same state.
    open func copy(with zone: NSZone? = nil) -> Any {
        preconditionFailure("CKSubscription is abstract; \(Swift.type(of: self)) has to copy.")
    }

    /// Compares kind, ID, notification and the properties of the subclass.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription else { return false }
        return kind == other.kind && common == other.common
    }

    /// A hash of the ID.
    open override var hash: Int { identity.hashValue }

    /// Kind and ID as text, for logs and debuggers.
    open override var description: String {
        "<\(Swift.type(of: self)): subscriptionID=\(subscriptionID)>"
    }
}

extension CKSubscription {
    /// What all kinds of subscriptions keep.
    struct Common: Equatable {
        /// The name of the subscription.
        var subscriptionID: String

        /// What the pushes contain.
        var notificationInfo: CKNotificationInfo?
    }

    /// What all kinds of subscriptions keep, as it is now.
    var common: Common {
        Common(subscriptionID: identity, notificationInfo: info.current?.clone())
    }
}

extension CKSubscription.Common {
    init(from reader: inout BlobReader) throws(BlobError) {
        subscriptionID = try reader.string()
        if try reader.bool() {
            let values = try CKNotificationInfo.Values(from: &reader)
            notificationInfo = CKNotificationInfo(values)
        }
    }

    func write(to writer: inout BlobWriter) {
        writer.write(subscriptionID)
        writer.write(notificationInfo) { $1.values.write(to: &$0) }
    }
}
