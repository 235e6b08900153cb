// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a batch did.
struct SavedBatch {
    /// What is notified of it.
    var changes: [RecordChange] = []
    /// What it is to participants of shares; nil where there is nobody to notify.
    var shared: SharedChange?
}

extension RecordBatch {
    /// Writes everything that did not fail, each record at its own position in the
    /// history, and returns what happened.
    mutating func save(in transaction: some RecordSaving) throws -> SavedBatch {
        let count =
            cascaded.count + hierarchies.positionCount + outcomes.count { $0.isChange }
        guard count > 0 else { return SavedBatch() }
        let last = count - 1
        let change = storageChange
        let first = try transaction.advance(
            zone.database, by: count, at: call.now, adding: change
        )
        var next = first
        var records: [StoredRecord] = []
        var replaced: [StoredRecord] = []
        var changes: [RecordChange] = []
        func append(
            _ record: StoredRecord, _ event: RecordEvent, reporting version: StoredRecord
        ) throws {
            records.append(record)
            changes.append(try RecordChange(event, of: version))
            next = next.advanced(by: 1)
        }
        for index in outcomes.indices {
            switch outcomes[index] {
            case .leave(var saved):
                if let previous = saved.previous { replaced.append(previous) }
                saved.record.position = next
                outcomes[index] = .leave(saved)
                try append(saved.record, .updated, reporting: saved.record)
            case .save(var saved):
                if let previous = saved.previous { replaced.append(previous) }
                saved.record.position = next
                outcomes[index] = .save(saved)
                let event: RecordEvent = saved.previous == nil ? .created : .updated
                try append(saved.record, event, reporting: saved.record)
            case .delete(let record):
                replaced.append(record)
                try append(tombstone(of: record, at: next), .deleted, reporting: record)
            case .nothingToDelete, .failed: break
            }
        }
        replaced += try cascadedWithFields(in: transaction) + hierarchies.endedRecords
        // SUB-60: cascaded deletions are deletions like any other.
        for record in cascaded + hierarchies.endedRecords {
            try append(tombstone(of: record, at: next), .deleted, reporting: record)
        }
        for var record in hierarchies.touched {
            replaced.append(record)
            record.position = next
            record.modified = stamp
            try append(record, .updated, reporting: record)
        }
        let end = next.advanced(by: hierarchies.moved.count)
        invariant(
            records.map(\.position).ascends && end == first.advanced(by: count),
            "the records of a batch stand one after the other, at the positions it took"
        )
        if let madeKey {
            try transaction.putFieldKey(
                madeKey, wrappedBy: call.fieldCipher.rootKeyID, of: zone.key
            )
        }
        try transaction.putRecords(records, replacing: replaced, in: zone)
        try putReferences(in: transaction)
        try putAssetUses(in: transaction)
        let written = Written(
            positions: Dictionary(records.map { ($0.name, $0.position) }) { _, last in last },
            last: first.advanced(by: last)
        )
        try transaction.touchZone(
            zone.key, position: written.last, clientChangeToken: request.clientChangeToken,
            adding: change
        )
        let shared = try saveSharing(changes, written, movedFrom: next, in: transaction)
        return SavedBatch(changes: changes, shared: shared)
    }

    /// The records that go with others, with the fields that indexes have of them.
    private func cascadedWithFields(in reader: some RecordReading) throws -> [StoredRecord] {
        guard zone.isIndexed, !needsFields, !cascaded.isEmpty else { return cascaded }
        let found = try reader.records(Set(cascaded.map(\.name)), in: zone.key)
        return Array(found.values)
    }

    private func tombstone(of record: StoredRecord, at position: Position) -> StoredRecord {
        StoredRecord(
            name: record.name, type: record.type, position: position, created: record.created,
            modified: stamp, fields: .none, isDeleted: true
        )
    }

    /// What the records to be saved bring that the schema lacks, nil for nothing: what failed
    /// leaves no trace in it (ENV-1).
    var schemaGrowth: SchemaGrowth? {
        var added: [String: StoredRecordType] = [:]
        // No schema lists the fields of shares, but that there are some (ENV-1).
        for case .save(let saved) in outcomes {
            // A type is known by its first record, though that may have no field.
            guard !saved.newFields.isEmpty || schema.newTypes.contains(saved.record.type) else {
                continue
            }
            added[saved.record.type, default: StoredRecordType()].fields
                .merge(saved.newFields) { first, _ in first }
        }
        return added.isEmpty ? nil : SchemaGrowth(container: call.container, types: added)
    }

