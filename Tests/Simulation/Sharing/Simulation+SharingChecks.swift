// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
import TidebellPush
import TidebellServer
import TidebellWire

/// What everybody sees after each step, held against what they may see.
extension Simulation {
    /// Looks up all records of all zones as everybody; of one zone, as one of them, in all ways.
    func checkSharing() async throws {
        sharing.steps += 1
        sharing.unsettled = Set(try await unsettledZones().keys)
        for zone in SharedZone.all where !sharing.unsettled.contains(zone) {
            sharing.model.noteSettled(zone)
        }
        for user in people.indices {
            try await checkZones(of: user)
            try await checkChangedZones(of: user)
            for zone in SharedZone.all { try await checkRecords(of: zone, as: user) }
        }
        // Each combination comes again and again.
        let user = sharing.steps % people.count
        let zone = SharedZone.all[sharing.steps / people.count % SharedZone.all.count]
        for type in Names.types + [ShareNames.recordType] {
            try await checkQuery(for: type, in: zone, as: user)
        }
        for type in Names.types {
            let parent = Names.records[sharing.steps % Names.records.count]
            try await checkQuery(for: type, below: parent, in: zone, as: user)
        }
        try await checkShares(of: zone, as: user)
        try await checkFiles(in: zone, as: user)
        try await checkExplanation(of: user)
        try await checkKeptToken(of: zone, as: user)
        let next = SharedZone.all[sharing.steps % SharedZone.all.count]
        for user in people.indices {
            try await checkNextFetch(of: next, as: user)
            try await checkFirstFetch(of: next, as: user)
        }
    }

    /// Looks at the notifications since the last time: nobody is notified of what they cannot see.
    func observeSharing() async throws {
        for user in people.indices {
            let (id, start) = (people[user].id, sharing.heard[user] ?? 0)
            let notifications = try await base.read { reader in
                try reader.notifications(
                    for: id, after: NotificationSequence(rawValue: start), excludingOrigin: nil,
                    limit: 10_000)
            }
            for notification in notifications.sorted(by: { $0.sequence < $1.sequence }) {
                try check(notification, to: user)
                sharing.heard[user] = notification.sequence.rawValue
                sharing.notificationCount += 1
            }
        }
        let isIdle = try await base.read { try $0.outboxes(limit: 1).isEmpty }
        guard isIdle else { return }
        sharing.counts = [:]
        sharing.model.forgetNews()
    }

    /// Brings every device up to date that was told that it is not, and compares all of them.
    func finishSharing() async throws {
        var rounds = 0
        while try await !unsettledZones().isEmpty {
            try await settleHierarchies(limit: 100)
            rounds += 1
            try demand(rounds < 100, "records follow what is above them for ever")
        }
        _ = try await cloud.pipeline.drain()
        try await observeSharing()
        for client in sharing.devices.keys.sorted() {
            try await hear(client)
            try await sync(client, pages: .max)
            try demand(sharing.devices[client]?.isIdle == true, "\(client) never comes to an end")
        }
        // All were asked, and most fetched nothing just now.
        for client in sharing.devices.keys.sorted() {
            for zone in SharedZone.all { try checkZone(zone, of: client) }
        }
        try await checkSharing()
    }

    // MARK: Pushes

    private func check(_ notification: StoredNotification, to user: Int) throws {
        let push = try Push(notification.payload)
        let owner = people.firstIndex { $0.recordName == push.zoneOwner }
        let zone = SharedZone(owner: owner ?? -1, name: push.zone ?? "")
        try demand(
            push.kind == .database && push.record == nil && push.version == nil
                && push.owner == people[user].recordName
                && push.scope == zone.scope(for: user) && owner != nil,
            "user \(user) is sent \(push)"
        )
        guard push.scope == .shared else { return }
        let place = SharingState.HeardOf(
            user: user, subscription: push.subscriptionID, zone: zone,
            origin: notification.originClient)
        sharing.counts[place, default: 0] += 1
        let count = sharing.counts[place] ?? 0
        let most = sharing.model.hearable(by: user, of: zone, from: notification.originClient)
        try demand(
            count <= most,
            "user \(user) is notified \(count) times of \(zone) as '\(push.subscriptionID)', of "
                + "\(most) changes that they may know of"
        )
    }

