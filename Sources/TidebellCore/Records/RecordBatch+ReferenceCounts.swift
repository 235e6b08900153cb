// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordBatch {
    /// REF-4: so many records at most go with one target.
    ///
    /// Counts what refers to a target now and what the batch adds; what the batch
    /// takes away makes room for the next one only, since it may still fail.
    mutating func checkReferenceCounts(in reader: some RecordReading) throws {
        let added = addedSources
        guard !added.isEmpty else { return }
        let limit = call.limits.deleteSelfReferences
        let counts = try reader.deleteSelfCounts(to: Set(added.keys), in: zone.key)
        let crowded = added.filter { (counts[$0.key] ?? 0) + $0.value > limit }
        guard !crowded.isEmpty else { return }
        var sources: [String: Set<String>] = [:]
        for reference in try reader.references(to: Set(crowded.keys), in: zone.key)
        where reference.kind == .deleteSelf {
            sources[reference.target, default: []].insert(reference.source)
        }
        for index in outcomes.indices {
            guard case .save(let saved) = outcomes[index] else { continue }
            let targets = saved.references.filter { $0.kind == .deleteSelf }.map(\.target)
            let isFull = { (target: String) in
                let known = sources[target] ?? []
                return crowded[target] != nil && known.count >= limit
                    && !known.contains(saved.record.name)
            }
            if let full = targets.first(where: isFull) {
                outcomes[index] = .failed(tooManyReferences(to: full).visible(to: call))
            } else {
                targets.forEach { sources[$0, default: []].insert(saved.record.name) }
            }
        }
    }

    /// How many of the saved records refer to each target with `DELETE_SELF`.
    private var addedSources: [String: Int] {
        outcomes.reduce(into: [:]) { counts, outcome in
            guard case .save(let saved) = outcome else { return }
            for reference in saved.references where reference.kind == .deleteSelf {
                counts[reference.target, default: 0] += 1
            }
        }
    }

    private func tooManyReferences(to target: String) -> WireError {
        .badRequest(
            "more than \(call.limits.deleteSelfReferences) records refer to record '\(target)' "
                + "with DELETE_SELF; refer to it without an action, or to several records",
            ckCode: CKErrorCode.limitExceeded
        )
    }
}
