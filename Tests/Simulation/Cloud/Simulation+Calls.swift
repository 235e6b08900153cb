// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

extension Simulation {
    /// Calls an endpoint of a database, and returns the answer's body.
    func post(
        _ path: String, as writer: Writer, _ body: (inout JSONWriter) -> Void
    ) async throws -> [UInt8] {
        // Where zones are shared, devices are apps, which opt into the extensions, and tools are not.
        let isApp = walk.hasSharing && writer.client?.hasPrefix("tool") != true
        return try await call(
            .post, target("database", path, writer), JSONWriter.write(body),
            headers: isApp ? [WireProtocol.extensionsHeader: "1"] : [:])
    }

    /// Sends any request; a server that died gives no answer.
    func call(
        _ method: HTTPRequest.Method, _ target: String, _ body: [UInt8] = [],
        as requestID: String? = nil, headers: [String: String] = [:]
    ) async throws -> [UInt8] {
        var headers = headers
        headers[WireProtocol.requestIDHeader] = requestID
        let response = await cloud.respond(method, target, headers: headers, body: body)
        let answer = try await response.body.collect()
        if store.isDead { throw MortalStore.Died() }
        return answer
    }

    /// The target of an endpoint under `/database`, `/device` or `/ext`.
    func target(_ root: String, _ path: String, _ writer: Writer) -> String {
        let client = writer.client.map { "&\(WireProtocol.clientID)=\($0)" } ?? ""
        return "/\(root)/1/\(Self.container.container)/development/\(path)"
            + "?\(WireProtocol.apiToken)=\(apiToken)"
            + "&\(WireProtocol.webAuthToken)=\(people[writer.user].webToken)\(client)"
    }

    /// Sets the badge of a user.
    func setBadge(_ writer: Writer, _ badge: Int) async throws {
        let writes = store.writes
        defer { if store.writes > writes { model.badges[writer.user] = badge } }
        let body = JSONWriter.write(ModifyBadge(value: badge).write)
        let answer = try await call(.post, target("ext", "notifications/badge", writer), body)
        try demand(answer == body, "the badge was refused")
    }

    /// Learns who a user is in the container.
    func meet(_ user: Int) async throws {
        let writer = Writer(user: user)
        let body = try await call(.get, target("database", "public/users/caller", writer))
        let recordName = try JSONReader.read(body) { try CallerResponse(from: &$0) }.userRecordName
        people[user].recordName = recordName
        let found = try await base.read { reader -> UserID? in
            try reader.account(named: "user-\(user)")
                .flatMap { try reader.user(of: $0, in: Self.container)?.id }
        }
        guard let found else { throw Violation("the server does not know user \(user)") }
        people[user].id = found
    }

    /// Checks that the records are those of the model, so that every push sent
    /// of something that could be fetched.
    func checkRecords() async throws {
        for user in 0..<walk.users {
            for zone in Names.customZones + [ZoneID.defaultName] {
                try await check(Site(scope: .private, zone: zone), of: user)
            }
        }
        try await check(Site(scope: .public, zone: ZoneID.defaultName), of: 0)
    }

    private func check(_ site: Site, of user: Int) async throws {
        let expected = model.records[Home(site, of: user)] ?? [:]
        let found = try await versions(of: Names.records, in: site, by: Writer(user: user))
        try demand(
            found == expected.mapValues(\.version),
            "\(site) of user \(user) holds \(found), expected \(expected)"
        )
    }

    /// Checks that what a push reports can be fetched: the record in this version
    /// or a newer one, unless it went since.
    func checkFetchable(_ row: Row) async throws {
        guard let name = row.push.record, let version = row.push.version,
            let zone = row.push.zone, row.push.event != .deleted
        else { return }
        let site = Site(scope: row.push.scope, zone: zone)
        let found = try await versions(of: [name], in: site, by: Writer(user: row.user))[name]
        let known = model.records[Home(site, of: row.user)]?[name]
        try demand(
            found == known?.version && (found ?? .max) >= version,
            "a push reports version \(version) of '\(name)', the server has \(found ?? 0)"
        )
    }

    private func versions(
        of names: [String], in site: Site, by writer: Writer
    ) async throws -> [String: Int] {
        let request = LookupRecords.Request(
            zoneID: ZoneID(zoneName: site.zone),
            records: names.map { LookupRecords.Item(recordName: $0) }
        )
        let body = try await post("\(site.scope)/records/lookup", as: writer, request.write)
        if (try? JSONReader.read(body, WireError.init(from:)))?.code == .zoneNotFound {
            return [:]
        }
        let response = try JSONReader.read(body) { try ModifyRecords.Response(from: &$0) }
        var versions: [String: Int] = [:]
        for case .record(let record) in response.records {
            guard case .int64(let version)? = try record.fields.decoded()["version"]?.value
            else { throw Violation("record '\(record.recordName)' has no version") }
            versions[record.recordName] = Int(version)
        }
        return versions
    }
}
