// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension Simulation {
    /// How many records a device asks for at once: few, so that there are further pages.
    private static let page = 3

    /// The devices that sync.
    var syncingDevices: [String] {
        model.devices.keys.filter { !$0.hasPrefix("page") }.sorted()
    }

    /// Changes a record on a device; nobody else knows yet.
    func edit(_ client: String, _ zone: String, _ edit: Edit) {
        replicas[client, default: Replica()].unsent[zone, default: [:]][edit.name] = edit
    }

    /// Sends what the device has changed; what is refused stays, for after the next fetch.
    func send(_ client: String) async throws {
        guard let device = model.devices[client], let replica = replicas[client] else { return }
        let writer = Writer(user: device.user, client: client)
        for zone in replica.unsent.keys.sorted() {
            let edits = replica.edits(in: zone)
            guard !edits.isEmpty else { continue }
            let site = Site(scope: .private, zone: zone)
            switch try await change(.modify(writer, site, edits, isAtomic: false)) {
            case .refused:
                // The zone is not there, or not any more: the edits bring it back.
                _ = try await change(.createZones(writer, [zone]))
            case .items(let verdicts):
                for (edit, verdict) in zip(edits, verdicts) where !verdict.isFailure {
                    replicas[client]?.unsent[zone]?[edit.name] = nil
                }
            }
        }
    }

    /// Fetches what changed since the last time, as a device does that knows nothing of lives;
    /// it has what the server has then.
    func fetch(_ client: String) async throws {
        guard let device = model.devices[client] else { return }
        let writer = Writer(user: device.user, client: client)
        let replica = replicas[client, default: Replica()]
        var changes = try await databaseChanges(since: replica.databaseToken, writer)
        if changes == nil {
            changes = try await databaseChanges(since: nil, writer)
            // Whoever starts over knows the zones that are listed, and no others.
            let listed = Set(changes?.living ?? [])
            replicas[client]?.zones = replica.zones.filter { listed.contains($0.key) }
        }
        guard let changes else { throw Violation("\(client) needs a token to begin") }
        for zone in changes.gone { replicas[client, default: Replica()].zones[zone] = nil }
        for zone in changes.living { try await fetch(zone, for: client, writer) }
        replicas[client, default: Replica()].databaseToken = changes.token
        try checkReplica(of: client, device.user)
    }

    /// Brings every device up to date, with all that they have not sent.
    func syncAll() async throws {
        // Who sends over something that is not the newest has to fetch and send again.
        for _ in 0..<4 {
            for client in syncingDevices {
                try await fetch(client)
                try await send(client)
            }
        }
        for client in syncingDevices {
            try demand(
                replicas[client]?.isSent ?? true,
                "\(client) could not send \(replicas[client]?.unsent ?? [:])"
            )
            try await fetch(client)
        }
    }

    // MARK: -

    private struct DatabaseChanges {
        var living: [String] = []
        var gone: [String] = []
        var token: String?
    }

    /// Returns the zones that changed; nil when the token is expired.
    private func databaseChanges(
        since token: String?, _ writer: Writer
    ) async throws -> DatabaseChanges? {
        var changes = DatabaseChanges(token: token)
        while true {
            let request = FetchDatabaseChanges.Request(
                syncToken: changes.token, resultsLimit: Self.page
            )
            let body = try await post("private/changes/database", as: writer, request.write)
            if let error = try? JSONReader.read(body, WireError.init(from:)) {
                try demand(
                    error.meansExpiredToken && token != nil,
                    "the changes of the database are refused: \(error)"
                )
                return nil
            }
            let answer = try JSONReader.read(body) {
                try FetchDatabaseChanges.Response(from: &$0)
            }
            for zone in answer.zones {
                switch zone {
                case .zone(let zone): changes.living.append(zone.zoneID.zoneName)
                case .deleted(let zone, _): changes.gone.append(zone.zoneName)
                case .failed(_, let error): throw Violation("a zone fails: \(error)")
                }
            }
            changes.token = answer.syncToken
            if !answer.moreComing { return changes }
        }
    }

    private func fetch(_ zone: String, for client: String, _ writer: Writer) async throws {
        while true {
            let token = replicas[client]?.zones[zone]?.token
            let request = FetchZoneChanges.Request(
                zones: [.init(zoneID: ZoneID(zoneName: zone), syncToken: token)],
                options: .init(resultsLimit: Self.page)
            )
            let body = try await post("private/changes/zone", as: writer, request.write)
            let answer = try JSONReader.read(body) { try FetchZoneChanges.Response(from: &$0) }
            switch answer.zones.first {
            case .changes(let page):
                try apply(page, of: zone, to: client)
                if !page.moreComing { return }
            case .failed(_, let error):
                try demand(
                    error.meansExpiredToken && token != nil,
                    "the changes of zone \(zone) are refused: \(error)"
                )
                replicas[client]?.zones[zone] = nil
            case nil: throw Violation("the answer has no zone \(zone)")
            }
        }
    }

    private func apply(
        _ page: FetchZoneChanges.Page, of zone: String, to client: String
    ) throws {
        var copy = replicas[client]?.zones[zone] ?? Replica.Zone()
        for result in page.records {
            switch result {
            case .record(let record):
                guard case .int64(let version)? = try record.fields.decoded()["version"]?.value
                else { throw Violation("record '\(record.recordName)' has no version") }
                copy.records[record.recordName] = Known(
                    version: Int(version), changeTag: record.recordChangeTag
                )
            case .deleted(let tombstone): copy.records[tombstone.recordName] = nil
            case .failed(let name, let error): throw Violation("record '\(name)' fails: \(error)")
            }
        }
        copy.token = page.syncToken
        replicas[client, default: Replica()].zones[zone] = copy
    }

    /// Checks that the device has what the server has, no more and no less.
    private func checkReplica(of client: String, _ user: Int) throws {
        let zones = model.zones[user] ?? []
        let expected = Dictionary(
            uniqueKeysWithValues: zones.map { zone in
                let records = model.records[Home(owner: user, zone: zone)] ?? [:]
                return (zone, records.mapValues(\.version))
            }
        )
        let found = (replicas[client]?.zones ?? [:]).mapValues { $0.records.mapValues(\.version) }
        try demand(
            found == expected, "\(client) fetched everything and has \(found), not \(expected)"
        )
    }
}

extension WireError {
    /// Whether the client has to begin without a token.
    var meansExpiredToken: Bool {
        code == .badRequest && reason.hasPrefix("client knowledge differs")
    }
}