    private func putReferences(in transaction: some RecordWriting) throws {
        var references: [StoredReference] = []
        var sources: Set<String> = []
        for outcome in outcomes {
            switch outcome {
            case .save(let saved):
                let hadReferences = saved.previous?.mayHoldConsequentialReferences ?? false
                if hadReferences || !saved.references.isEmpty { sources.insert(saved.record.name) }
                references += saved.references
            case .delete(let record) where record.mayHoldConsequentialReferences:
                sources.insert(record.name)
            case .delete, .leave, .nothingToDelete, .failed: break
            }
        }
        sources.formUnion(cascaded.map(\.name))
        guard !sources.isEmpty else { return }
        try transaction.putReferences(references, from: sources, in: zone.key)
    }

    /// Notes which files the records hold, and which they let go of (ASSET-4).
    private func putAssetUses(in transaction: some AssetWriting) throws {
        var uses: [String: Set<AssetContent>] = [:]
        for outcome in outcomes {
            switch outcome {
            case .save(let saved):
                let hadAssets = saved.previous?.mayHoldAssets ?? false
                if hadAssets || !saved.assets.isEmpty { uses[saved.record.name] = saved.assets }
            case .delete(let record) where record.mayHoldAssets: uses[record.name] = []
            case .delete, .leave, .nothingToDelete, .failed: break
            }
        }
        for record in hierarchies.endedRecords where record.mayHoldAssets {
            uses[record.name] = []
        }
        // Their fields were not read, unless somebody is notified.
        for record in cascaded where !needsFields || record.mayHoldAssets {
            uses[record.name] = []
        }
        guard !uses.isEmpty else { return }
        try transaction.putAssetUses(uses, in: zone.key, at: call.now)
    }

    /// The answer of a batch that was written.
    func response() throws -> ModifyRecords.Response {
        let common = selection(of: request.desiredKeys)
        let shares = sharesAfter
        return ModifyRecords.Response(
            records: try outcomes.indices.map { index in
                switch outcomes[index] {
                case .save(let saved):
                    // Of what was there before, only who may read the record learns more than
                    // that it was saved.
                    let selection =
                        mayRead(saved.record)
                        // Not `map(selection)`, which copies the batch for each record.
                        ? request.operations[index].desiredKeys.map { self.selection(of: $0) }
                            ?? common
                        : selection(of: [])
                    var record = try saved.record.answered(
                        to: call, in: access, selecting: selection, shares)
                    if record.sharing == nil, request.operations[index].createsShortGUID {
                        record.sharing = .root(
                            share: nil,
                            shortGUID: call.shortGUID(ofRoot: record.recordName, in: zone.key))
                    }
                    return .record(record)
                case .delete, .leave, .nothingToDelete:
                    return .deleted(WireTombstone(recordName: names[index]))
                case .failed(let error):
                    return .failed(recordName: names[index], error)
                }
            }
        )
    }

    private func selection(of desiredKeys: [String]?) -> FieldSelection {
        FieldSelection(
            desiredKeys: desiredKeys, numbersAsStrings: request.numbersAsStrings, for: call
        )
    }

    /// The answer of an atomic batch of which something failed: nothing was
    /// written (SAVE-15).
    func rolledBack() -> ModifyRecords.Response {
        let culprits = outcomes.indices.filter {
            if case .failed = outcomes[$0] { true } else { false }
        }
        let culprit = culprits.first.map { names[$0] } ?? ""
        return ModifyRecords.Response(
            records: outcomes.indices.map { index in
                if case .failed(let error) = outcomes[index] {
                    return .failed(recordName: names[index], error)
                }
                return .failed(
                    recordName: names[index],
                    WireError(
                        .atomicError,
                        "the batch is atomic and record '\(WireError.shortened(culprit))' failed"
                    )
                )
            }
        )
    }
}

extension RecordChange {
    /// Creates the change that leaves this version of a record, or took it away.
    ///
    /// Without encrypted values, which no notification of it may hold (NINFO-20).
    fileprivate init(_ event: RecordEvent, of record: StoredRecord) throws {
        self.init(
            recordName: record.name, recordType: record.type, event: event,
            // What was saved now has its encrypted values sealed; what goes may be older.
            fields: record.isDamaged
                ? nil
                : event == .deleted
                    ? try record.fields.withoutEncryptedValues()
                    : record.fields.withoutEnvelope(),
            system: SystemValues(
                created: record.created, modified: record.modified, parent: record.parent
            )
        )
    }
}

extension RecordBatch.Outcome {
    /// Whether something is written for it.
    fileprivate var isChange: Bool {
        switch self {
        case .save, .delete, .leave: true
        case .nothingToDelete, .failed: false
        }
    }
}
