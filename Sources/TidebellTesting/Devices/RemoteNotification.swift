// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import TidebellWire

/// Makes payloads of CloudKit pushes, for tests that need no cloud.
///
/// The payloads have the form of real ones (`aps` and `ck`), so that a test can call an app's push
/// code, or make a `CKNotification`, which has no other initializer (NOTIF-2).
///
/// ```swift
/// let userInfo = RemoteNotification.recordZone(
///     subscriptionID: "feed-changes", zoneID: zoneID
/// )
/// await app.didReceiveRemoteNotification(userInfo)
/// let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// ```
public enum RemoteNotification {
    /// The user of payloads, unless a call names another one.
    public static let defaultUserRecordName = "_00000000000000000000000000000001"

    /// Returns the payload of a zone subscription's push.
    public static func recordZone(
        subscriptionID: CKSubscription.ID,
        zoneID: CKRecordZone.ID,
        container: String = TestCloud.defaultContainer,
        user: String = defaultUserRecordName
    ) -> [AnyHashable: Any] {
        let payload = payload(
            .zone, subscriptionID, scope: .private, zoneID: zoneID, container: container, user: user
        )
        return payload.userInfo()
    }

    /// Returns the payload of a database subscription's push.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription that fired.
    ///   - zoneID: The zone that changed.
    ///   - scope: The database the zone is in.
    ///   - container: The container's identifier.
    ///   - user: The record name of the user whose device it is.
    public static func database(
        subscriptionID: CKSubscription.ID,
        zoneID: CKRecordZone.ID,
        scope: CKDatabase.Scope = .private,
        container: String = TestCloud.defaultContainer,
        user: String = defaultUserRecordName
    ) -> [AnyHashable: Any] {
        let payload = payload(
            .database, subscriptionID, scope: scope, zoneID: zoneID, container: container,
            user: user
        )
        return payload.userInfo()
    }

    /// Returns the payload of a query subscription's push.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription that fired.
    ///   - recordID: The record that changed.
    ///   - reason: What happened to it.
    ///   - recordFields: The values of the desired keys: strings and numbers.
    ///   - scope: The database the record is in.
    ///   - container: The container's identifier.
    ///   - user: The record name of the user whose device it is.
    public static func query(
        subscriptionID: CKSubscription.ID,
        recordID: CKRecord.ID,
        reason: CKQueryNotification.Reason,
        recordFields: [String: Any] = [:],
        scope: CKDatabase.Scope = .private,
        container: String = TestCloud.defaultContainer,
        user: String = defaultUserRecordName
    ) -> [AnyHashable: Any] {
        var payload = payload(
            .query, subscriptionID, scope: scope, zoneID: recordID.zoneID, container: container,
            user: user
        )
        payload.recordName = recordID.recordName
        payload.reason = RecordEvent(rawValue: reason.rawValue)
        return payload.userInfo(desiredFields: recordFields)
    }

    private static func payload(
        _ kind: WireSubscription.Kind,
        _ subscriptionID: String,
        scope: CKDatabase.Scope,
        zoneID: CKRecordZone.ID,
        container: String,
        user: String
    ) -> WirePushPayload {
        let isOwn = zoneID.ownerName == CKCurrentUserDefaultName
        var payload = WirePushPayload(
            kind: kind, subscriptionID: subscriptionID, scope: databaseScope(scope)
        )
        payload.isContentAvailable = true
        payload.containerIdentifier = container
        payload.ownerRecordName = user
        payload.notificationID = Randomness.system.makeUUID().uuidString.lowercased()
        payload.zone = ZoneID(
            zoneName: zoneID.zoneName,
            ownerRecordName: scope == .public ? ZoneID.publicOwner : isOwn ? user : zoneID.ownerName
        )
        return payload
    }

    private static func databaseScope(_ scope: CKDatabase.Scope) -> DatabaseScope {
        switch scope {
        case .private: .private
        case .public: .public
        case .shared: .shared
        }
    }
}
