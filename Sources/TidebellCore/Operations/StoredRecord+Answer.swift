// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Which fields of a record an answer carries, and how.
struct FieldSelection {
    /// Nil means all, empty means none (TOK-13).
    private let desiredKeys: Set<String>?
    /// Whether INT64 values are written as text.
    private let numbersAsStrings: Bool
    /// Whether times are whole milliseconds, as clients without our extensions expect.
    private let omitsNanoseconds: Bool

    /// All fields, as stored.
    static let all = FieldSelection(nil, numbersAsStrings: false, omitsNanoseconds: false)

    private init(_ desiredKeys: Set<String>?, numbersAsStrings: Bool, omitsNanoseconds: Bool) {
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
        self.omitsNanoseconds = omitsNanoseconds
    }

    /// Creates the selection of a request; one serves all its records.
    init(desiredKeys: (some Sequence<String>)?, numbersAsStrings: Bool, for call: Call) {
        self.init(
            desiredKeys.map { Set($0) }, numbersAsStrings: numbersAsStrings,
            omitsNanoseconds: !call.usesExtensions
        )
    }

    /// Returns the fields as selected, with where to fetch their files; untouched, they are
    /// not even parsed.
    func callAsFunction(
        _ fields: RecordFields, linking link: (WireAsset) -> WireAsset
    ) throws -> RecordFields {
        guard changes(fields) else { return fields }
        let omitsNanoseconds = omitsNanoseconds && fields.mentionsNanoseconds
        let holdAssets = fields.holdAssets
        var decoded = try desiredKeys.map(fields.decoded(only:)) ?? fields.decoded()
        if omitsNanoseconds || holdAssets {
            decoded = decoded.mapValues { field in
                Field(
                    holdAssets ? field.value.mapAssets(link) : field.value,
                    isEncrypted: field.isEncrypted,
                    nanoseconds: omitsNanoseconds ? [] : field.nanoseconds
                )
            }
        }
        guard numbersAsStrings else { return RecordFields(decoded) }
        let json = JSONWriter.write { writer in
            writer.object { writer in
                for (name, field) in decoded.sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    field.write(to: &writer, numbersAsStrings: true)
                }
            }
        }
        return RecordFields(json: json)
    }

    /// What selecting costs, in bytes (``ReadBudget/bytes``).
    func work(on fields: RecordFields) -> Int {
        changes(fields) ? fields.json.count * ReadWork.remaking : 0
    }

    /// Whether an answer carries other fields than these.
    private func changes(_ fields: RecordFields) -> Bool {
        desiredKeys != nil || numbersAsStrings || fields.holdAssets
            || omitsNanoseconds && fields.mentionsNanoseconds
    }
}

extension StoredRecord {
    /// The record of a zone as an item of an answer, counted by `reader`; damaged, be it in its
    /// encrypted fields, it fails alone.
    func result(
        to call: Call, in access: ZoneAccess, selecting selection: FieldSelection,
        _ shares: ShareAnswers, _ reader: some RecordReading
    ) throws -> RecordResult {
        guard !isDamaged else {
            return .failed(recordName: name, call.damage(of: self, in: access.zoneID.zoneName))
        }
        try reader.noteWork(selection.work(on: fields))
        do {
            return .record(try answered(to: call, in: access, selecting: selection, shares))
        } catch let error as WireError
            where error.code == .internalError
            && error != access.zone.map(WireError.unreadableKey(of:))
        {
            call.reportDamage(access.zoneID.zoneName, name)
            return .failed(recordName: name, error)
        }
    }

    /// The record of a zone as answers to `call` carry it.
    func answered(
        to call: Call, in access: ZoneAccess, selecting selection: FieldSelection,
        _ shares: ShareAnswers
    ) throws -> WireRecord {
        guard !isDamaged else { throw call.damage(of: self, in: access.zoneID.zoneName) }
        let fields = try call.opened(fields, ofRecord: name, in: access.zone)
        return WireRecord(
            recordName: name, recordType: type, recordChangeTag: position.changeTag,
            zoneID: access.zoneID,
            fields: try selection(fields) { call.linked($0, in: access.database) },
            created: created, modified: modified,
            // What is above a root is shared with nobody (SHARE-4).
            parent: access.hierarchies != nil && shares.isRoot(name) ? nil : parent,
            sharing: shares.sharing(ofRecord: name)
        )
    }
}

extension Call {
    /// Returns what callers get for a record whose stored fields are damaged, and
    /// reports it.
    func damage(of record: StoredRecord, in zoneName: String) -> WireError {
        reportDamage(zoneName, record.name)
        return WireError(
            .internalError,
            "record '\(WireError.shortened(record.name))' of zone "
                + "'\(WireError.shortened(zoneName))' is damaged on the server's disk; its "
                + "operator finds it \(damageSearch.whereabouts); saving it anew with "
                + "forceReplace, or deleting it, mends it"
        )
    }
}
