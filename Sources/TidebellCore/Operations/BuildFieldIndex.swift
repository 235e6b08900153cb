// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Makes the indexes that queries wished for, step by step, and takes them away again.
package enum BuildFieldIndex {
    /// Bytes of fields that one step reads at most, and one record.
    private static let bytesPerStep = 2 * 1024 * 1024
    /// How long after its last use an index makes room for another, in a zone that has as many as it
    /// may; uses are noted once a day.
    private static let keptFor = Duration.seconds(3 * 24 * 60 * 60)

    /// Makes an index without entries, unless it is there, or the zone is gone or has as many as
    /// it may.
    package static func begin(
        _ wish: IndexInterest.Wish, limits: Limits, at now: Instant,
        in transaction: some FieldIndexWriting & ZoneReading
    ) throws {
        guard IndexedForm(name: wish.name) != nil,
            let zone = try transaction.zones(nil, in: wish.database)
                .first(where: { $0.key == wish.zone })
        else { return }
        let indexes = try transaction.fieldIndexes(in: zone.key, of: nil)
        guard indexes.count < limits.indexesPerZone else {
            // Whoever comes first keeps nobody out: what is used goes on, what is not makes room.
            let unused = indexes.filter {
                $0.state == .ready && $0.usedAt.advanced(by: keptFor) < now
            }.min { $0.usedAt < $1.usedAt }
            if let unused { _ = try transaction.dropFieldIndex(unused.id, limit: 0) }
            return
        }
        _ = try transaction.makeFieldIndex(wish.name, of: wish.recordType, in: zone, at: now)
    }

    /// Takes up to `limit` more records into an index, or removes as many entries of one that is
    /// dropped; returns whether it is finished.
    ///
    /// What changes between two steps is taken up by the change itself: it stands behind the
    /// position at which the index was made.
    package static func step(
        _ id: FieldIndexID, limit: Int, in transaction: some FieldIndexWriting & RecordReading
    ) throws -> Bool {
        guard let index = try transaction.fieldIndex(id) else { return true }
        switch index.state {
        case .ready: return true
        case .dropped: return try transaction.dropFieldIndex(id, limit: limit)
        case .building: break
        }
        var entries: [FieldIndexEntry] = []
        var (last, count, bytes) = (index.builtThrough, 0, 0)
        var isComplete = true
        let start = RecordCursor(zone: index.zone, position: index.builtThrough)
        try transaction.scanRecords(of: index.recordType, in: [index.zone], after: start) {
            record, _ in
            guard record.position <= index.madeAt else { return false }
            guard count < limit, bytes < bytesPerStep else {
                isComplete = false
                return false
            }
            entries += record.entries(in: [index]).flatMap(\.entries)
            (last, count, bytes) = (
                record.position, count + 1, bytes + record.fields.json.count
            )
            return true
        }
        try transaction.putFieldIndexEntries(entries, of: id)
        try transaction.noteFieldIndex(id, builtThrough: last, isReady: isComplete)
        return isComplete
    }
}
