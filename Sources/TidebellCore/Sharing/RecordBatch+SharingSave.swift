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
        in transaction: some ShareWriting & SharedRecordWriting
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
        var rows: [SharedRecord] = []
        let ended = Set(hierarchies.ended.map(\.name))
        func note(
            _ change: RecordChange, at position: Position, isDeleted: Bool = false
        ) {
            let name = change.recordName
            let before = sharing.holder(of: name, without: ended)
            let after = isDeleted ? before : hierarchies.holders[name]
            if let after {
                // What is deleted has left too: made again elsewhere, it is in no hierarchy.
                rows.append(
                    SharedRecord(
                        name: name, share: after, position: position,
                        leftAt: isDeleted ? call.now : nil))
                var shown = change.withoutFields
                if before != after, !isDeleted { shown.event = .created }
                shared.hierarchies[after, default: []].append(shown)
            }
            if let before, before != after {
                rows.append(
                    SharedRecord(name: name, share: before, position: position, leftAt: call.now))
                shared.hierarchies[before, default: []].append(
                    RecordChange(
                        recordName: name, recordType: change.recordType, event: .deleted))
            }
        }
        for change in changes {
            guard let position = written.positions[change.recordName] else { continue }
            note(change, at: position, isDeleted: change.event == .deleted)
        }
        for (index, record) in hierarchies.moved.enumerated() {
            note(
                RecordChange(recordName: record.name, recordType: record.type, event: .updated),
                at: next.advanced(by: index)
            )
        }
        try saveShares(written, &shared, in: transaction)
        // The shares of the rows are there by now, and those that ended gone.
        try transaction.putSharedRecords(
            shared.isZoneWide ? [] : rows.filter { !ended.contains($0.share) }, in: zone.key)
        for share in ended { shared.hierarchies[share] = nil }
        if shared.isZoneWide { shared.hierarchies = [:] }
        // Those who may take part only from now on are notified, too (SUB-56).
        let begins = outcomes.contains { $0.saved?.share?.access.isEmpty == false }
        return hasParticipants || begins || !shared.ended.isEmpty ? shared.thinned : nil
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
    fileprivate var thinned: SharedChange {
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
