// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Whether an event fires a subscription: the one home of these rules, for the
/// matcher and for those who ask later why a push came or did not.
package enum SubscriptionVerdict: Sendable, Hashable {
    /// Why an event leaves a subscription alone.
    package enum Reason: Sendable, Hashable {
        /// Zone and database subscriptions never fire for the default zone (SUB-7).
        case defaultZone
        /// It watches another zone (SUB-9, SUB-53).
        case otherZone(String)
        /// It is narrowed to another record type (SUB-13, SUB-14).
        case otherRecordType(String)
        /// It does not ask for creations, updates or deletions (SUB-17).
        case eventNotAsked(RecordEvent)
        /// The record does not pass one of its filters (SUB-23, SUB-24); nil for a
        /// field the record does not have.
        case filter(WireFilter, found: FieldValue?)
        /// It notifies of records, and the zone itself came or went (SUB-13, SUB-23).
        case recordsOnly
        /// Zone subscriptions notify of their zone's end only, not of zones that
        /// begin (SUB-54).
        case zoneCreated
        /// It notifies of records, and what the change was cannot be read any more.
        case unreadableChange
    }

    /// It fires.
    case fires
    /// It does not.
    case doesNotFire(Reason)
}

extension WireSubscription {
    /// Returns what the change of one record means to the subscription.
    ///
    /// - Parameters:
    ///   - record: The record of the change, where it is decoded already.
    ///   - prepared: The subscription's filters, where they are prepared already.
    package func verdict(
        on change: RecordChange, showing record: RecordView? = nil, inZone zoneName: String,
        asking prepared: [PreparedFilter]? = nil
    ) -> SubscriptionVerdict {
        if let reason = reasonAgainst(zone: zoneName) { return .doesNotFire(reason) }
        if let recordType, recordType != change.recordType {
            return .doesNotFire(.otherRecordType(recordType))
        }
        guard kind == .query else { return .fires }
        guard firesOn(change.event) else { return .doesNotFire(.eventNotAsked(change.event)) }
        guard let first = filters.first else { return .fires }
        // Whoever subscribed when nobody looked into records gets later ones only.
        guard change.fields != nil else { return .doesNotFire(.filter(first, found: nil)) }
        let record = record ?? RecordView(change)
        switch prepared.map(record.verdict(on:)) ?? record.verdict(on: filters) {
        case .matches: return .fires
        case .failed(let filter, let found): return .doesNotFire(.filter(filter, found: found))
        }
    }

    /// Returns what the beginning or the end of a zone means to the subscription;
    /// one that ended with the zone is notified for the last time (SUB-65).
    package func verdict(
        onZone zoneName: String, isCreated: Bool
    ) -> SubscriptionVerdict {
        if let reason = reasonAgainst(zone: zoneName) { return .doesNotFire(reason) }
        switch kind {
        case .database: return .fires
        case .query: return .doesNotFire(.recordsOnly)
        // One that filters by type waits for records only (SUB-13).
        case .zone where recordType != nil: return .doesNotFire(.recordsOnly)
        case .zone: return isCreated ? .doesNotFire(.zoneCreated) : .fires
        }
    }

    /// Returns what a change that cannot be read any more means to the subscription: who
    /// is asked to fetch will find it.
    package func verdict(onUnreadableChangeIn zoneName: String) -> SubscriptionVerdict {
        if let reason = reasonAgainst(zone: zoneName) { return .doesNotFire(reason) }
        return kind == .query ? .doesNotFire(.unreadableChange) : .fires
    }

    /// Why changes in the zone do not concern the subscription (SUB-7, SUB-9,
    /// SUB-54); nil when they do.
    private func reasonAgainst(zone zoneName: String) -> SubscriptionVerdict.Reason? {
        if kind != .query, zoneName == ZoneID.defaultName { return .defaultZone }
        guard kind != .database, let watched = zoneID?.zoneName else { return nil }
        return watched == zoneName ? nil : .otherZone(watched)
    }

    /// Whether a query subscription asks for the event (SUB-17).
    private func firesOn(_ event: RecordEvent) -> Bool {
        switch event {
        case .created: firesOn.contains(.create)
        case .updated: firesOn.contains(.update)
        case .deleted: firesOn.contains(.delete)
        }
    }
}
