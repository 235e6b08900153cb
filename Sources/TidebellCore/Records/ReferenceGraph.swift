// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What refers to the records that deletions may take along, as stored.
///
/// Read once; what becomes of the batch's operations is decided on it in memory.
struct ReferenceGraph {
    /// The records that go with each record (REF-2).
    private var followers: [String: [String]] = [:]
    /// The references that keep their targets (SAVE-24).
    private(set) var holds: [StoredReference] = []

    /// Reads what refers to `names`, and on from what goes with them; fails with
    /// `limitExceeded` where that would be more than one deletion may take along.
    ///
    /// NB: in the public database anybody decides how much that is; there the records can
    /// go all the same, and what refers to them stays.
    init(
        to names: Set<String>, in zone: ZoneKey, of scope: DatabaseScope, _ limits: Limits,
        _ reader: some RecordReading
    ) throws {
        var seen = names
        var frontier = names
        while !frontier.isEmpty {
            let found = try reader.references(to: frontier, in: zone)
            frontier = []
            for reference in found {
                guard reference.kind == .deleteSelf else {
                    holds.append(reference)
                    continue
                }
                followers[reference.target, default: []].append(reference.source)
                if seen.insert(reference.source).inserted { frontier.insert(reference.source) }
            }
            guard seen.count - names.count <= limits.cascadedDeletions else {
                if scope.isOpenToEverybody {
                    cut()
                    return
                }
                throw WireError.badRequest(
                    "the deletion would also delete more than \(limits.cascadedDeletions) "
                        + "records through references",
                    ckCode: CKErrorCode.limitExceeded
                ).naming(.cascadedDeletions)
            }
        }
    }

    /// Lets nothing go with anything.
    mutating func cut() { followers = [:] }

    /// Returns `names` and all that goes with them, but not through records that are
    /// saved anew: those stay, whatever their old version contained.
    func closure(of names: Set<String>, except saved: (String) -> Bool) -> Set<String> {
        var gone = names
        var frontier = Array(names)
        while let target = frontier.popLast() {
            for source in followers[target] ?? [] where !saved(source) {
                if gone.insert(source).inserted { frontier.append(source) }
            }
        }
        return gone
    }

    /// Returns each of the records in `gone` that cannot go because something keeps it, or
    /// what would go with it: with the reference that does.
    func kept(
        among gone: Set<String>, by holds: (StoredReference) -> Bool
    ) -> [String: StoredReference] {
        var targets: [String: [String]] = [:]
        for (target, sources) in followers where gone.contains(target) {
            for source in sources where gone.contains(source) {
                targets[source, default: []].append(target)
            }
        }
        var kept: [String: StoredReference] = [:]
        var frontier: [String] = []
        for reference in self.holds where gone.contains(reference.target) && holds(reference) {
            if kept.updateValue(reference, forKey: reference.target) == nil {
                frontier.append(reference.target)
            }
        }
        while let name = frontier.popLast() {
            for target in targets[name] ?? [] where kept[target] == nil {
                kept[target] = kept[name]
                frontier.append(target)
            }
        }
        return kept
    }
}
