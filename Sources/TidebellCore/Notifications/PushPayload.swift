// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a push says: Apple's part `aps` and CloudKit's part `ck` (PUSH-16).
///
/// Each property is one that pruning can take away on its own; what it never
/// takes is not optional (PRUNE-6).
package struct PushPayload: Sendable, Hashable {
    /// `aps.alert`: what is shown (NINFO-2 to 9).
    package struct Alert: Sendable, Hashable {
        package var body: String?
        package var localizationKey: String?
        package var localizationArgs: [String]?
        package var title: String?
        package var titleLocalizationKey: String?
        package var titleLocalizationArgs: [String]?
        package var subtitle: String?
        package var subtitleLocalizationKey: String?
        package var subtitleLocalizationArgs: [String]?
        package var actionLocalizationKey: String?
        package var launchImage: String?

        /// Creates an alert that shows nothing.
        package init() {}
    }

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

    package var alert = Alert()
    /// The user's badge from now on, as ``BadgeCounters`` counts it (NINFO-11).
    package var badge: Int?
    package var soundName: String?
    package var category: String?
    package var isContentAvailable = false
    package var isMutableContent = false

    // MARK: ck

    package var containerIdentifier: String?
    package var notificationID: String?
    /// The record name of the user whose subscription it is (SUB-52).
    package var ownerRecordName: String?
    /// Whether something was taken away for size (NOTIF-7).
    package var isPruned = false

    // MARK: ck.qry, ck.fet, ck.met

    package var kind: WireSubscription.Kind
    package var subscriptionID: String
    package var scope: DatabaseScope
    /// The zone; of a query notification the zone of the record.
    package var zone: ZoneID?
    package var recordName: String?
    package var reason: RecordEvent?
    /// The values of the desired keys; empty means no `af` (NINFO-21).
    package var desiredFields: [DesiredField] = []

    /// Creates a payload that names its subscription and nothing else.
    package init(kind: WireSubscription.Kind, subscriptionID: String, scope: DatabaseScope) {
        self.kind = kind
        self.subscriptionID = subscriptionID
        self.scope = scope
    }
}
