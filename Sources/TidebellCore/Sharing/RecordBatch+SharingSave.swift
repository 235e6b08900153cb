// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordBatch {
    /// What was written of a batch, as far as shares have to know.
    struct Written {
        /// Where the zone's history has each record that was saved or deleted.
        var positions: [String: Position]
        /// The zone's newest position.
        var last: Position
    }

    /// Stores which hierarchies records are in from now on, what shares are and whom they let
    /// in; returns what the batch is to participants, nil where there is nobody to
    /// notify.
    ///
    /// - Parameters:
    ///   - changes: What is notified of the batch.
    ///   - next: The first of the positions of what moved and is not saved.
    func saveSharing(
        _ changes: [RecordChange], _ written: Written, movedFrom next: Position,
        in transaction: some ShareWriting & SharedRecordWriting & SettlingWriting
    ) throws -> SharedChange? {
        guard sharing.isConcerned else { return nil }
        var shared = SharedChange(
            zone: zone.key, position: written.last,
            isZoneWide: zone.sharing == .zoneWide
                || newShares.values.contains { $0.share?.root == nil }
        )
        // Users to notify are read before what they have ends.
        let hasParticipants = try !transaction.grants(
            in: zone.key, of: nil, after: nil, limit: 1
        ).isEmpty
        let ended = Set(hierarchies.ended.map(\.name))
        var changed = MembershipChanges()
        for change in changes {
            guard let position = written.positions[change.recordName] else { continue }
            note(change, at: position, ended, &changed)
        }
        for (index, record) in hierarchies.moved.enumerated() {
            note(
                RecordChange(recordName: record.name, recordType: record.type, event: .updated),
                at: next.advanced(by: index), ended, &changed
            )
        }
        shared.hierarchies = changed.reported
        try saveShares(written, &shared, in: transaction)
        if shared.isZoneWide {
            shared.hierarchies = [:]
        } else {
            // The shares of the rows are there by now, and those that ended gone.
            var rows = rows(of: changed)
            if zone.isUnsettled { try noteReturns(of: changed.moved, in: &rows, transaction) }
            try transaction.putSharedRecords(rows, in: zone.key)
            if hierarchies.isDeferred, !changed.moved.isEmpty {
                try transaction.noteUnsettled(changed.moved, in: zone.key)
            }
        }
        // Those who may take part only from now on are notified, too (SUB-56).
        let begins = outcomes.contains { $0.saved?.share?.access.isEmpty == false }
        return hasParticipants || begins || !shared.ended.isEmpty ? shared.thinned : nil
    }

    /// Notes what a change of a record is to the hierarchies that it was in and is in.
    private func note(
        _ change: RecordChange, at position: Position, _ ended: Set<String>,
        _ changed: inout MembershipChanges
    ) {
        let name = change.recordName
        let isDeleted = change.event == .deleted
        let stored = sharing.membership(of: name, without: ended)
        let before = sharing.holder(of: name, without: ended)
        let after = isDeleted ? nil : hierarchies.holders[name]
        if let after {
            let stays = before == after
            changed.rows.append(
                SharedRecord(
                    name: name, share: after, position: position,
                    entry: stays ? stored?.entry : nil,
                    above: stays ? stored?.above ?? .start : .start))
            var shown = change.withoutFields
            if !stays {
                shown.event = .created
                changed.moved.append(name)
            }
            changed.reported[after, default: []].append(shown)
        }
        guard let stored, stored.share != after else { return }
        // What is deleted has left too: made again elsewhere, it is in no hierarchy.
        let isSeen = before == stored.share
        changed.rows.append(
            SharedRecord(
                name: name, share: stored.share, position: position,
                entry: isSeen ? nil : sharing.hiddenSince[name], leftAt: call.now))
        if after == nil, !isDeleted { changed.moved.append(name) }
        changed.reported[stored.share, default: []].append(
            isSeen
                ? RecordChange(recordName: name, recordType: change.recordType, event: .deleted)
                : .hidden(ofType: change.recordType))
    }

    /// The rows, each with the entry that the record above has after the batch.
    private func rows(of changed: MembershipChanges) -> [SharedRecord] {
        var parents: [String: String] = [:]
        for saved in savedRecords.values { parents[saved.record.name] = saved.record.parent }
        for record in hierarchies.touched + hierarchies.moved {
            parents[record.name] = record.parent
        }
        let entries = Dictionary(
            changed.rows.lazy.filter { $0.leftAt == nil }.map { ($0.name, $0.entry) }
        ) { first, _ in first }
        return changed.rows.map { row in
            guard row.leftAt == nil, let parent = parents[row.name],
                let above = entries[parent] ?? sharing.memberships[parent]?.entry
            else { return row }
            var row = row
            row.above = above
            return row
        }
    }

    /// Notes since when nobody saw records that come back: what is below them may not have followed
    /// them then.
    private func noteReturns(
        of moved: [String], in rows: inout [SharedRecord], _ reader: some SharedRecordReading
    ) throws {
        let names = Set(moved)
        let departures = try reader.departures(of: names, in: zone.key)
        for index in rows.indices
        where rows[index].leftAt == nil && names.contains(rows[index].name) {
            let row = rows[index]
            let stayed = sharing.memberships[row.name]?.share == row.share
            rows[index].hiddenBefore =
                stayed ? sharing.hiddenSince[row.name] : departures[row.name]?[row.share]?.last
        }
    }

    /// The shares of the answer to a batch that was written.
    var sharesAfter: ShareAnswers {
        let ended = Set(hierarchies.ended.map(\.name))
        let kept = sharing.byName.filter { !ended.contains($0.key) }
        let saved = outcomes.compactMap { $0.saved?.share }
        return ShareAnswers(Array(kept.values) + saved, for: call, in: access)
    }

    private func saveShares(
        _ written: Written, _ shared: inout SharedChange, in transaction: some ShareWriting
    ) throws {
        for share in hierarchies.ended {
            shared.ended += try transaction.endShare(share, at: written.last, in: zone.key)
        }
        for outcome in outcomes {
            guard let saved = outcome.saved, let share = saved.share else { continue }
            shared.ended += try transaction.saveShare(
                share, over: sharing.byName[share.name],
                at: written.positions[share.name] ?? written.last, in: zone.key
            )
        }
    }
}

extension SharedChange {
    /// The same with one record of each type and event: all that subscriptions of a shared
    /// database distinguish (SUB-13), however many records moved.
    var thinned: SharedChange {
        var thinned = self
        for (share, changes) in hierarchies {
            var seen: Set<RecordChange> = []
            thinned.hierarchies[share] = changes.filter { change in
                var kind = change
                kind.recordName = ""
                return seen.insert(kind).inserted
            }
        }
        return thinned
    }
}

extension RecordChange {
    /// That a record is gone which had gone out of sight before: whoever came since then never saw it,
    /// and is not told which one it is.
    static func hidden(ofType type: String) -> RecordChange {
        RecordChange(recordName: "", recordType: type, event: .deleted)
    }
}

/// What a batch changes in which records are in hierarchies.
private struct MembershipChanges {
    var rows: [SharedRecord] = []
    /// Records that came in or left.
    var moved: [String] = []
    /// What participants are notified of, by share.
    var reported: [String: [RecordChange]] = [:]
}
