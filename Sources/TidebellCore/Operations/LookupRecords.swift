// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension LookupRecords {
    /// Returns the records in the order asked for; a missing one is a
    /// `NOT_FOUND` item (REC-12), a missing zone fails the request, and so do records
    /// that are too large together (LIMIT-20).
    ///
    /// - Parameter returnsSyncToken: Whether the answer carries the zone's newest sync
    ///   token, if it tracks changes.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneAccessReading & RecordReading & SharedRecordReading & UserReading
            & SchemaReading,
        returnsSyncToken: Bool = false
    ) throws -> Response {
        let access = try call.access(to: request.zoneID, in: reader)
        let names = Set(request.records.map(\.recordName))
        let visible = try access.visible(names, for: call, in: reader)
        var records =
            try access.zone.map { try reader.records(visible, in: $0.key, for: call) } ?? [:]
        let missing = names.subtracting(records.keys)
        records.merge(
            try call.userRecords(missing, in: access, reader)
        ) { stored, _ in stored }
        let unreadable = try access.unreadable(records.values, for: call, in: reader)
        let shares = try ShareAnswers(of: records.keys, for: call, in: access, reader)
        var answers = Answers(to: request, for: call, in: access, shares)
        var bytes = 0
        return Response(
            records: try request.records.map { item in
                guard let record = records[item.recordName] else {
                    return .failed(
                        recordName: item.recordName, WireError(.notFound, "Record not found")
                    )
                }
                if let error = unreadable[record.name] {
                    return .failed(recordName: item.recordName, error)
                }
                // A name may stand several times.
                bytes += record.fields.json.count
                guard bytes <= call.limits.namedRecordBytes else {
                    throw WireError.tooManyBytes(call.limits.namedRecordBytes)
                }
                return try answers.answer(to: item, with: record, reader)
            },
            syncToken: returnsSyncToken ? access.syncToken(for: call) : nil
        )
    }
}

extension LookupRecords {
    /// Announces what the answer is made of (``ReadingAhead/readAhead(_:)``).
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let access = try call.access(to: request.zoneID, in: reader)
        guard let zone = access.zone, access.hierarchies == nil else { return }
        _ = try reader.records(Set(request.records.map(\.recordName)), in: zone.key, for: call)
    }
}

/// The items of an answer: what is named several times is made once for each selection.
private struct Answers {
    private let call: Call
    private let access: ZoneAccess
    private let shares: ShareAnswers
    private let commonKeys: Set<String>?
    private let numbersAsStrings: Bool
    private var made: [String: [Set<String>?: RecordResult]] = [:]

    init(
        to request: LookupRecords.Request, for call: Call, in access: ZoneAccess,
        _ shares: ShareAnswers
    ) {
        self.call = call
        self.access = access
        self.shares = shares
        commonKeys = request.desiredKeys.map(Set.init)
        numbersAsStrings = request.numbersAsStrings
    }

    mutating func answer(
        to item: LookupRecords.Item, with record: StoredRecord, _ reader: some RecordReading
    ) throws -> RecordResult {
        let desiredKeys = item.desiredKeys.map(Set.init) ?? commonKeys
        let others = made[record.name]
        if let same = others?[desiredKeys] {
            if case .record(let record) = same { try reader.noteWork(record.fields.json.count) }
            return same
        }
        // For the first one it counted when it was read.
        if others != nil { try reader.noteWork(record.fields.json.count) }
        let selection = FieldSelection(
            desiredKeys: desiredKeys, numbersAsStrings: numbersAsStrings, for: call
        )
        let result = try record.result(to: call, in: access, selecting: selection, shares, reader)
        made[record.name, default: [:]][desiredKeys] = result
        return result
    }
}
