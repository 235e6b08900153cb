// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordBatch {
    /// Checks parents and finds what deletions take along.
    ///
    /// A failed deletion changes what the others take along, so this goes on
    /// until nothing fails any more; each round fails at least one operation.
    mutating func followReferences(in reader: any StoreReader) throws {
        checkParentsExist()
        try checkReferenceCounts(in: reader)
        repeat {
            let closure = try deletionClosure(in: reader)
            cascaded = closure.cascaded
            if failOrphaningDeletions(closure.references, gone: closure.gone) { continue }
            return
        } while true
    }

    private var savedRecords: [String: SavedRecord] {
        outcomes.reduce(into: [:]) { saved, outcome in
            if case .save(let record) = outcome { saved[record.record.name] = record }
        }
    }

    private var deletedNames: Set<String> {
        outcomes.reduce(into: []) { deleted, outcome in
            if case .delete(let record) = outcome { deleted.insert(record.name) }
        }
    }

    /// REF-6: a parent must exist or be saved in the same batch.
    private mutating func checkParentsExist() {
        let deleted = deletedNames
        while true {
            let saved = savedRecords
            let orphan = outcomes.firstIndex { outcome in
                guard case .save(let child) = outcome, let parent = child.record.parent,
                    parent != child.previous?.parent || deleted.contains(parent)
                else { return false }
                return saved[parent] == nil
                    && (existing[parent] == nil || deleted.contains(parent))
            }
            guard let orphan else { return }
            outcomes[orphan] = .failed(
                WireError(
                    .validatingReferenceError,
                    "the parent of record '\(names[orphan])' does not exist"
                )
            )
        }
    }

    private func deletionClosure(
        in reader: any StoreReader
    ) throws -> (cascaded: [StoredRecord], gone: Set<String>, references: [StoredReference]) {
        var gone = deletedNames
        guard !gone.isEmpty else { return ([], [], []) }
        let saved = savedRecords
        var references: [StoredReference] = []
        var cascaded: [String] = []
        var frontier = gone
        while !frontier.isEmpty {
            let found = try reader.references(to: frontier, in: zone.key)
            references += found
            frontier = []
            for reference in found where reference.kind == .deleteSelf {
                // What the batch saves anew stays, whatever its old version said.
                guard saved[reference.source] == nil, gone.insert(reference.source).inserted
                else { continue }
                frontier.insert(reference.source)
                cascaded.append(reference.source)
            }
            guard cascaded.count <= call.limits.cascadedDeletions else {
                throw WireError.badRequest(
                    "the deletion would take along more than \(call.limits.cascadedDeletions) "
                        + "records through references",
                    ckCode: CKErrorCode.limitExceeded
                ).visible(to: call)
            }
        }
        let records = try reader.records(Set(cascaded), in: zone.key)
        return (cascaded.compactMap { records[$0] }, gone, references)
    }

    /// SAVE-24: a parent goes only with its children; returns whether that failed
    /// an operation.
    private mutating func failOrphaningDeletions(
        _ references: [StoredReference], gone: Set<String>
    ) -> Bool {
        let saved = savedRecords
        var failed = false
        for reference in references where reference.kind == .parent {
            let stays =
                saved[reference.source].map { $0.record.parent == reference.target }
                ?? !gone.contains(reference.source)
            guard stays, let index = names.firstIndex(of: reference.target),
                case .delete = outcomes[index]
            else { continue }
            outcomes[index] = .failed(
                WireError(
                    .validatingReferenceError,
                    "record '\(reference.target)' is the parent of record '\(reference.source)'"
                )
            )
            failed = true
        }
        return failed
    }
}
