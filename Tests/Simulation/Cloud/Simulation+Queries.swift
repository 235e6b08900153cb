// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What a walk asks for.
struct GroupQuery: Sendable, Hashable {
    var type: String
    var filter: Filter?

    fileprivate func passes(_ record: Record, named name: String) -> Bool {
        Names.type(of: name) == type && filter?.passes(record.group) ?? true
    }
}

/// What becomes of an index.
enum Indexing: Sendable, Hashable {
    /// It is made, and takes records up, so many times two.
    case build(user: Int, Site, String, String, steps: Int)
    /// It loses so many entries, and goes.
    case drop(user: Int, Site, String, entries: Int)
    /// All are finished, those that are dropped too.
    case maintain
}

extension Simulation {
    /// Asks a query page by page, while others write and indexes come and go: what stays as it is
    /// comes once, and nothing comes that was never there.
    func query(
        _ writer: Writer, _ site: Site, _ query: GroupQuery, isSorted: Bool, page: Int,
        between: [Action]
    ) async throws {
        let home = Home(site, of: writer.user)
        var states = [model.records[home] ?? [:]]
        var found: [FoundRecord] = []
        var marker: String?
        var left = between[...]
        repeat {
            let request = QueryRecords.Request(
                query: query.wire(isSorted: isSorted), zoneID: ZoneID(zoneName: site.zone),
                resultsLimit: page, continuationMarker: marker)
            let body = try await post("\(site.scope)/records/query", as: writer, request.write)
            if let error = try? JSONReader.read(body, WireError.init(from:)) {
                // The zone may have gone, or nobody has saved such a record yet.
                let isThere = states.last?.contains { query.passes($1, named: $0) } ?? false
                return try demand(!isThere, "the query is refused: \(error.reason)")
            }
            let answer = try JSONReader.read(body) { try QueryRecords.Response(from: &$0) }
            for case .record(let record) in answer.records {
                found.append(try FoundRecord(record))
            }
            marker = answer.continuationMarker
            if let action = left.popFirst(), marker != nil {
                try await perform(between: action)
                states.append(model.records[home] ?? [:])
            }
        } while marker != nil
        try check(found, of: query, isSorted: isSorted, through: states, "\(site) \(query)")
    }

    private func perform(between action: Action) async throws {
        if case .indexing(let indexing) = action {
            try await perform(indexing)
        } else {
            try await change(action)
        }
    }

    private func check(
        _ found: [FoundRecord], of query: GroupQuery, isSorted: Bool,
        through states: [[String: Record]], _ what: String
    ) throws {
        func matches(_ state: [String: Record]) -> Set<FoundRecord> {
            Set(
                state.filter { query.passes($1, named: $0) }.map {
                    FoundRecord(name: $0, version: $1.version, group: $1.group)
                })
        }
        let all = states.map(matches)
        let possible = all.reduce(into: Set()) { $0.formUnion($1) }
        let certain = all.dropFirst().reduce(all.first ?? []) { $0.intersection($1) }
        let got = Set(found)
        try demand(
            got.count == found.count && got.isSubset(of: possible) && certain.isSubset(of: got),
            "\(what) found \(found), certain \(certain), possible \(possible)")
        guard isSorted, states.count == 1 else { return }
        try demand(
            found.map(\.group) == found.map(\.group).sorted(), "\(what) found \(found), unsorted")
    }

    // MARK: Indexes

    /// Does to indexes what the server does for queries that wished for them, and the operator.
    func perform(_ indexing: Indexing) async throws {
        switch indexing {
        case .build(let user, let site, let type, let name, let steps):
            guard let index = try await begin(name, of: type, Home(site, of: user)) else { return }
            for _ in 0..<steps {
                guard try await !step(index) else { return }
            }
        case .drop(let user, let site, let name, let entries):
            for index in try await indexes(in: Home(site, of: user)) where index.name == name {
                _ = try await base.write(.everything) {
                    try $0.dropFieldIndex(index.id, limit: entries)
                }
            }
        case .maintain:
            for user in [nil] + (0..<walk.users).map(Optional.some) {
                for zone in Names.customZones + [ZoneID.defaultName] {
                    for index in try await indexes(in: Home(owner: user, zone: zone)) {
                        while try await !step(index.id) {}
                    }
                }
            }
        }
    }

    private func step(_ index: FieldIndexID) async throws -> Bool {
        try await base.write(.everything) { try BuildFieldIndex.step(index, limit: 2, in: $0) }
    }

    private func begin(
        _ name: String, of type: String, _ home: Home
    ) async throws -> FieldIndexID? {
        let (key, now) = (key(of: home), now)
        try await base.write(.everything) { transaction in
            guard let database = try transaction.database(key),
                let zone = try transaction.zones([home.zone], in: database.id).first
            else { return }
            let wish = IndexInterest.Wish(
                database: database.id, zone: zone.key, recordType: type, name: name)
            try BuildFieldIndex.begin(wish, limits: Limits(), at: now, in: transaction)
        }
        return try await indexes(in: home).first {
            $0.name == name && $0.recordType == type
        }?.id
    }

    private func indexes(in home: Home) async throws -> [StoredFieldIndex] {
        let key = key(of: home)
        return try await base.read { reader in
            guard let database = try reader.database(key),
                let zone = try reader.zones([home.zone], in: database.id).first
            else { return [] }
            return try reader.fieldIndexes(in: zone.key, of: nil)
        }
    }

    private func key(of home: Home) -> DatabaseKey {
        DatabaseKey(
            container: Self.container, scope: home.owner == nil ? .public : .private,
            owner: home.owner.map { people[$0].id })
    }
}

/// A record that a query found.
private struct FoundRecord: Hashable, CustomStringConvertible {
    var name: String
    var version: Int
    var group: Int

    var description: String { "\(name) in version \(version) of group \(group)" }
}

extension FoundRecord {
    fileprivate init(_ record: WireRecord) throws {
        let fields = try record.fields.decoded()
        guard case .int64(let version)? = fields["version"]?.value,
            case .int64(let group)? = fields["group"]?.value
        else { throw Violation("record '\(record.recordName)' lacks a field") }
        self.init(name: record.recordName, version: Int(version), group: Int(group))
    }
}

extension GroupQuery {
    fileprivate func wire(isSorted: Bool) -> WireQuery {
        WireQuery(
            recordType: type, filters: filter.map { [$0.wire] } ?? [],
            sorts: isSorted ? [WireSort(.field("group"))] : [])
    }
}

extension GroupQuery: CustomStringConvertible {
    var description: String {
        type + (filter.map { " where the group \($0)" } ?? "")
    }
}

extension Indexing: CustomStringConvertible {
    var description: String {
        switch self {
        case .build(let user, let site, let type, let name, let steps):
            "the index '\(name)' of \(type) in \(site) of user \(user) takes \(steps) steps"
        case .drop(let user, let site, let name, let entries):
            "the index '\(name)' in \(site) of user \(user) goes, \(entries) entries first"
        case .maintain: "all indexes are finished"
        }
    }
}
