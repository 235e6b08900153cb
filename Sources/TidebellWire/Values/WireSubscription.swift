// SPDX-License-Identifier: Apache-2.0

/// A subscription as the wire carries it (web-services 4.6).
package struct WireSubscription: Sendable, Hashable {
    /// The three kinds (SUB-1).
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case query
        case zone
        case database
    }

    /// The events a query subscription fires on (SUB-17).
    package struct Events: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package static let create = Events(rawValue: 1)
        package static let update = Events(rawValue: 2)
        package static let delete = Events(rawValue: 4)

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }
    }

    package var subscriptionID: String
    package var kind: Kind
    /// Restricts a query subscription; required for a zone subscription.
    package var zoneID: ZoneID?
    /// Whether the client wrote a database subscription as `zone` with
    /// `zoneWide`, so that it is answered in kind.
    package var isWrittenAsZoneWide = false
    /// The record type: of the query, or the filter of the other kinds (SUB-12).
    package var recordType: String?
    /// The query's filters; none means that every record of the type matches.
    package var filters: [WireFilter] = []
    package var firesOn: Events = []
    package var firesOnce = false
    package var notificationInfo: WireNotificationInfo?

    /// Creates a subscription.
    package init(
        subscriptionID: String,
        kind: Kind,
        zoneID: ZoneID? = nil,
        recordType: String? = nil,
        firesOn: Events = [],
        firesOnce: Bool = false,
        notificationInfo: WireNotificationInfo? = nil
    ) {
        self.subscriptionID = subscriptionID
        self.kind = kind
        self.zoneID = zoneID
        self.recordType = recordType
        self.firesOn = firesOn
        self.firesOnce = firesOnce
        self.notificationInfo = notificationInfo
    }
}

/// What a subscription's pushes carry (NINFO-1 to 16); names are Apple's.
package struct WireNotificationInfo: Sendable, Hashable {
    /// What they show; arguments are names of fields here. Its members stand beside the others on
    /// the wire.
    package var alert = WireAlert()
    package var soundName: String?
    package var category: String?
    package var collapseIDKey: String?
    /// `additionalFields` on the wire.
    package var desiredKeys: [String]?
    package var shouldBadge = false
    package var shouldSendContentAvailable = false
    package var shouldSendMutableContent = false

    /// Creates an info with nothing set.
    package init() {}

    /// Whether the push shows, sounds or badges something (NINFO-25).
    package var isVisual: Bool {
        shouldBadge || soundName != nil || alert.hasText
    }
}

/// One element of a `subscriptions` array.
package enum SubscriptionResult: Sendable, Hashable {
    case subscription(WireSubscription)
    case deleted(subscriptionID: String)
    case failed(subscriptionID: String, WireError)
}
