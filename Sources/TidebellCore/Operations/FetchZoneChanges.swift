// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension FetchZoneChanges {
    /// Returns a page of changes for each zone: every record that changed since
    /// the token once, in its latest state (TOK-15). A zone that fails does so
    /// alone (web-services 5.6).
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ZoneAccessReading & RecordReading & SharedRecordReading
    ) throws -> Response {
        try call.requireChangeTracking()
        _ = try call.requireUser()
        var budget = Budget(
            records: call.limits.recordBudget(for: call), bytes: call.limits.pageBytes
        )
        let zones = try RequestZones(request.zones.map(\.zoneID), for: call, in: reader)
        return Response(
            zones: try request.zones.map { zone in
                do {
                    let options = zone.options.merged(over: request.options)
                    return .changes(
                        try page(of: zone, zones, options: options, &budget, for: call, in: reader)
                    )
                } catch let error as WireError {
                    return .failed(zones.answered(zone.zoneID), error.visible(to: call))
                }
            }
        )
    }

    /// Announces what the pages are made of (``ReadingAhead/readAhead(_:)``).
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let zones = try RequestZones(request.zones.map(\.zoneID), for: call, in: reader)
        let most = call.limits.recordBudget(for: call)
        // The first ones mostly take the whole page.
        for zone in request.zones.prefix(zonesAhead) {
            let options = zone.options.merged(over: request.options)
            // What is not there fails when its page is made.
            guard options.reverse != true, let access = try? zones.access(to: zone.zoneID),
                let stored = access.zone, access.hierarchies == nil
            else { continue }
            let token = try call.syncToken(
                zone.syncToken, family: .zone, of: access.database.key)
            _ = try reader.recordChanges(
                in: stored.key, after: token?.position ?? .start,
                limit: min(most, call.limits.recordPage(options.resultsLimit, for: call)),
                byteLimit: call.limits.pageBytes, reverse: false)
        }
    }

    /// The zones of which a page is read ahead, though those before may leave it no room.
    private static let zonesAhead = 4

    /// What the zones of a request that are still to come may bring together.
    private struct Budget {
        var records: Int
        /// Of fields; a page that needs more ends with the record that passes it.
        var bytes: Int
    }

    private static func page(
        of request: Zone, _ zones: RequestZones, options: Options, _ budget: inout Budget,
        for call: Call, in reader: some RecordReading & ShareReading & SharedRecordReading
    ) throws -> Page {
        guard !request.zoneID.isDefault else {
            throw WireError.badRequest("cannot get changes in default zone")
        }
        let access = try zones.access(to: request.zoneID)
        guard let zone = access.zone else { throw WireError.zoneNotFound(request.zoneID) }
        let isReverse = options.reverse ?? false
        var token = try startingToken(
            request.syncToken, in: zone, of: access, isReverse: isReverse, for: call, reader
        )
        let most = call.limits.recordPage(options.resultsLimit, for: call)
        let page = try changes(
            in: zone, of: access.hierarchies, after: token.position, limit: most, &budget,
            call.limits, reader, isReverse)
        if isReverse {
            token.position = page.isComplete ? .start : page.end ?? token.position
        } else {
            let last = page.end ?? token.position
            token.position = page.isComplete ? access.end(of: zone, afterSeen: last) : last
        }
        return Page(
            zoneID: access.zoneID, syncToken: token.text,
            moreComing: !page.isComplete,
            records: try results(
                for: page, in: access, since: token.baseline, options: options, for: call, reader
            ),
            // It is of the owner's devices, and may be of what is not shared.
            clientChangeToken: call.usesExtensions && access.hierarchies == nil
                ? zone.clientChangeToken : nil
        )
    }

    /// Records in the history of the zone, or of the hierarchies that are shared with the caller.
    private struct Changes {
        var records: [StoredRecord] = []
        /// Of the history of hierarchies, since when each deletion is true; nil where a record's
        /// position says it.
        var goneSince: [Position]?
        /// Where that history has the last of them; nil without any.
        var end: Position?
        var isComplete = false
        /// What is above their records, where the zone is not settled.
        var paths: HierarchyPaths?

        init() {}

        init(_ records: [StoredRecord], isComplete: Bool) {
            self.records = records
            self.isComplete = isComplete
            end = records.last?.position
        }

        init(_ changes: [SharedRecordChange], isComplete: Bool, paths: HierarchyPaths? = nil) {
            records = changes.map(\.record)
            goneSince = changes.map(\.hiddenSince)
            end = changes.last?.position
            self.isComplete = isComplete
            self.paths = paths
        }
    }

    private static func changes(
        in zone: StoredZone, of hierarchies: Set<String>?, after position: Position, limit: Int,
        _ budget: inout Budget, _ limits: Limits,
        _ reader: some RecordReading & SharedRecordReading, _ isReverse: Bool
    ) throws -> Changes {
        // The zones before this one took the whole page: come back for this one.
        guard budget.records > 0, budget.bytes > 0 else { return Changes() }
        let limit = min(budget.records, limit)
        let page: Changes
        if let hierarchies {
            let found = try reader.sharedRecordChanges(
                in: zone.key, of: hierarchies, after: position, limit: limit,
                byteLimit: budget.bytes, reverse: isReverse
            )
            page = try settled(found, in: zone, limits, reader)
        } else {
            let found = try reader.recordChanges(
                in: zone.key, after: position, limit: limit, byteLimit: budget.bytes,
                reverse: isReverse
            )
            page = Changes(found.records, isComplete: found.isComplete)
        }
        // What moved from one hierarchy to another is there twice, and may be one too many.
        budget.records = max(0, budget.records - page.records.count)
        for record in page.records { budget.bytes -= record.fields.json.count }
        return page
    }

    /// Returns the changes with those as deletions whose record may have left already, though it is
    /// not settled yet: one that has not comes back with a change of its own.
    ///
    /// The page ends before a record that has too much above it together with those before; fails
    /// with `TRY_AGAIN_LATER` where that is the first one.
    private static func settled(
        _ found: (changes: [SharedRecordChange], isComplete: Bool), in zone: StoredZone,
        _ limits: Limits, _ reader: some SharedRecordReading
    ) throws -> Changes {
        guard zone.isUnsettled else {
            return Changes(found.changes, isComplete: found.isComplete)
        }
        var paths = HierarchyPaths()
        let count = try paths.read(above: found.changes, in: zone, limits, reader)
        var page = found.changes.prefix(count)
        if count < found.changes.count {
            // The next page begins behind all changes of a position.
            let position = found.changes[count].position
            while page.last?.position == position { page.removeLast() }
            guard !page.isEmpty else { throw WireError.following(in: zone, limits) }
        }
        let changes = page.map { change in
            let isThere =
                change.record.isDeleted
                || paths.share(of: change.record.name) == change.share
            return isThere ? change : change.leaving
        }
        return Changes(
            changes, isComplete: found.isComplete && page.count == found.changes.count,
            paths: paths)
    }

    private static func startingToken(
        _ text: String?, in zone: StoredZone, of access: ZoneAccess, isReverse: Bool,
        for call: Call, _ reader: some SharedRecordReading
    ) throws -> SyncToken {
        let database = access.database.key
        let family = isReverse ? SyncToken.Family.zoneReverse : .zone
        guard let token = try call.syncToken(text, family: family, of: database) else {
            let end = try access.end(of: zone, in: reader)
            return call.makeToken(
                family, of: zone.key, in: database,
                at: isReverse ? end.advanced(by: 1) : .start, baseline: end
            )
        }
        guard token.zone == zone.key else {
            throw WireError.changeTokenExpired(
                "the syncToken is of another zone, or of an earlier zone '\(zone.name)'"
            )
        }
        // A first fetch that is still under way needs no tombstone it could miss.
        // Hierarchies have floors of their own.
        guard
            isReverse || access.hierarchies != nil || token.position >= zone.floor
                || token.baseline >= zone.floor
        else {
            throw WireError.changeTokenExpired("the syncToken is older than the kept tombstones")
        }
        let sharedSince = access.sharedRights?.tokenFloor ?? .start
        guard token.position >= sharedSince || token.baseline >= sharedSince else {
            throw WireError.changeTokenExpired(
                "what of the zone is shared with the caller is not what it was")
        }
        // A reverse fetch begins behind the newest change.
        let end = isReverse ? zone.position.advanced(by: 1) : zone.position
        guard token.position <= end, token.baseline <= zone.position else {
            throw WireError.changeTokenExpired("the syncToken is ahead of the zone")
        }
        return token
    }

    private static func results(
        for page: Changes, in access: ZoneAccess, since baseline: Position,
        options: Options, for call: Call,
        _ reader: some RecordReading & ShareReading & SharedRecordReading
    ) throws -> [RecordResult] {
        let selection = FieldSelection(
            desiredKeys: options.desiredKeys, numbersAsStrings: options.numbersAsStrings ?? false,
            for: call
        )
        let types = options.desiredRecordTypes.map(Set.init)
        let shares = try ShareAnswers(
            of: page.records.lazy.map(\.name), for: call, in: access, reader)
        // What moved from one hierarchy of the caller's to another is there.
        var moved: Set<String> = []
        if let hierarchies = access.hierarchies {
            let gone = Set(page.records.lazy.filter(\.isDeleted).map(\.name))
            if var paths = page.paths {
                moved = gone.filter { paths.share(of: $0).map(hierarchies.contains) ?? false }
            } else if !gone.isEmpty {
                moved = try access.visible(gone, for: call, in: reader)
            }
        }
        return try page.records.enumerated().compactMap { index, record in
            if let types, !types.contains(record.type) { return nil }
            guard record.isDeleted else {
                return try record.result(
                    to: call, in: access, selecting: selection, shares, reader)
            }
            // TOK-6: what was gone before the first fetch began is not news.
            let goneSince = page.goneSince?[index] ?? record.position
            guard goneSince > baseline, !moved.contains(record.name) else { return nil }
            return .deleted(
                WireTombstone(
                    recordName: record.name, zoneID: access.zoneID,
                    recordType: call.usesExtensions ? record.type : nil
                )
            )
        }
    }
}

extension ZoneAccess {
    /// Returns where the zone's history ends for the caller: where it does, or with the newest
    /// change of what is shared with them.
    fileprivate func end(
        of zone: StoredZone, in reader: some SharedRecordReading
    ) throws -> Position {
        guard let hierarchies else { return zone.position }
        let newest = try reader.newestSharedPosition(in: zone.key, of: hierarchies)
        return end(of: zone, afterSeen: newest ?? .start)
    }
}

extension Limits {
    /// The records all zones of one request may bring together.
    fileprivate func recordBudget(for call: Call) -> Int {
        call.usesExtensions ? recordsPerExtendedPage : recordsPerPage
    }

    /// The records one zone may bring to a caller that asked for `wanted`.
    fileprivate func recordPage(_ wanted: Int?, for call: Call) -> Int {
        page(wanted, atMost: recordBudget(for: call))
    }
}
