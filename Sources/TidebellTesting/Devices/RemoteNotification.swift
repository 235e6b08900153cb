// SPDX-License-Identifier: Apache-2.0
import CloudKit
internal import TidebellWire

/// Payloads of CloudKit pushes, made by hand for tests that need no cloud.
///
/// They have the shape of real ones (`aps` and `ck`), so that a test can call an
/// app's push code, or make the `CKNotification` that no initializer makes (NOTIF-2).
///
/// ```swift
/// let userInfo = RemoteNotification.recordZone(
///     subscriptionID: "feed-changes", zoneID: zoneID
/// )
/// await app.didReceiveRemoteNotification(userInfo)
/// let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
/// ```
public enum RemoteNotification {
    /// The user that payloads are of unless told otherwise.
    public static let defaultUserRecordName = "_00000000000000000000000000000001"

    /// Returns the payload of a zone subscription's push.
    public static func recordZone(
        subscriptionID: CKSubscription.ID,
        zoneID: CKRecordZone.ID,
        container: String = TestCloud.defaultContainer,
        user: String = defaultUserRecordName
    ) -> [AnyHashable: Any] {
        let kind = kind(subscriptionID, scope: .private, zoneID: zoneID, user: user)
        return payload(["fet": kind], container: container, user: user)
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
        let kind = kind(subscriptionID, scope: scope, zoneID: zoneID, user: user)
        return payload(["met": kind], container: container, user: user)
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
        var kind = kind(subscriptionID, scope: scope, zoneID: recordID.zoneID, user: user)
        kind["rid"] = recordID.recordName
        kind["fo"] = reason.rawValue
        if !recordFields.isEmpty { kind["af"] = recordFields }
        return payload(["qry": kind], container: container, user: user)
    }

    private static func kind(
        _ subscriptionID: String,
        scope: CKDatabase.Scope,
        zoneID: CKRecordZone.ID,
        user: String
    ) -> [String: Any] {
        let isOwn = zoneID.ownerName == CKCurrentUserDefaultName
        return [
            "sid": subscriptionID,
            "dbs": databaseNumber(of: scope),
            "zid": zoneID.zoneName,
            "zoid": scope == .public ? "_defaultOwner" : isOwn ? user : zoneID.ownerName,
        ]
    }

    private static func payload(
        _ kind: [String: Any],
        container: String,
        user: String
    ) -> [AnyHashable: Any] {
        let common: [String: Any] = [
            "ce": 2, "cid": container, "ckuserid": user,
            "nid": UUID.random().uuidString.lowercased(),
        ]
        return ["aps": ["content-available": 1], "ck": common.merging(kind) { $1 }]
    }

    /// NB: pushes count the databases in another order than `CKDatabase.Scope`
    /// (PUSH-18).
    private static func databaseNumber(of scope: CKDatabase.Scope) -> Int {
        switch scope {
        case .private: 1
        case .public: 2
        case .shared: 3
        }
    }
}
