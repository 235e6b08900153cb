// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import TidebellWire

/// A push as an app receives it in `didReceiveRemoteNotification`.
///
/// ```swift
/// let push = try await phone.nextPush()
/// let change = try #require(push.notification as? CKRecordZoneNotification)
/// #expect(change.subscriptionID == "feed-changes")
/// ```
public struct ReceivedPush: @unchecked Sendable, CustomStringConvertible {
    // Sendable: the dictionary holds plain Foundation values that nobody changes.

    /// The dictionary that the app gets.
    public let userInfo: [AnyHashable: Any]

    /// The container whose registration received the push.
    public let containerIdentifier: String

    init(userInfo: [AnyHashable: Any], containerIdentifier: String) {
        self.userInfo = userInfo
        self.containerIdentifier = containerIdentifier
    }

    /// The push as a notification; nil if it is not from CloudKit.
    public var notification: CKNotification? {
        CKNotification(fromRemoteNotificationDictionary: userInfo)
    }

    /// The ID of the notification, the same on every device of the user.
    public var notificationID: String? {
        WirePushPayload.read(userInfo)?.payload.notificationID
    }

    /// The whole dictionary as JSON with sorted keys, for comparisons.
    public var json: String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        // A dictionary that is no JSON came from no server; its description shows that.
        guard JSONSerialization.isValidJSONObject(userInfo),
            let data = try? JSONSerialization.data(withJSONObject: userInfo, options: options)
        else { return "\(userInfo)" }
        return String(decoding: data, as: UTF8.self)
    }

    /// The JSON of the dictionary.
    public var description: String { json }
}
