// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension LookupRecords {
    /// Returns the records in the order asked for; a missing one is a
    /// `NOT_FOUND` item (REC-12), a missing zone fails the request, and so do records
    /// that are too large together (LIMIT-20).
    ///
    /// - Parameter tellsSyncToken: Whether the answer carries the zone's newest sync
    ///   token, if it tracks changes.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneReading & RecordReading & UserReading,
        tellsSyncToken: Bool = false
    ) throws -> Response {
        let access = try call.access(to: request.zoneID, in: reader)
        let names = Set(request.records.map(\.recordName))
        var records =
            try access.zone.map { try reader.records(names, in: $0.key, for: call) } ?? [:]
        let missing = names.subtracting(records.keys)
        records.merge(
            try call.userRecords(missing, in: access, reader)
        ) { stored, _ in stored }
        let selection = { (desiredKeys: [String]?) in
            FieldSelection(
                desiredKeys: desiredKeys, numbersAsStrings: request.numbersAsStrings, for: call
            )
        }
        let common = selection(request.desiredKeys)
        var bytes = 0
        return Response(
            records: try request.records.map { item in
                guard let record = records[item.recordName] else {
                    return .failed(
                        recordName: item.recordName, WireError(.notFound, "Record not found")
                    )
                }
                // A name may stand several times.
                bytes += record.fields.json.count
                guard bytes <= call.limits.namedRecordBytes else {
                    throw WireError.tooManyBytes(call.limits.namedRecordBytes)
                }
                let selection = item.desiredKeys.map(selection) ?? common
                return try record.result(to: call, in: access, selecting: selection)
            },
            syncToken: tellsSyncToken ? access.syncToken(for: call) : nil
        )
    }
}
