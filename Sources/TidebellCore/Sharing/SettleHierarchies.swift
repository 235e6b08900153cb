// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Lets records follow what is above them into hierarchies that are shared, or out of them, step by
/// step, and removes what hierarchies have left whose share ended.
///
/// Each step is whole by itself. It takes the record that was noted last, and lets follow what is
/// right below it, as far as that does not agree with it yet; what followed is noted in turn. So a
/// move is over, with all that it took along, before an older one goes on, and of a circle each
/// record is passed once.
package enum SettleHierarchies {
    /// What has to be known of a zone, and written.
    package typealias Settling = SettlingWriting & ZoneWriting & ShareReading & SharedRecordWriting
        & RecordReading & OutboxWriting & UserReading

    /// Takes one step in a zone, in the scope of its database; returns whether it is settled.
    ///
    /// - Parameter limit: Records that are looked at, or rows that are written or removed, whichever are
    ///   more; two are written where a record comes from one hierarchy into another, and one more where
    ///   it comes back. One record follows in any case.
    package static func step(
        _ zone: ZoneKey, limit: Int, at now: Instant, in transaction: some Settling
    ) throws -> Bool {
        guard let found = try transaction.unsettledZones(from: zone, limit: 1).first,
            found.zone.key == zone
        else { return true }
        var step = SettlingStep(found, left: max(SettlingStep.rowsOfRecord, limit), now: now)
        var hasMore = true
        while hasMore, step.left >= SettlingStep.rowsOfRecord {
            if let top = try transaction.newestUnsettledRecord(in: zone) {
                try step.follow(top, in: transaction)
            } else {
                hasMore = false
            }
        }
        try step.report(in: transaction)
        if !hasMore {
            let limit = step.left
            let removed = try transaction.removeEndedHierarchies(in: zone, limit: limit)
            if removed < limit {
                _ = try transaction.removeEarlierDepartures(in: zone, limit: limit - removed)
            }
        }
        return try transaction.settleZone(zone)
    }
}

private struct SettlingStep {
    private let unsettled: UnsettledZone
    private let now: Instant
    /// How many records may still be looked at, and rows written.
    private(set) var left: Int
    /// The zone's newest position; nil before anything moved.
    private var last: Position?
    /// What participants are notified of, by share.
    private var reported: [String: [RecordChange]] = [:]

    private var zone: ZoneKey { unsettled.zone.key }

    init(_ unsettled: UnsettledZone, left: Int, now: Instant) {
        self.unsettled = unsettled
        self.left = left
        self.now = now
    }

    /// Lets some of the records right below one follow it.
    mutating func follow(
        _ top: UnsettledRecord, in transaction: some SettleHierarchies.Settling
    ) throws {
        let limit = max(1, left / Self.rowsOfRecord)
        let page = try transaction.children(of: top.name, in: zone, after: top.last, limit: limit)
        left -= page.next == nil ? max(1, page.names.count) : limit
        if let next = page.next {
            try transaction.putUnsettled(UnsettledRecord(name: top.name, last: next), in: zone)
        } else {
            try transaction.removeUnsettled(top.name, in: zone)
        }
        let names = Set(page.names)
        guard !names.isEmpty else { return }
        let memberships = try transaction.memberships(of: names.union([top.name]), in: zone)
        // Where others hang below a root, that is another hierarchy.
        let roots = Set(try transaction.shares(ofRoots: names, in: zone).compactMap(\.root))
        let above = memberships[top.name]
        let moved = page.names.filter { name in
            guard !roots.contains(name) else { return false }
            let own = memberships[name]
            return own?.share != above?.share || own?.above != above?.entry
        }
        guard !moved.isEmpty else { return }
        let written = try move(moved, below: top.name, memberships, in: transaction)
        left -= max(0, written - page.names.count)
    }

    /// The most rows that are written of one record: that it came in, since when it had been hidden, and
    /// that it left.
    static let rowsOfRecord = 3

    /// Writes that records are where the one above them is; returns how many rows that took.
    private mutating func move(
        _ names: [String], below top: String,
        _ memberships: [String: HierarchyMembership],
        in transaction: some SettleHierarchies.Settling
    ) throws -> Int {
        let above = memberships[top]
        let first = try transaction.advance(
            unsettled.database.id, by: names.count, at: now)
        let departures = try transaction.departures(of: Set(names).union([top]), in: zone)
        /// Since when nobody sees a record that does not agree with the one above it.
        func hidden(_ before: HierarchyMembership) -> Position? {
            before.hiddenSince(departures[top]?[before.share], after: before.above)
        }
        let records = try transaction.recordsWithoutFields(Set(names), in: zone)
        var rows: [SharedRecord] = []
        for (index, name) in names.enumerated() {
            let position = first.advanced(by: index)
            let type = records[name]?.type ?? ""
            let before = memberships[name]
            if let above {
                let stayed = before?.share == above.share
                rows.append(
                    SharedRecord(
                        name: name, share: above.share, position: position, above: above.entry,
                        hiddenBefore: stayed
                            ? before.flatMap(hidden) : departures[name]?[above.share]?.last))
                reported[above.share, default: []].append(
                    RecordChange(recordName: name, recordType: type, event: .created))
            }
            if let before, before.share != above?.share {
                rows.append(
                    SharedRecord(
                        name: name, share: before.share, position: position, entry: hidden(before),
                        leftAt: now))
                reported[before.share, default: []].append(.hidden(ofType: type))
            }
        }
        try transaction.putSharedRecords(rows, in: zone)
        try transaction.noteUnsettled(names, in: zone)
        last = first.advanced(by: names.count - 1)
        return rows.count + rows.count { $0.hiddenBefore != nil }
    }

    /// Stores how far the zone's history is now, and that participants are to be notified.
    func report(in transaction: some SettleHierarchies.Settling) throws {
        guard let last else { return }
        try transaction.touchZone(zone, position: last, clientChangeToken: nil)
        guard let id = unsettled.database.key.owner,
            let owner = try transaction.users([id])[id],
            try !transaction.grants(in: zone, of: nil, after: nil, limit: 1).isEmpty
        else { return }
        let shared = SharedChange(zone: zone, position: last, hierarchies: reported)
        try transaction.appendOutbox([
            // Of steps that wait together, participants are notified together
            // (``NotifyParticipants/of(_:)``).
            OutboxEntry(
                database: unsettled.database.id, zoneName: unsettled.zone.name,
                zoneOwner: owner.recordName, event: .records([]), sharing: shared.thinned,
                originUser: nil, originClient: nil, committedAt: now
            )
        ])
    }
}