    private func checkExplanation(of user: Int) async throws {
        var query = PushExplanation.Query()
        query.container = Self.container.container
        query.environment = Self.container.environment
        query.scope = .shared
        query.userName = "user-\(user)"
        query.last = 5
        let asked = query
        let explanation = try await base.read { try PushExplanation.explain(asked, in: $0) }
        for change in explanation.changes {
            // What did not reach the participant is explained, too, to the operator: there it is a
            // change of the owner's database.
            guard change.database.scope == .shared,
                case .records(let records, _) = change.event
            else { continue }
            let seen = SharedZone.all.filter { $0.owner != user && $0.name == change.zoneName }
                .reduce(into: Set([""])) { $0.formUnion(sharing.model.seen[user]?[$1] ?? []) }
            try demand(
                records.allSatisfy { seen.contains($0.name) },
                "the explanation for user \(user) names \(records.map(\.name)) in zone "
                    + "\(change.zoneName)"
            )
        }
    }

    // MARK: Reads

    private func checkZones(of user: Int) async throws {
        let writer = Writer(user: user)
        for scope in [DatabaseScope.private, .shared] {
            let body = try await call(.get, target("database", "\(scope)/zones/list", writer))
            let zones = try JSONReader.read(body) { try ZonesResponse(from: &$0) }.zones
            let found = try zones.compactMap { result -> SharedZone? in
                guard case .zone(let zone) = result else { throw Violation("\(result)") }
                return zone.zoneID.isDefault
                    ? nil : try sharedZone(zone.zoneID, namedTo: user)
            }
            let expected = SharedZone.all.filter {
                $0.scope(for: user) == scope && sharing.model.has($0, user)
            }
            try demand(
                Set(found) == Set(expected), "user \(user) has \(found), not \(expected)")
        }
    }

    /// The zones that changed, from the beginning: those that the user has or had, until the change
    /// by which they lost them was taken to them.
    private func checkChangedZones(of user: Int) async throws {
        for scope in [DatabaseScope.private, .shared] {
            let body = try await post(
                "\(scope)/changes/database", as: Writer(user: user),
                FetchDatabaseChanges.Request().write)
            let answer = try JSONReader.read(body) {
                try FetchDatabaseChanges.Response(from: &$0)
            }
            var found: Set<SharedZone> = []
            for result in answer.zones {
                guard case .zone(let zone) = result else {
                    throw Violation("a first fetch of a database has \(result)")
                }
                found.insert(try sharedZone(zone.zoneID, namedTo: user))
            }
            let zones = SharedZone.all.filter { $0.scope(for: user) == scope }
            let had = zones.filter {
                scope == .private
                    ? sharing.model.has($0, user)
                    : sharing.model.held[user]?[$0]?.isEmpty == false
            }
            let expected = zones.filter { sharing.model.has($0, user) }
            let isComplete = scope == .private || sharing.model.news.isEmpty
            try demand(
                found.isSubset(of: had) && (!isComplete || found.isSuperset(of: expected)),
                "user \(user) fetches changes of \(found), not \(expected)")
        }
    }

    /// Whether a user finds all that they may see of a zone: nobody else's records do not still
    /// follow what is above them.
    func seesAll(of zone: SharedZone, _ user: Int) -> Bool {
        user == zone.owner || !sharing.unsettled.contains(zone)
            || sharing.model.zones[zone]?.shares[ShareNames.zoneWideShare] != nil
    }

    private func checkRecords(of zone: SharedZone, as user: Int) async throws {
        let records = try await lookUp(SharingModel.allNames, in: zone, as: user)
        let found = (records ?? [:]).mapValues { look(of: $0) }
        sharing.shown[user, default: [:]][zone] = found
        let expected = sharing.model.visible(to: user, in: zone)
        // What still follows is not seen yet; what never left is.
        let firm = seesAll(of: zone, user) ? nil : sharing.model.firm[zone] ?? []
        try demand(
            (records != nil) == sharing.model.has(zone, user)
                && found.allSatisfy { expected[$0.key] == $0.value }
                && expected.keys.allSatisfy { name in
                    found[name] != nil || firm.map { !$0.contains(name) } == true
                },
            "user \(user) looks up \(found) in \(zone), expected \(expected)"
                + (firm.map { " of which \($0) are settled" } ?? "")
        )
    }

