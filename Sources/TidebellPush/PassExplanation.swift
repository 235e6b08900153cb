// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What became of every match of a pass, for later explanations.
struct PassExplanation {
    /// Bytes of record fields above which a processed change is kept without them.
    static let keptFieldBytes = 8 * 1024

    private(set) var matches: [NotifiedMatch] = []
    private let changes: [OutboxEntry]

    /// Puts the explanation of a pass together.
    ///
    /// - Parameters:
    ///   - changes: The changes that the pass processes.
    ///   - stored: What became of the notifications in the log, one for one.
    init(
        of changes: [OutboxEntry], _ notifications: [BuiltNotification],
        as stored: [StoredNotification]
    ) {
        self.changes = changes
        matches.reserveCapacity(stored.count)
        for (built, stored) in zip(notifications, stored) {
            let pruned = built.pruned.map(\.rawValue)
            for match in built.coalesced.replaced {
                matches.append(
                    NotifiedMatch(match, notifiedBy: stored, pruned: pruned, isMerged: true))
            }
            matches.append(
                NotifiedMatch(
                    built.coalesced.match, notifiedBy: stored, pruned: pruned, isMerged: false)
            )
        }
    }

    /// Writes the explanation, and shortens changes that carry more than
    /// ``keptFieldBytes``.
    func keep(in transaction: some ExplanationWriting) throws {
        if !matches.isEmpty { try transaction.appendNotifiedMatches(matches) }
        for change in changes where change.event.fieldBytes > Self.keptFieldBytes {
            try transaction.shorten(change.event.withoutFields, of: change.id)
        }
    }
}

extension NotifiedMatch {
    fileprivate init(
        _ match: SubscriptionMatch, notifiedBy notification: StoredNotification, pruned: [String],
        isMerged: Bool
    ) {
        var recordName: String?
        if case .record(let change) = match.cause { recordName = change.recordName }
        self.init(
            change: match.entry.id,
            user: notification.user,
            subscriptionID: notification.subscriptionID,
            recordName: recordName,
            notificationID: notification.notificationID,
            sequence: notification.sequence,
            isMerged: isMerged,
            collapseID: notification.collapseID,
            isBackground: notification.isBackground,
            payloadSize: notification.payload.count,
            pruned: pruned,
            isLast: match.subscription.subscription.firesOnce
        )
    }
}

extension OutboxEntry.Event {
    /// Bytes of the record fields it carries.
    fileprivate var fieldBytes: Int {
        guard case .records(let changes) = self else { return 0 }
        return changes.reduce(0) { $0 + ($1.fields?.json.count ?? 0) }
    }

    /// The same without fields.
    fileprivate var withoutFields: Self {
        guard case .records(let changes) = self else { return self }
        return .records(
            changes.map { change in
                var change = change
                change.fields = nil
                return change
            }
        )
    }
}
