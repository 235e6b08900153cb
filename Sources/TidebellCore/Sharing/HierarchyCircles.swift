// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Finds records that a batch takes below themselves: they are below no root any more, nor is what
/// hangs below them.
///
/// Only where a record had a share and its new parent has the same: a root is between otherwise.
/// The way up is read then, a level of all such records together.
struct HierarchyCircles {
    /// The records of the batch that are saved.
    let saved: [String: RecordBatch.SavedRecord]
    /// Where hierarchies begin.
    let isRoot: (String) -> Bool
    let zone: ZoneKey
    /// The most levels that are looked at (``Limits/movedRecords``).
    let limit: Int

    /// Returns those of some records that come below themselves, and why others cannot be looked
    /// at.
    func find(
        among names: [String], in reader: some RecordReading
    ) throws -> (circular: Set<String>, failures: [String: WireError]) {
        var circular: Set<String> = []
        var above: [String: String] = [:]
        var visited: [String: Set<String>] = [:]
        for name in names { above[name] = saved[name]?.record.parent }
        for _ in 0..<limit {
            for (name, current) in above {
                if current == name { circular.insert(name) }
                // Below another circle there is nothing more to find.
                let isNew = visited[name, default: []].insert(current).inserted
                if current == name || !isNew || isRoot(current) { above[name] = nil }
            }
            guard !above.isEmpty else { return (circular, [:]) }
            let stored = try reader.recordsWithoutFields(
                Set(above.values).subtracting(saved.keys), in: zone)
            above = above.compactMapValues { (saved[$0]?.record ?? stored[$0])?.parent }
        }
        return (circular, above.mapValues { _ in Self.tooDeep(limit) })
    }

    private static func tooDeep(_ limit: Int) -> WireError {
        WireError.badRequest(
            "more than \(limit) records are above the new parent (movedRecords)",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.movedRecords)
    }
}