    /// Returns the records of a zone that a user finds; nil where the zone does not exist for them.
    /// All others are absent in the same way.
    func lookUp(
        _ names: [String], in zone: SharedZone, as user: Int
    ) async throws -> [String: WireRecord]? {
        let request = LookupRecords.Request(
            zoneID: zoneID(zone), records: names.map { .init(recordName: $0) })
        let body = try await post(
            "\(zone.scope(for: user))/records/lookup", as: Writer(user: user), request.write)
        if let error = try? JSONReader.read(body, WireError.init(from:)) {
            try demand(error.code == .zoneNotFound, "a look-up is refused: \(error)")
            return nil
        }
        let results = try JSONReader.read(body) { try ModifyRecords.Response(from: &$0) }.records
        var records: [String: WireRecord] = [:]
        for result in results {
            switch result {
            case .record(let record): records[record.recordName] = record
            case .failed(_, let error) where error.code == .notFound:
                try demand(error.reason == "Record not found", "a refusal says \(error)")
            default: throw Violation("a look-up finds \(result)")
            }
        }
        return records
    }

    /// - Parameter parent: The record right above those that are asked for: what somebody does not see
    ///   is above nothing for them.
    private func checkQuery(
        for type: String, below parent: String? = nil, in zone: SharedZone, as user: Int
    ) async throws {
        let filters = parent.map { [WireFilter(.equals, .system(.parent), .string($0))] } ?? []
        let request = QueryRecords.Request(
            query: WireQuery(recordType: type, filters: filters), zoneID: zoneID(zone))
        let body = try await post(
            "\(zone.scope(for: user))/records/query", as: Writer(user: user), request.write)
        let visible = sharing.shown[user]?[zone] ?? [:]
        let expected = visible.filter { name, look in
            Names.type(of: name) == type && (parent.map { look.isBelow($0) } ?? true)
        }
        guard (try? JSONReader.read(body, WireError.init(from:))) == nil else {
            // Nobody may have saved any of this type yet.
            return try demand(expected.isEmpty, "a query for \(type) in \(zone) is refused")
        }
        let answer = try JSONReader.read(body) { try QueryRecords.Response(from: &$0) }
        var found: [String: String] = [:]
        for case .record(let record) in answer.records {
            found[record.recordName] = look(of: record)
        }
        guard type != ShareNames.recordType else {
            return try demand(
                found.allSatisfy { visible[$0.key] == $0.value },
                "user \(user) queries \(found) in \(zone), of \(visible)")
        }
        try demand(
            found == expected,
            "user \(user) queries \(found)\(parent.map { " below \($0)" } ?? "") in \(zone), "
                + "expected \(expected)")
    }

    /// Everything from the beginning: what a device fetches that comes new.
    private func checkFirstFetch(of zone: SharedZone, as user: Int) async throws {
        let request = FetchZoneChanges.Request(zones: [.init(zoneID: zoneID(zone))])
        let body = try await post(
            "\(zone.scope(for: user))/changes/zone", as: Writer(user: user), request.write)
        let answer = try JSONReader.read(body) { try FetchZoneChanges.Response(from: &$0) }
        var found: [String: String] = [:]
        var token: String?
        if case .changes(let page)? = answer.zones.first {
            try demand(!page.moreComing, "a first fetch of a small zone has more than a page")
            token = page.syncToken
            for result in page.records {
                switch result {
                case .record(let record): found[record.recordName] = look(of: record)
                // What does not hold any more may have been seen before.
                case .deleted(let tombstone) where !seesAll(of: zone, user):
                    try demand(
                        sharing.model.seen[user]?[zone]?.contains(tombstone.recordName) == true,
                        "a first fetch of user \(user) names \(tombstone.recordName) in \(zone)")
                default: throw Violation("a first fetch has \(result)")
                }
            }
        }
        let expected = sharing.shown[user]?[zone] ?? [:]
        try demand(found == expected, "user \(user) fetches \(found) of \(zone), not \(expected)")
        sharing.fetched[user, default: [:]][zone] = SharingDevice.Zone(
            token: token, records: found)
        sharing.model.seenLately[user, default: [:]][zone] = Set(found.keys)
    }

