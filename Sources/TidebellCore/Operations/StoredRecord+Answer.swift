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

    private init(_ desiredKeys: [String]?, numbersAsStrings: Bool, omitsNanoseconds: Bool) {
        self.desiredKeys = desiredKeys.map(Set.init)
        self.numbersAsStrings = numbersAsStrings
        self.omitsNanoseconds = omitsNanoseconds
    }

    /// Creates the selection of a request; one serves all its records.
    init(desiredKeys: [String]?, numbersAsStrings: Bool, for call: Call) {
        self.init(
            desiredKeys, numbersAsStrings: numbersAsStrings,
            omitsNanoseconds: !call.usesExtensions
        )
    }

    /// Returns the fields as selected; untouched, they are not even parsed.
    func callAsFunction(_ fields: RecordFields) throws -> RecordFields {
        let omitsNanoseconds = omitsNanoseconds && fields.mentionsNanoseconds
        if desiredKeys == nil, !numbersAsStrings, !omitsNanoseconds { return fields }
        var decoded = try desiredKeys.map(fields.decoded(only:)) ?? fields.decoded()
        if omitsNanoseconds {
            decoded = decoded.mapValues { Field($0.value, isEncrypted: $0.isEncrypted) }
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
}

extension StoredRecord {
    /// The record of a zone as an item of an answer; damaged, it fails alone.
    func result(
        to call: Call, in access: ZoneAccess, selecting selection: FieldSelection
    ) throws -> RecordResult {
        guard !isDamaged else {
            return .failed(recordName: name, call.damage(of: self, in: access.zoneID.zoneName))
        }
        return .record(try answered(to: call, in: access, selecting: selection))
    }

    /// The record of a zone as answers to `call` carry it.
    func answered(
        to call: Call, in access: ZoneAccess, selecting selection: FieldSelection
    ) throws -> WireRecord {
        guard !isDamaged else { throw call.damage(of: self, in: access.zoneID.zoneName) }
        let fields = try call.opened(fields, ofRecord: name, in: access.zone)
        return WireRecord(
            recordName: name, recordType: type, recordChangeTag: position.changeTag,
            zoneID: access.zoneID,
            fields: try selection(try call.linked(fields, in: access.database)),
            created: created, modified: modified, parent: parent
        )
    }
}

extension Call {
    /// Returns what callers are told of a record whose stored fields are damaged, and
    /// reports it.
    func damage(of record: StoredRecord, in zoneName: String) -> WireError {
        reportDamage(zoneName, record.name)
        return WireError(
            .internalError,
            "record '\(WireError.shortened(record.name))' of zone "
                + "'\(WireError.shortened(zoneName))' is damaged on the server's disk; its "
                + "operator finds all that is with 'tidebell check'; saving it anew with "
                + "forceReplace, or deleting it, mends it"
        )
    }
}
