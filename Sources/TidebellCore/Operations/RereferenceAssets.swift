// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension RereferenceAssets {
    /// Returns receipts with which files of records can be saved in other records of the
    /// same database (web-services 5.9).
    ///
    /// A receipt is for any field: the request does not name the one it will be used for.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneAccessReading & RecordReading & SharedRecordReading & SchemaReading
            & UserReading
    ) throws -> Response {
        _ = try call.requireUser()
        let targetZone = request.targetZoneID ?? request.zoneID
        let zones = try RequestZones([request.zoneID, targetZone], for: call, in: reader)
        let targetAccess = try zones.access(to: targetZone)
        try targetAccess.requireWriting()
        let access = try zones.access(to: request.zoneID)
        let names = try access.visible(
            Set(request.assets.map(\.recordName)), for: call, in: reader)
        let records =
            try access.zone.map { try reader.records(names, in: $0.key, for: call) } ?? [:]
        let unreadable = try access.unreadable(records.values, for: call, in: reader)
        var fieldNames: [String: Set<String>] = [:]
        for source in request.assets {
            fieldNames[source.recordName, default: []].insert(source.fieldName)
        }
        // A record may be named once for each of its fields.
        let fields = try records.mapValues { record in
            try record.fields.decoded(only: fieldNames[record.name] ?? [])
        }
        let target = AssetField(
            database: targetAccess.database.key, zoneName: targetAccess.zoneID.zoneName,
            recordName: nil, fieldName: nil
        )
        return Response(
            assets: request.assets.map { source in
                guard let record = records[source.recordName] else {
                    return .failure(WireError(.notFound, "Record not found"))
                }
                if let error = unreadable[record.name] { return .failure(error) }
                guard !record.isDamaged else {
                    return .failure(call.damage(of: record, in: request.zoneID.zoneName))
                }
                guard
                    case .asset(let asset)? = fields[source.recordName]?[source.fieldName]?.value,
                    let content = asset.content.map(AssetContent.init(rawValue:))
                else {
                    return .failure(
                        .badRequest(
                            "field '\(WireError.shortened(source.fieldName))' of record "
                                + "'\(WireError.shortened(source.recordName))' has no asset"
                        )
                    )
                }
                var answer = call.answered(asset, content, in: access.database)
                answer.receipt = call.assetSeals.seal(
                    AssetReceipt(content: content, field: target)
                )
                return .success(answer)
            }
        )
    }
}
