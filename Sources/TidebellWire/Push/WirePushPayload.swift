// SPDX-License-Identifier: Apache-2.0

/// What happened to a record; the raw value is `fo` in payloads (PUSH-18).
package enum RecordEvent: Int, Sendable, Hashable {
    case created = 1
    case updated = 2
    case deleted = 3
}

/// The content of a push: Apple's part `aps` and CloudKit's part `ck` (PUSH-16).
///
/// Each property is one that a push may lack. The server's pruning takes all but kind,
/// subscription and database, which it never takes (PRUNE-6).
package struct WirePushPayload: Sendable, Hashable {
    /// The value of one desired key (NINFO-16).
    package struct DesiredField: Sendable, Hashable {
        package var key: String
        package var value: FieldValue

        package init(key: String, value: FieldValue) {
            self.key = key
            self.value = value
        }
    }

    // MARK: aps

    package var alert = WireAlert()
    /// The user's badge from now on (NINFO-11).
    package var badge: Int?
    package var soundName: String?
    package var category: String?
    package var isContentAvailable = false
    package var isMutableContent = false

    // MARK: ck

    package var containerIdentifier: String?
    /// A lower-case UUID, the same on all devices of the user (PUSH-7, PUSH-9).
    package var notificationID: String?
    /// The record name of the user whose subscription it is (SUB-52).
    package var ownerRecordName: String?
    /// Whether something was taken away for size (NOTIF-7).
    package var isPruned = false

    // MARK: ck.qry, ck.fet, ck.met

    package var kind: WireSubscription.Kind?
    package var subscriptionID: String?
    package var scope: DatabaseScope?
    /// The zone; of a query notification the zone of the record.
    package var zone: ZoneID?
    package var recordName: String?
    package var reason: RecordEvent?
    /// The values of the desired keys; empty means no `af` (NINFO-21). Not of a payload that
    /// was read from a dictionary, whose values have no types.
    package var desiredFields: [DesiredField] = []

    /// Creates an empty payload.
    package init() {}

    /// Creates a payload that names its subscription, if any, and nothing else.
    package init(
        kind: WireSubscription.Kind, subscriptionID: String? = nil, scope: DatabaseScope
    ) {
        self.kind = kind
        self.subscriptionID = subscriptionID
        self.scope = scope
    }
}
