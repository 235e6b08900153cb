// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Makes the payloads of one batch.
///
/// A record's fields are decoded at most once, however many subscriptions want
/// to show them, and not at all where none does.
package struct NotificationBuilder {
    /// How many Unicode scalars of a field's text go into a payload (NINFO-17).
    package static let fieldTextLimit = 100

    /// How many records had stored fields that could not be read; their fields
    /// count as absent, since a push without them still notifies of the change.
    package private(set) var unreadableRecords = 0
    private var records: [RecordKey: [String: Field]] = [:]

    /// Creates a builder for one batch.
    package init() {}

    /// Returns what the match's push replaces (PUSH-2); nil for nothing.
    ///
    /// An app's ID is the string in the record's field that `collapseIDKey` names,
    /// else the key itself (NINFO-15); an encrypted field is not delivered (NINFO-20).
    /// Silent query pushes name the record, so without such an ID all are sent.
    package mutating func collapseID(of match: SubscriptionMatch) -> CollapseID? {
        let subscription = match.subscription.subscription
        guard subscription.kind == .query else {
            return match.pushType == .background ? .background : nil
        }
        guard let key = subscription.notificationInfo?.collapseIDKey else { return nil }
        if let field = fields(of: match)[key], !field.isEncrypted,
            case .string(let text) = field.value, let id = CollapseID(text: text)
        {
            return id
        }
        return CollapseID(text: key)
    }

    /// Returns the payload of a match, before pruning and without its badge.
    ///
    /// - Parameters:
    ///   - database: The database of the subscription.
    ///   - owner: The user whose subscription it is.
    ///   - notificationID: A lower-case UUID, one for all devices (PUSH-7, PUSH-9).
    package mutating func payload(
        for match: SubscriptionMatch,
        in database: StoredDatabase,
        owner: StoredUser,
        notificationID: String
    ) -> WirePushPayload {
        let subscription = match.subscription.subscription
        var payload = WirePushPayload(
            kind: subscription.kind, subscriptionID: subscription.subscriptionID,
            scope: database.key.scope
        )
        payload.containerIdentifier = database.key.container.container
        payload.notificationID = notificationID
        payload.ownerRecordName = owner.recordName
        payload.zone = ZoneID(
            zoneName: match.entry.zoneName, ownerRecordName: match.entry.zoneOwner
        )
        let info = subscription.notificationInfo ?? WireNotificationInfo()
        payload.isContentAvailable =
            info.shouldSendContentAvailable || match.pushType == .background
        payload.isMutableContent = info.shouldSendMutableContent
        payload.category = info.category
        let wantsFields = info.wantsFields(of: match)
        let fields = wantsFields ? self.fields(of: match) : [:]
        if match.pushType == .alert {
            payload.soundName = info.soundName
            payload.alert = Self.alert(info, fields)
        }
        if case .record(let change) = match.cause {
            payload.recordName = change.recordName
            payload.reason = change.event
            payload.desiredFields = Self.desiredFields(info.desiredKeys, fields, in: payload.zone)
        }
        return payload
    }

    // MARK: -

    private struct RecordKey: Hashable {
        var entry: OutboxEntryID
        var recordName: String
        var event: RecordEvent
    }

    private mutating func fields(of match: SubscriptionMatch) -> [String: Field] {
        guard case .record(let change) = match.cause, let stored = change.fields else { return [:] }
        let key = RecordKey(
            entry: match.entry.id, recordName: change.recordName, event: change.event
        )
        if let known = records[key] { return known }
        var fields: [String: Field] = [:]
        do {
            fields = try stored.decoded()
        } catch {
            unreadableRecords += 1
        }
        records[key] = fields
        return fields
    }
}

extension WireNotificationInfo {
    /// Whether the payload shows fields of the record.
    fileprivate func wantsFields(of match: SubscriptionMatch) -> Bool {
        let lists = [
            desiredKeys, alert.localizationArgs, alert.titleLocalizationArgs,
            alert.subtitleLocalizationArgs,
        ]
        return match.cause != .zone && lists.contains { $0?.isEmpty == false }
    }
}
