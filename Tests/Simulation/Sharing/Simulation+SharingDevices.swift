// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// A device that fetches what it was notified of, or changed itself, and nothing else.
struct SharingDevice: Sendable {
    /// A zone as far as it was fetched.
    struct Zone: Sendable {
        var token: String?
        /// How each record looks.
        var records: [String: String] = [:]
    }

    var user: Int
    /// How far the databases were fetched.
    var tokens: [DatabaseScope: String] = [:]
    var zones: [SharedZone: Zone] = [:]
    /// The databases in which something changed.
    var changed: Set<DatabaseScope> = [.private, .shared]
    /// The zones of which the device cannot tell whether it has all.
    var doubtful: Set<SharedZone> = []

    /// Whether it has all that it was told of.
    var isIdle: Bool { changed.isEmpty && doubtful.isEmpty }
}

extension Simulation {
    private static let page = 3

    /// Has a device take the pushes that wait for it.
    func hear(_ client: String) async throws {
        guard let device = model.devices[client] else { return }
        let user = people[device.user]
        let waiting = try await base.read { reader in
            try reader.notifications(
                for: user.id, after: NotificationSequence(rawValue: device.cursor),
                excludingOrigin: client, limit: 10_000
            ).count
        }
        let (beginning, events) = try await fetchStream(of: device, count: waiting)
        if beginning.contains("event: gap") {
            sharing.devices[client]?.changed = [.private, .shared]
        }
        for event in events {
            let push = try Push(event.payload)
            sharing.devices[client]?.changed.insert(push.scope)
            model.devices[client]?.cursor = event.sequence
            deliveredCount += 1
        }
    }

    /// Has a device fetch what it knows to have changed, at most so many pages of each zone.
    func sync(_ client: String, pages: Int) async throws {
        guard let device = sharing.devices[client] else { return }
        let writer = Writer(user: device.user, client: client)
        for scope in device.changed.sorted(by: { $0.rawValue < $1.rawValue }) {
            try await fetchDatabase(scope, for: client, writer)
            sharing.devices[client]?.changed.remove(scope)
        }
        let doubtful = sharing.devices[client]?.doubtful ?? []
        for zone in doubtful.sorted(by: { "\($0)" < "\($1)" }) {
            let isWhole = try await fetchZone(zone, for: client, writer, pages: pages)
            guard isWhole else { continue }
            sharing.devices[client]?.doubtful.remove(zone)
            sharing.unsettled = Set(try await unsettledZones().keys)
            try checkZone(zone, of: client)
        }
    }

    /// Checks that a device has what its user may see of a zone, no more and no less; while records
    /// still follow what is above them, it may not have heard of what is gone.
    func checkZone(_ zone: SharedZone, of client: String) throws {
        guard let device = sharing.devices[client], seesAll(of: zone, device.user) else { return }
        let expected = sharing.model.visible(to: device.user, in: zone)
        let found = device.zones[zone]?.records ?? [:]
        try demand(
            found == expected
                && (device.zones[zone] != nil) == sharing.model.has(zone, device.user),
            "\(client) fetched \(zone) and has \(found), not \(expected)"
        )
    }

    /// Checks what a device of a user would get now that it does not ask for: from the token that
    /// it keeps it would have what its user finds.
    func checkKeptToken(of zone: SharedZone, as user: Int) async throws {
        let client = checked(of: user)
        guard let kept = sharing.devices[client]?.zones[zone], kept.token != nil else { return }
        let seen = sharing.model.seen[user]?[zone] ?? []
        try await checkFetch(of: zone, Writer(user: user, client: client), over: kept, seen: seen)
    }

    /// Checks what a user gets who fetched all a few steps before: nothing is gone for them that they
    /// could not see since.
    func checkNextFetch(of zone: SharedZone, as user: Int) async throws {
        guard let kept = sharing.fetched[user]?[zone], kept.token != nil else { return }
        let seen = sharing.model.seenLately[user]?[zone] ?? []
        try await checkFetch(of: zone, Writer(user: user), over: kept, seen: seen)
    }

    private func checkFetch(
        of zone: SharedZone, _ writer: Writer, over kept: SharingDevice.Zone, seen: Set<String>
    ) async throws {
        let user = writer.user
        let client = writer.client ?? "user \(user)"
        var copy = kept
        var isWhole = false
        while !isWhole {
            let token = copy.token
            switch try await fetchPage(of: zone, since: token, writer) {
            case .changes(let page):
                try take(page, of: zone, as: user, seen: seen, into: &copy)
                isWhole = !page.moreComing
            case .failed(_, let error):
                guard error.code != .zoneNotFound else {
                    return try demand(
                        !sharing.model.has(zone, user), "\(zone) is not found for \(client)")
                }
                try demand(
                    error.meansExpiredToken && token != nil,
                    "the changes of \(zone) are refused: \(error)")
                copy = SharingDevice.Zone()
            }
        }
        let expected = sharing.shown[user]?[zone] ?? [:]
        // What is gone with something above it may still be to come.
        let found =
            seesAll(of: zone, user)
            ? copy.records : copy.records.filter { expected[$0.key] != nil }
        try demand(
            found == expected,
            "from the token that it keeps, \(client) gets \(found) of \(zone), not \(expected)")
    }