    private func checkShares(of zone: SharedZone, as user: Int) async throws {
        for (share, _) in sharing.urls where share.zone == zone {
            let metadata = try await open(share, "resolve", Writer(user: user))
            let expected = sharing.model.opened(share, by: user)
            try demand(
                metadata.map { look(of: $0.share) } == expected,
                "user \(user) opens \(share) as \(metadata.map { look(of: $0.share) } ?? "-"), "
                    + "expected \(expected ?? "-")"
            )
            try demand(
                metadata?.rootRecord?.recordName == (expected == nil ? nil : share.root),
                "the metadata of \(share) shows \(metadata?.rootRecord?.recordName ?? "-")")
        }
        for (link, urls) in sharing.links where link.share.zone == zone {
            for (index, url) in urls.enumerated() {
                let metadata = try await open(url: url, "resolve", Writer(user: user))
                let isNewest = index == urls.count - 1
                let expected =
                    isNewest
                    ? sharing.model.opened(link.share, by: user, through: link.number) : nil
                try demand(
                    metadata.map { look(of: $0.share) } == expected,
                    "user \(user) opens one-time URL \(link.number) of \(link.share) as "
                        + "\(metadata.map { look(of: $0.share) } ?? "-"), expected "
                        + "\(expected ?? "-")"
                )
            }
        }
    }

    /// A file is had by its record's URL, and for another record by who sees this one and may write.
    private func checkFiles(in zone: SharedZone, as user: Int) async throws {
        let visible = sharing.shown[user]?[zone] ?? [:]
        let notes = sharing.model.zones[zone]?.notes ?? [:]
        let source = JSONWriter.write { writer in
            writer.object { writer in
                writer.key("zoneID")
                zoneID(zone).write(to: &writer)
                writer.key("assets")
                writer.array(Names.records) { writer, name in
                    writer.object { writer in
                        writer.member("recordName", name)
                        writer.member("fieldName", "file")
                    }
                }
            }
        }
        let scope = zone.scope(for: user)
        let answer = try await call(
            .post, target("database", "\(scope)/assets/rereference", Writer(user: user)), source)
        let text = String(decoding: answer, as: UTF8.self)
        let receipts =
            text.split(separator: #""receipt""#, omittingEmptySubsequences: false).count - 1
        let files = notes.filter { $0.value.file != nil && visible[$0.key] != nil }
        let expected = sharing.model.isWriter(user, in: zone) ? files.count : 0
        try demand(
            receipts == expected,
            "user \(user) asks for the files of \(zone) and gets \(text), not \(expected) receipts")
        let name = Names.records[sharing.steps % Names.records.count]
        guard let content = files[name]?.file else { return }
        let record = try await lookUp([name], in: zone, as: user)?[name]
        guard case .asset(let asset)? = try record?.fields.decoded()["file"]?.value else {
            throw Violation("'\(name)' of \(zone) lost its file")
        }
        let path = Self.path(asset.downloadURL ?? "").replacingOccurrences(of: "${f}", with: "f")
        let (status, bytes) = try await exchange(.get, path)
        try demand(
            status == 200 && bytes == Self.bytes(of: content),
            "the file of '\(name)' in \(zone) is answered \(status)")
    }

    /// How a record looks that the server answered.
    func look(of record: WireRecord) -> String {
        if let share = record.shownShare {
            return RecordLook.share(
                share.publicPermission,
                share.participants.map { participant in
                    RecordLook.member(
                        people.firstIndex {
                            $0.recordName == participant.identity.userRecordName
                        },
                        participant.permission, participant.role, participant.acceptance,
                        hasURL: participant.oneTimeShortGUID != nil,
                        isApproved: participant.isApprovedRequester)
                },
                requests: record.shownShare?.accessRequests.map { requests in
                    RecordLook.requests(
                        requests.areAllowed, Set(requests.requesters.map(number(of:))),
                        Set(requests.blocked.map(number(of:))))
                }
            )
        }
        let fields = try? record.fields.decoded()
        var version = 0
        if case .int64(let number)? = fields?["version"]?.value { version = Int(number) }
        var file: String?
        if case .asset(let asset)? = fields?["file"]?.value {
            file = sharing.contents[asset.fileChecksum] ?? "unknown bytes"
        }
        var share: String?
        if case .root(let name, _)? = record.sharing { share = name }
        return RecordLook.note(version, parent: record.parent, file: file, share: share)
    }

    private func number(of identity: UserIdentity) -> Int {
        people.firstIndex { $0.recordName == identity.userRecordName } ?? -1
    }
}

extension String {
    /// Whether a look (``RecordLook``) shows this record right above the one that it is of.
    fileprivate func isBelow(_ parent: String) -> Bool { contains(" below \(parent) with ") }
}
