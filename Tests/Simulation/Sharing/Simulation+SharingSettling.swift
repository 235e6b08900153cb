// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Records that follow what is above them into shares and out of them, step by step.
extension Simulation {
    /// Has records follow what is above them in all zones that are not settled, a step in each.
    func settleHierarchies(limit: Int) async throws {
        let zones = try await unsettledZones()
        for (zone, found) in zones.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let writes = store.writes
            defer { if store.writes > writes { sharing.model.noteSettling(zone) } }
            let now = now
            _ = try await store.write(.database(found.database.key)) {
                try SettleHierarchies.step(found.zone.key, limit: limit, at: now, in: $0)
            }
        }
    }

    /// The zones in which records still follow what is above them.
    func unsettledZones() async throws -> [SharedZone: UnsettledZone] {
        let found = try await base.read {
            try $0.unsettledZones(from: ZoneKey(rawValue: 0), limit: 100)
        }
        return Dictionary(
            found.map { found in
                let owner = people.firstIndex { $0.id == found.database.key.owner }
                return (SharedZone(owner: owner ?? -1, name: found.zone.name), found)
            }
        ) { first, _ in first }
    }

    /// What a participant finds of a zone in which records still follow, before they change it.
    func foundBefore(_ action: SharingAction) async throws -> Set<String>? {
        guard case .put(_, let zone, let writer) = action, writer.user != zone.owner,
            try await unsettledZones()[zone] != nil
        else { return nil }
        let records = try await lookUp(SharingModel.allNames, in: zone, as: writer.user)
        return Set((records ?? [:]).keys)
    }

    /// Whether a participant may be refused what they may do: while what is above a record follows,
    /// nobody knows yet that it is theirs.
    func mayHaveToWait(_ action: SharingAction) async throws -> Bool {
        guard case .put(let edits, let zone, let writer) = action, writer.user != zone.owner else {
            return false
        }
        return try await unsettledZones()[zone] != nil
            || edits.count > 1 && walk.movedRecords < Names.records.count
    }
}
