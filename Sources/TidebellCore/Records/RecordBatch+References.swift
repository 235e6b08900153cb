// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordBatch {
    /// Checks what records demand of others, and finds what deletions take along.
    ///
    /// What fails changes what the others may do, so this goes on until nothing fails
    /// any more; each round fails at least one operation.
    mutating func followReferences(in reader: some RecordReading) throws {
        try checkReferenceCounts(in: reader)
        let deleted = deletedNames
        guard !deleted.isEmpty || outcomes.contains(where: \.demandsRecords) else { return }
        var graph = try ReferenceGraph(
            to: deleted, in: zone.key, of: access.database.scope, call.limits, reader
        )
        // Fails nothing before it is known that they can go at all.
        let followers = graph.closure(of: deleted) { _ in false }.subtracting(deleted)
        let taken = try recordsTakenAlong(followers, in: reader)
        if taken == nil { graph.cut() }
        var gone: Set<String>
        repeat {
            let saved = savedRecords
            gone = graph.closure(of: deletedNames) { saved[$0] != nil }
        } while failHeldDeletions(graph, gone, saved: savedRecords)
            || failOrphans(gone, saved: savedRecords)
        let cascade = gone.subtracting(deletedNames)
        cascaded = (taken ?? [:]).values.filter { cascade.contains($0.name) }
            .sorted { $0.position < $1.position }
    }

    /// The records that may go with others (REF-2), with their fields where those are
    /// notified; nil where nothing goes along.
    private func recordsTakenAlong(
        _ names: Set<String>, in reader: some RecordReading
    ) throws -> [String: StoredRecord]? {
        guard needsFields else { return try reader.recordsWithoutFields(names, in: zone.key) }
        let limit = call.limits.cascadedDeletionBytes
        let records = try reader.records(names, in: zone.key, byteLimit: limit)
        // NB: as in ``ReferenceGraph``.
        guard records == nil, !access.database.scope.isOpenToEverybody else { return records }
        throw WireError.badRequest(
            "the deletion would also delete records of more than \(limit) bytes through references",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.cascadedDeletionBytes)
    }

    /// What is saved, by name.
    var savedRecords: [String: SavedRecord] {
        outcomes.reduce(into: [:]) { saved, outcome in
            if let record = outcome.saved { saved[record.record.name] = record }
        }
    }

    /// The names of what operations delete.
    var deletedNames: Set<String> {
        outcomes.reduce(into: []) { deleted, outcome in
            if case .delete(let record) = outcome { deleted.insert(record.name) }
        }
    }

    /// SAVE-24: a parent goes only with its children; returns whether that failed an
    /// operation.
    ///
    /// NB: not in the public database, where anybody could keep another's record so.
    private mutating func failHeldDeletions(
        _ graph: ReferenceGraph, _ gone: Set<String>, saved: [String: SavedRecord]
    ) -> Bool {
        guard !access.database.scope.isOpenToEverybody, !graph.holds.isEmpty else { return false }
        let kept = graph.kept(among: gone) { [sharing] reference in
            // Nothing keeps its owner from ending a share (SHARE-14).
            guard sharing.byName[reference.target] == nil else { return false }
            return saved[reference.source].map { $0.references.contains(reference) }
                ?? !gone.contains(reference.source)
        }
        guard !kept.isEmpty else { return false }
        var hasFailed = false
        for index in outcomes.indices {
            guard case .delete(let record) = outcomes[index], let reference = kept[record.name]
            else { continue }
            outcomes[index] = .failed(
                .held(record.name, by: reference, isShown: access.hierarchies == nil))
            hasFailed = true
        }
        return hasFailed
    }

    /// REF-6, REF-10: a parent, and what `VALIDATE` refers to, must exist or be saved in
    /// the same batch; returns whether that failed an operation.
    private mutating func failOrphans(_ gone: Set<String>, saved: [String: SavedRecord]) -> Bool {
        var hasFailed = false
        for index in outcomes.indices {
            guard case .save(let source) = outcomes[index] else { continue }
            let missing = source.references.first { reference in
                guard reference.kind != .deleteSelf, saved[reference.target] == nil else {
                    return false
                }
                return gone.contains(reference.target)
                    || source.newlyDemands(reference) && !living.contains(reference.target)
            }
            guard let missing else { continue }
            outcomes[index] = .failed(.missing(missing))
            hasFailed = true
        }
        return hasFailed
    }
}

extension RecordBatch.Outcome {
    /// Whether it saves a record that demands others to exist.
    fileprivate var demandsRecords: Bool {
        guard case .save(let saved) = self else { return false }
        return saved.references.contains { $0.kind != .deleteSelf }
    }
}

extension RecordBatch.SavedRecord {
    /// Whether a reference demands its target, and the version before may not have done
    /// so: what it once referred to may be gone by now.
    fileprivate func newlyDemands(_ reference: StoredReference) -> Bool {
        switch reference.kind {
        case .parent: previous?.parent != reference.target
        case .validate: newlyValidated.contains(reference.target)
        case .deleteSelf: false
        }
    }
}

extension WireError {
    /// A record that must stay as long as another one (SAVE-24), which a participant need not
    /// know.
    fileprivate static func held(
        _ name: String, by reference: StoredReference, isShown: Bool
    ) -> WireError {
        guard isShown else {
            return WireError(
                .validatingReferenceError,
                "record '\(WireError.shortened(name))', or what would go with it, is what another "
                    + "record needs"
            )
        }
        let (source, target) = (
            WireError.shortened(reference.source), WireError.shortened(reference.target)
        )
        let what =
            reference.kind == .parent
            ? "is the parent of record '\(source)'"
            : "is what record '\(source)' refers to with VALIDATE"
        return WireError(
            .validatingReferenceError,
            name == reference.target
                ? "record '\(target)' \(what)"
                : "record '\(target)', which would go with record '\(WireError.shortened(name))', \(what)"
        )
    }

    /// A record that is not there to be referred to (REF-6).
    static func missing(_ reference: StoredReference) -> WireError {
        let source = WireError.shortened(reference.source)
        return WireError(
            .validatingReferenceError,
            reference.kind == .parent
                ? "the parent of record '\(source)' does not exist"
                : "record '\(source)' refers with VALIDATE to record "
                    + "'\(WireError.shortened(reference.target))', which does not exist"
        )
    }
}
