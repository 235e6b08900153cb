// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchRecordChanges {
    /// Returns a page of one zone's changes, as `changes/zone` does (TOK-28); here
    /// what is wrong with the zone fails the request.
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneAccessReading & RecordReading & SharedRecordReading
    ) throws -> Response {
        let zone = FetchZoneChanges.Zone(
            zoneID: request.zoneID, syncToken: request.syncToken, options: request.options
        )
        let answer = try FetchZoneChanges.run(.init(zones: [zone]), for: call, in: reader)
        switch answer.zones[0] {
        case .failed(_, let error): throw error
        case .changes(let page):
            return Response(
                records: page.records, syncToken: page.syncToken, moreComing: page.moreComing,
                reverse: request.options.reverse ?? false,
                clientChangeToken: page.clientChangeToken
            )
        }
    }
}
