// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Keeps payloads within what Apple's push service accepts (PRUNE-1).
package enum PayloadPruner {
    /// Bytes of a payload (PUSH-5): the limit of regular APNs pushes.
    ///
    /// What is never removed fits: a subscription ID of 255 scalars takes at most
    /// 1,530 bytes with escapes, a zone name of 255 ASCII characters 510, a user
    /// record name 33, and all keys and numbers less than 200.
    package static let limit = 4096

    /// Bytes of a payload in the history, which holds in full what a push could
    /// not carry (NOTIF-8): four times as much, so that no text of an app can fill
    /// the log.
    package static let historyLimit = 4 * limit

    /// A payload as text.
    package struct Encoded: Sendable, Hashable {
        package var bytes: [UInt8]
        /// What had to go, in the order it went.
        package var removed: [PayloadProperty] = []

        /// Whether something had to go.
        package var isPruned: Bool { !removed.isEmpty }
    }

    /// Returns the encoded payload, at most `limit` bytes, and what had to go.
    ///
    /// Properties go one at a time, whole, in the order asked for, until the rest
    /// fits (PRUNE-7); the flag `p` counts too. The cost does not grow with texts
    /// that cannot fit: what their bytes alone exceed is not encoded to be measured.
    package static func encoded(
        _ payload: WirePushPayload, order: PruningOrder = .header, limit: Int = limit
    ) -> Encoded {
        if payload.leastBytes <= limit {
            let bytes = payload.encoded()
            if bytes.count <= limit { return Encoded(bytes: bytes) }
        }
        var payload = payload
        payload.isPruned = true
        var removed: [PayloadProperty] = []
        for property in PayloadProperty.removalOrder(of: payload.kind, order) {
            guard property.remove(from: &payload) else { continue }
            removed.append(property)
            guard payload.leastBytes <= limit else { continue }
            let bytes = payload.encoded()
            if bytes.count <= limit { return Encoded(bytes: bytes, removed: removed) }
        }
        // Nothing is left to take; the bounds of names ensure that this fits.
        return Encoded(bytes: payload.encoded(), removed: removed)
    }
}

extension WirePushPayload {
    /// Bytes that the payload takes at least: those of its texts, without escapes
    /// and all that stands around them.
    fileprivate var leastBytes: Int {
        var bytes = alert.leastBytes
        bytes += soundName.bytes + category.bytes
        bytes += containerIdentifier.bytes + notificationID.bytes + ownerRecordName.bytes
        bytes += subscriptionID.bytes + recordName.bytes
        return bytes
    }
}

extension WireAlert {
    fileprivate var leastBytes: Int {
        var bytes = body.bytes + localizationKey.bytes + localizationArgs.bytes
        bytes += title.bytes + titleLocalizationKey.bytes + titleLocalizationArgs.bytes
        bytes += subtitle.bytes + subtitleLocalizationKey.bytes + subtitleLocalizationArgs.bytes
        bytes += actionLocalizationKey.bytes + launchImage.bytes
        return bytes
    }
}

extension String? {
    fileprivate var bytes: Int { self?.utf8.count ?? 0 }
}

extension [String]? {
    fileprivate var bytes: Int { self?.reduce(0) { $0 + $1.utf8.count } ?? 0 }
}

/// What pruning takes away first; the operator's choice (PRUNE-5).
package enum PruningOrder: String, Sendable, Hashable, CaseIterable {
    /// In the order of the importance list of Apple's header.
    case header
    /// The values of the desired keys first, as Apple's page on query
    /// notifications describes; then as ``header``. The record's ID survives longer.
    case fieldsFirst
}

/// A property of a notification that pruning can take away.
package enum PayloadProperty: String, Sendable, Hashable, CaseIterable {
    case category, mutableContent
    case subtitle, subtitleLocalizationArgs, subtitleLocalizationKey
    case title, titleLocalizationArgs, titleLocalizationKey
    case subscriptionOwner, containerIdentifier
    case recordID, recordZoneID, queryNotificationReason, desiredKeys
    case contentAvailable, soundName, alertLaunchImage, alertActionLocalizationKey
    case alertBody, alertLocalizationArgs, alertLocalizationKey
    case badge, notificationID

    /// The properties of a kind of notification, the least important first
    /// (PRUNE-2 to 4).
    ///
    /// Apple's list lacks the category and mutable-content. Apple appended what
    /// was newer than the list at its end, so they count as least important; they
    /// have to stand somewhere, or a long category would fit no payload.
    package static func removalOrder(
        of kind: WireSubscription.Kind?, _ order: PruningOrder = .header
    ) -> [PayloadProperty] {
        let properties = allCases.filter { property in
            switch property {
            case .recordID, .queryNotificationReason, .desiredKeys: kind == .query
            case .recordZoneID: kind == .zone
            default: true
            }
        }
        guard order == .fieldsFirst, kind == .query else { return properties }
        return [.desiredKeys] + properties.filter { $0 != .desiredKeys }
    }

    /// Takes the property away; false when the payload does not have it.
    package func remove(from payload: inout WirePushPayload) -> Bool {
        let before = payload
        switch self {
        case .category: payload.category = nil
        case .mutableContent: payload.isMutableContent = false
        case .subtitle: payload.alert.subtitle = nil
        case .subtitleLocalizationArgs: payload.alert.subtitleLocalizationArgs = nil
        case .subtitleLocalizationKey: payload.alert.subtitleLocalizationKey = nil
        case .title: payload.alert.title = nil
        case .titleLocalizationArgs: payload.alert.titleLocalizationArgs = nil
        case .titleLocalizationKey: payload.alert.titleLocalizationKey = nil
        case .subscriptionOwner: payload.ownerRecordName = nil
        case .containerIdentifier: payload.containerIdentifier = nil
        case .recordID:
            payload.recordName = nil
            payload.zone = nil
        case .recordZoneID: payload.zone = nil
        case .queryNotificationReason: payload.reason = nil
        case .desiredKeys: payload.desiredFields = []
        case .contentAvailable: payload.isContentAvailable = false
        case .soundName: payload.soundName = nil
        case .alertLaunchImage: payload.alert.launchImage = nil
        case .alertActionLocalizationKey: payload.alert.actionLocalizationKey = nil
        case .alertBody: payload.alert.body = nil
        case .alertLocalizationArgs: payload.alert.localizationArgs = nil
        case .alertLocalizationKey: payload.alert.localizationKey = nil
        case .badge: payload.badge = nil
        case .notificationID: payload.notificationID = nil
        }
        return payload != before
    }
}
