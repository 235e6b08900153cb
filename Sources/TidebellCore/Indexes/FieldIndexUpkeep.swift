// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordWriting where Self: FieldIndexWriting {
    /// Inserts records and tombstones, as ``RecordWriting/putRecords(_:in:)``, and keeps the
    /// indexes of the zone.
    ///
    /// - Parameter replaced: The living records as they were, with their fields. One that is
    ///   missing leaves entries behind that lead to nothing.
    func putRecords(
        _ records: [StoredRecord], replacing replaced: [StoredRecord], in zone: StoredZone
    ) throws {
        try putRecords(records, in: zone.key)
        guard zone.isIndexed else { return }
        let indexes = Dictionary(
            grouping: try fieldIndexes(in: zone.key, of: nil), by: \.recordType)
        guard !indexes.isEmpty else { return }
        for (index, entries) in entries(of: replaced, in: indexes) {
            try removeFieldIndexEntries(entries, of: index)
        }
        for (index, entries) in entries(of: records.filter { !$0.isDeleted }, in: indexes) {
            try putFieldIndexEntries(entries, of: index)
        }
    }

    /// In the order of indexes, so that a body that is run again does the same.
    private func entries(
        of records: [StoredRecord], in indexes: [String: [StoredFieldIndex]]
    ) -> [(index: FieldIndexID, entries: [FieldIndexEntry])] {
        var entries: [FieldIndexID: [FieldIndexEntry]] = [:]
        for record in records {
            guard let indexes = indexes[record.type] else { continue }
            for (index, found) in record.entries(in: indexes) {
                entries[index, default: []] += found
            }
        }
        return entries.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (index: $0.key, entries: $0.value.sorted()) }
    }
}

extension StoredRecord {
    /// The entries of a living record in indexes of its type; its fields are read once for all.
    package func entries(
        in indexes: [StoredFieldIndex]
    ) -> [(index: FieldIndexID, entries: [FieldIndexEntry])] {
        let forms = indexes.compactMap { index in
            // One of another version of Tidebell is nobody's, and goes when it is not used.
            IndexedForm(name: index.name).map { (index: index.id, form: $0) }
        }
        let view = RecordView(self, fields: IndexedForm.fields(of: forms.map(\.form)))
        return forms.map { index, form in
            let keys = form.keys(of: self, seenAs: view)
            return (
                index: index, entries: keys.map { FieldIndexEntry(key: $0, position: position) }
            )
        }
    }
}
