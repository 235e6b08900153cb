// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchChangedZones {
    /// Returns the zones that changed, as `changes/database` does.
    package static func run(
        _ request: Request, for call: Call, in reader: some ZoneReading & SharedZoneReading
    ) throws -> Response {
        let changes = try FetchDatabaseChanges.run(
            .init(syncToken: request.metaSyncToken, resultsLimit: request.resultsLimit),
            for: call, in: reader
        )
        return Response(
            zones: changes.zones, metaSyncToken: changes.syncToken, moreComing: changes.moreComing
        )
    }
}
