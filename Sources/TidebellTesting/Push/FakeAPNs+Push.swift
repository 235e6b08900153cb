// SPDX-License-Identifier: Apache-2.0
public import CloudKit

extension FakeAPNs {
    /// A push that was accepted.
    public struct Push: Sendable, Hashable {
        /// The device it is for, in hexadecimal digits.
        public let deviceToken: String
        /// The header `apns-id`; a push that is repeated keeps it.
        public let id: String?
        /// The header `apns-topic`.
        public let topic: String
        /// The header `apns-push-type`.
        public let pushType: String
        /// The header `apns-priority`; 10 when it is missing.
        public let priority: Int
        /// The header `apns-expiration`; nil if there is none.
        public let expiration: Date?
        /// The header `apns-collapse-id`.
        public let collapseID: String?
        /// The body.
        public let payload: [UInt8]

        /// The dictionary that an app would get.
        public var userInfo: [AnyHashable: Any] {
            // It was checked to be an object before it was taken.
            let object = try? JSONSerialization.jsonObject(with: Data(payload))
            return object as? [String: Any] ?? [:]
        }

        /// The push as a notification; nil if it is not from CloudKit.
        public var notification: CKNotification? {
            CKNotification(fromRemoteNotificationDictionary: userInfo)
        }
    }

    /// A refusal: Apple's statuses and reasons ("Handling notification responses from
    /// APNs").
    public struct Refusal: Sendable, Hashable {
        /// The HTTP status.
        public let status: Int
        /// Apple's reason; empty for an answer without body.
        public let reason: String
        /// When the token became invalid, for status 410.
        public let timestamp: Date?
        /// The header `retry-after` in seconds.
        public let retryAfter: Int?

        /// Creates a refusal.
        public init(
            status: Int, reason: String, timestamp: Date? = nil, retryAfter: Int? = nil
        ) {
            self.status = status
            self.reason = reason
            self.timestamp = timestamp
            self.retryAfter = retryAfter
        }

        /// The device token is invalid, or belongs to the other environment.
        public static let badDeviceToken = Refusal(status: 400, reason: "BadDeviceToken")
        /// The device token belongs to another app.
        public static let deviceTokenNotForTopic = Refusal(
            status: 400, reason: "DeviceTokenNotForTopic"
        )
        /// The team has no such app.
        public static let topicDisallowed = Refusal(status: 400, reason: "TopicDisallowed")
        /// The provider token is older than an hour.
        public static let expiredProviderToken = Refusal(
            status: 403, reason: "ExpiredProviderToken"
        )
        /// The provider token is not signed with a key of the team.
        public static let invalidProviderToken = Refusal(
            status: 403, reason: "InvalidProviderToken"
        )
        /// The payload has more than 4096 bytes.
        public static let payloadTooLarge = Refusal(status: 413, reason: "PayloadTooLarge")
        /// Too many pushes for one device.
        public static let tooManyRequests = Refusal(status: 429, reason: "TooManyRequests")
        /// New provider tokens came too often.
        public static let tooManyProviderTokenUpdates = Refusal(
            status: 429, reason: "TooManyProviderTokenUpdates"
        )
        /// An internal error of Apple's push service.
        public static let internalServerError = Refusal(
            status: 500, reason: "InternalServerError"
        )
        /// Apple's push service is unavailable.
        public static let serviceUnavailable = Refusal(status: 503, reason: "ServiceUnavailable")

        /// The app is no longer on the device.
        public static func unregistered(since timestamp: Date) -> Refusal {
            Refusal(status: 410, reason: "Unregistered", timestamp: timestamp)
        }

        /// The refusal as ``FakeAPNs/answers`` lists it.
        var words: String { reason.isEmpty ? "\(status)" : "\(status) \(reason)" }
    }
}
