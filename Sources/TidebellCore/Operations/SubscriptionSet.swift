// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A user's subscriptions in one database while a request changes them.
///
/// Knows the others by their summaries only: a user may have many, and they are
/// checked inside the one writer.
struct SubscriptionSet {
    private var known: [ExactText: SubscriptionSummary] = [:]
    /// The IDs of subscriptions that may be duplicates of one another.
    private var owners: [UInt64: Set<ExactText>] = [:]
    /// What this request has saved so far.
    private var saved: [ExactText: WireSubscription] = [:]
    /// Bytes of all of them.
    private var bytes = 0
    private let scope: DatabaseScope
    private let limits: Limits
    private let fetch: (Set<ExactText>) throws -> [StoredSubscription]

    /// Takes over what is stored; `fetch` returns subscriptions by ID as they were
    /// before the request.
    init(
        _ stored: [SubscriptionSummary], in scope: DatabaseScope, limits: Limits,
        fetch: @escaping (Set<ExactText>) throws -> [StoredSubscription]
    ) {
        self.scope = scope
        self.limits = limits
        self.fetch = fetch
        for summary in stored { add(summary) }
    }

    /// Adds a subscription, replacing the one with its ID; fails where that would
    /// break the policy on duplicates or the bounds of number and bytes.
    ///
    /// - Parameter isCreated: Whether the client calls it new.
    mutating func save(_ subscription: WireSubscription, isCreated: Bool) throws {
        let id = subscription.exactID
        let before = known[id]
        if limits.duplicateSubscriptions == .strict, isCreated, before != nil,
            try stored([id]).contains(subscription)
        {
            throw WireError.duplicate(of: id.text)
        }
        // SUB-70: a subscription's kind never changes, so this is no update of that one.
        if let before, before.kind != subscription.kind, limits.duplicateSubscriptions != .lenient {
            throw WireError.otherKind(before.kind, than: subscription.kind, id.text)
        }
        let summary = SubscriptionSummary(subscription)
        if let twin = try twin(of: subscription, summary) { throw WireError.duplicate(of: twin) }
        guard before != nil || known.count < limits.subscriptionsPerUser else {
            throw WireError.badRequest(
                "more than \(limits.subscriptionsPerUser) subscriptions in the \(scope) database; "
                    + "delete some first",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.subscriptionsPerUser)
        }
        let total = bytes - (before?.bytes ?? 0) + summary.bytes
        // What shrinks is let through, also where the bound was another before.
        guard total <= limits.subscriptionBytesPerUser || summary.bytes <= before?.bytes ?? 0
        else {
            throw WireError.badRequest(
                "with subscription '\(WireError.shortened(id.text))' of \(summary.bytes) bytes the "
                    + "user's subscriptions in the \(scope) database would have \(total) bytes "
                    + "of at most \(limits.subscriptionBytesPerUser) (subscriptionBytesPerUser); "
                    + "delete some, or shorten its filters",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.subscriptionBytesPerUser)
        }
        remove(id)
        add(summary)
        saved[id] = subscription
    }

    /// Takes a subscription away; returns whether it was there.
    @discardableResult
    mutating func remove(_ id: ExactText) -> Bool {
        guard let summary = known.removeValue(forKey: id) else { return false }
        owners[summary.duplicateHash]?.remove(id)
        bytes -= summary.bytes
        saved[id] = nil
        return true
    }

    private mutating func add(_ summary: SubscriptionSummary) {
        let id = ExactText(summary.id)
        known[id] = summary
        owners[summary.duplicateHash, default: []].insert(id)
        bytes += summary.bytes
    }

    /// The ID of another subscription that fires on the same changes; the first
    /// in alphabetical order, where the policy was another when they were saved.
    private func twin(
        of subscription: WireSubscription, _ summary: SubscriptionSummary
    ) throws -> String? {
        let policy = limits.duplicateSubscriptions
        guard let key = DuplicateKey(subscription, policy),
            var candidates = owners[summary.duplicateHash]
        else { return nil }
        candidates.remove(subscription.exactID)
        guard !candidates.isEmpty else { return nil }
        // Equal hashes are not yet equal triggers.
        return try stored(candidates).filter { DuplicateKey($0, policy) == key }
            .map(\.subscriptionID).min()
    }

    /// Subscriptions by ID as they are now.
    private func stored(_ ids: Set<ExactText>) throws -> [WireSubscription] {
        let changed = ids.compactMap { saved[$0] }
        let rest = ids.subtracting(changed.map(\.exactID))
        return changed + (rest.isEmpty ? [] : try fetch(rest).map(\.subscription))
    }
}

extension SubscriptionSummary {
    /// Sums a subscription up.
    init(_ subscription: WireSubscription) {
        self.init(
            id: subscription.subscriptionID, kind: subscription.kind,
            duplicateHash: subscription.duplicateHash, bytes: subscription.json.count
        )
    }
}

extension WireSubscription {
    /// The ID as it is compared: a user may have subscriptions whose IDs are the same text in
    /// another of Unicode's forms (SUB-29).
    package var exactID: ExactText { ExactText(subscriptionID) }

    /// The subscription as it is stored.
    package var json: [UInt8] { JSONWriter.write { write(to: &$0) } }
}

extension WireError {
    /// SUB-70: what would silently replace a subscription of another kind.
    fileprivate static func otherKind(
        _ old: WireSubscription.Kind, than new: WireSubscription.Kind, _ id: String
    ) -> WireError {
        .badRequest(
            "subscription '\(WireError.shortened(id))' is a \(old) subscription, and its kind cannot "
                + "change; save the \(new) subscription under another ID, or delete that one first"
        )
    }

    /// SUB-34: CloudKit's own words, which clients match, and its own code.
    fileprivate static func duplicate(of id: String) -> WireError {
        .badRequest(
            "subscription is duplicate of '\(id)'", ckCode: CKErrorCode.serverRejectedRequest
        )
    }
}