    /// One device of a user after the other.
    private func checked(of user: Int) -> String {
        let clients = Names.streamers(of: user)
        return clients[sharing.steps / 12 % clients.count]
    }

    // MARK: -

    private func fetchPage(
        of zone: SharedZone, since token: String?, _ writer: Writer
    ) async throws -> FetchZoneChanges.ZoneAnswer {
        let request = FetchZoneChanges.Request(
            zones: [.init(zoneID: zoneID(zone), syncToken: token)],
            options: .init(resultsLimit: Self.page)
        )
        let scope = zone.scope(for: writer.user)
        let body = try await post("\(scope)/changes/zone", as: writer, request.write)
        let answer = try JSONReader.read(body) { try FetchZoneChanges.Response(from: &$0) }
        guard let found = answer.zones.first else {
            throw Violation("the answer has no zone \(zone)")
        }
        return found
    }

    private func fetchDatabase(
        _ scope: DatabaseScope, for client: String, _ writer: Writer
    ) async throws {
        while true {
            let token = sharing.devices[client]?.tokens[scope]
            let request = FetchDatabaseChanges.Request(syncToken: token, resultsLimit: 1)
            let body = try await post("\(scope)/changes/database", as: writer, request.write)
            if let error = try? JSONReader.read(body, WireError.init(from:)) {
                try demand(
                    error.meansExpiredToken && token != nil,
                    "the changes of a database are refused: \(error)")
                // Whoever begins anew knows the zones that are listed, and no others.
                sharing.devices[client]?.tokens[scope] = nil
                let known = sharing.devices[client]?.zones.keys.filter {
                    $0.scope(for: writer.user) == scope
                }
                sharing.devices[client]?.doubtful.formUnion(known ?? [])
                continue
            }
            let answer = try JSONReader.read(body) {
                try FetchDatabaseChanges.Response(from: &$0)
            }
            for result in answer.zones {
                switch result {
                case .zone(let zone):
                    let id = try sharedZone(zone.zoneID, namedTo: writer.user)
                    sharing.devices[client]?.doubtful.insert(id)
                case .deleted(let zoneID, _):
                    let id = try sharedZone(zoneID, namedTo: writer.user)
                    sharing.devices[client]?.zones[id] = nil
                case .failed(_, let error): throw Violation("a zone fails: \(error)")
                }
            }
            sharing.devices[client]?.tokens[scope] = answer.syncToken
            if !answer.moreComing { return }
        }
    }

    /// The zone with this ID; fails where its caller never had it.
    func sharedZone(_ zoneID: ZoneID, namedTo user: Int) throws -> SharedZone {
        let owner = people.firstIndex { $0.recordName == zoneID.ownerRecordName }
        let zone = SharedZone(owner: owner ?? -1, name: zoneID.zoneName)
        try demand(
            owner == user || sharing.model.seen[user]?[zone]?.isEmpty == false,
            "user \(user) is told of \(zone), which they never had"
        )
        return zone
    }

    /// Fetches pages of a zone; returns whether that was all.
    private func fetchZone(
        _ zone: SharedZone, for client: String, _ writer: Writer, pages: Int
    ) async throws -> Bool {
        var left = pages
        while left > 0 {
            left -= 1
            let token = sharing.devices[client]?.zones[zone]?.token
            switch try await fetchPage(of: zone, since: token, writer) {
            case .changes(let page):
                var copy = sharing.devices[client]?.zones[zone] ?? SharingDevice.Zone()
                let seen = sharing.model.seen[writer.user]?[zone] ?? []
                try take(page, of: zone, as: writer.user, seen: seen, into: &copy)
                sharing.devices[client]?.zones[zone] = copy
                if !page.moreComing { return true }
            case .failed(_, let error):
                sharing.devices[client]?.zones[zone] = nil
                guard error.code != .zoneNotFound else { return true }
                try demand(
                    error.meansExpiredToken && token != nil,
                    "the changes of \(zone) are refused: \(error)")
            }
        }
        return false
    }

    private func take(
        _ page: FetchZoneChanges.Page, of zone: SharedZone, as user: Int, seen: Set<String>,
        into copy: inout SharingDevice.Zone
    ) throws {
        let visible = sharing.model.visible(to: user, in: zone)
        for result in page.records {
            switch result {
            case .record(let record):
                let look = look(of: record)
                try demand(
                    visible[record.recordName] == look,
                    "user \(user) is given '\(record.recordName)' of \(zone): \(look)")
                copy.records[record.recordName] = look
            case .deleted(let tombstone):
                try demand(
                    seen.contains(tombstone.recordName),
                    "user \(user) is told that '\(tombstone.recordName)' of \(zone) is gone, which "
                        + "it could never see")
                copy.records[tombstone.recordName] = nil
            case .failed(let name, let error): throw Violation("record '\(name)' fails: \(error)")
            }
        }
        copy.token = page.syncToken
    }
}
