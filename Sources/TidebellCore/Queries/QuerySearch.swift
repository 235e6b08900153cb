// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Looks through the records of a type for one page of a query.
///
/// It reads one record at a time and holds no more than a page. Indexes of field
/// values would come in here, as other sources of candidates.
struct QuerySearch {
    let query: WireQuery
    /// In the order of their keys.
    let zones: [StoredZone]
    /// The shares whose hierarchies are searched, of one zone; nil for all records.
    let hierarchies: Set<String>?
    let limits: Limits
    /// The most records of the page.
    let limit: Int

    /// A record and its zone.
    struct Found {
        var record: StoredRecord
        var zone: ZoneKey
    }

    /// A page, and what stands before the next one; nil after the last.
    struct Page {
        var records: [Found] = []
        var next: QueryMarker.Position?
    }

    /// Returns the page after a position.
    func page(
        after start: QueryMarker.Position?, in reader: some RecordReading & SharedRecordReading
    ) throws -> Page {
        switch start {
        case .change(let cursor): try scannedPage(after: cursor, in: reader)
        case .rank(let rank): try sortedPage(after: rank, in: reader)
        case nil:
            query.sorts.isEmpty
                ? try scannedPage(after: nil, in: reader)
                : try sortedPage(after: nil, in: reader)
        }
    }

    // MARK: Without order

    private func scannedPage(
        after start: RecordCursor?, in reader: some RecordReading & SharedRecordReading
    ) throws -> Page {
        var page = Page()
        var bytes = 0
        var bound = limits.queryScan
        // The last record that the page has settled, in or out.
        var settled = start
        let filter = CandidateFilter(query)
        try scan(after: start, in: reader) { record, zone in
            guard bound.admits(record) || settled == start else {
                page.next = settled.map(QueryMarker.Position.change)
                return false
            }
            let passes = try filter.passes(record) { work in
                bound.bytes -= work
                try reader.noteWork(work)
            }
            if passes {
                guard page.records.count < limit, bytes < limits.pageBytes else {
                    page.next = settled.map(QueryMarker.Position.change)
                    return false
                }
                bytes += record.fields.json.count
                page.records.append(Found(record: record, zone: zone))
            }
            settled = RecordCursor(zone: zone, position: record.position)
            return true
        }
        return page
    }

    /// Calls `body` with the records of the type that the caller may see.
    private func scan(
        after start: RecordCursor?, in reader: some RecordReading & SharedRecordReading,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        guard let hierarchies, let zone = zones.first else {
            return try reader.scanRecords(
                of: query.recordType, in: zones.map(\.key), after: start, body)
        }
        let start = start?.position ?? .start
        guard !zone.isUnsettled else {
            return try scan(zone, of: hierarchies, after: start, in: reader, body)
        }
        try reader.scanRecords(
            of: query.recordType, in: zone.key, of: hierarchies, after: start
        ) { try body($0, zone.key) }
    }

    /// Calls `body` likewise in a zone that is not settled: what is above some records is looked at
    /// before these are.
    private func scan(
        _ zone: StoredZone, of hierarchies: Set<String>, after start: Position,
        in reader: some SharedRecordReading, _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        var start = start
        var hasMore = true
        while hasMore {
            hasMore = false
            var (found, bytes) = ([StoredRecord](), 0)
            try reader.scanRecords(
                of: query.recordType, in: zone.key, of: hierarchies, after: start
            ) { record in
                found.append(record)
                bytes += record.fields.json.count
                hasMore = found.count >= Self.settledTogether || bytes >= limits.pageBytes
                return !hasMore
            }
            var paths = try HierarchyPaths(
                above: Set(found.map(\.name)), in: zone, limits, reader)
            for record in found {
                start = record.position
                guard paths.share(of: record.name).map(hierarchies.contains) ?? false else {
                    continue
                }
                guard try body(record, zone.key) else { return }
            }
        }
    }

    /// Of how many records it is found out together what is above them.
    private static let settledTogether = 200

    // MARK: In order

    private func sortedPage(
        after start: QueryRank?, in reader: some RecordReading & SharedRecordReading
    ) throws -> Page {
        let ranks = try firstRanks(after: start, in: reader)
        var page = Page()
        var bytes = 0
        var rest = ranks.prefix(limit)
        while !rest.isEmpty, bytes < limits.pageBytes {
            for found in try records(of: rest.prefix(Self.fetchedTogether), in: reader) {
                guard bytes < limits.pageBytes else { break }
                bytes += found.record.fields.json.count
                page.records.append(found)
            }
            rest = rest.dropFirst(Self.fetchedTogether)
        }
        if page.records.count < ranks.count {
            page.next = .rank(ranks[page.records.count - 1])
        }
        return page
    }

    /// How many records are fetched before the bytes of the page are counted.
    private static let fetchedTogether = 20

    /// The ranks of the page, and of one record more if there is one.
    private func firstRanks(
        after start: QueryRank?, in reader: some RecordReading & SharedRecordReading
    ) throws -> [QueryRank] {
        let order = QueryOrder(sorts: query.sorts)
        var first = FirstRanks(order, capacity: limit + 1)
        var bound = limits.querySort
        let filter = CandidateFilter(query)
        try scan(after: nil, in: reader) { record, zone in
            guard bound.admits(record) else { throw limits.querySort.passed(by: query) }
            let view = filter.view(of: record)
            let passes = try record.isDamaged || filter.passes(view, counting: reader.noteWork)
            guard passes else { return true }
            try reader.noteWork(order.work(on: view))
            let rank = QueryRank(keys: order.keys(of: view), zone: zone, name: record.name)
            if start.map({ order.precedes($0, rank) }) ?? true { first.insert(rank) }
            return true
        }
        return first.ranks
    }

    /// The records of a few ranks, in their order.
    private func records(
        of ranks: some Collection<QueryRank>, in reader: some RecordReading
    ) throws -> [Found] {
        var records: [ZoneKey: [String: StoredRecord]] = [:]
        for (zone, ranks) in Dictionary(grouping: ranks, by: \.zone) {
            records[zone] = try reader.records(Set(ranks.map(\.name)), in: zone)
        }
        return ranks.compactMap { rank in
            records[rank.zone]?[rank.name].map { Found(record: $0, zone: rank.zone) }
        }
    }
}

/// The filters of a query, and the fields it has to see of each record.
private struct CandidateFilter {
    private let filters: [PreparedFilter]
    /// The fields that filters and sort keys name; nil for all of them.
    private let fields: Set<String>?

    init(_ query: WireQuery) {
        filters = query.filters.map(PreparedFilter.init)
        let subjects = query.filters.map(\.subject) + query.sorts.map(\.subject)
        fields =
            subjects.contains(.allText)
            ? nil
            : Set(
                subjects.compactMap { subject in
                    if case .field(let name) = subject { name } else { nil }
                }
            )
    }

    func view(of record: StoredRecord) -> RecordView {
        RecordView(record, fields: fields)
    }

    func passes(
        _ record: StoredRecord, counting count: (Int) throws -> Void
    ) rethrows -> Bool {
        // What is damaged might pass: the answer reports it in its position.
        try filters.isEmpty || record.isDamaged || passes(view(of: record), counting: count)
    }

    func passes(_ view: RecordView, counting count: (Int) throws -> Void) rethrows -> Bool {
        try view.verdict(on: filters, counting: count) == .matches
    }
}

extension RecordView {
    /// A stored record, with these fields only; nil takes all.
    ///
    /// Fields that cannot be read count as absent.
    fileprivate init(_ record: StoredRecord, fields: Set<String>?) {
        let decoded = try? fields.map(record.fields.decoded(only:)) ?? record.fields.decoded()
        self.init(
            name: record.name, type: record.type, created: record.created,
            modified: record.modified, parent: record.parent, fields: decoded ?? [:]
        )
    }
}

extension ScanBound {
    /// What a query gets whose order would need more than the bound.
    fileprivate func passed(by query: WireQuery) -> WireError {
        .badRequest(
            "sorting takes more than the \(records) records or \(bytes) bytes of type "
                + "'\(WireError.shortened(query.recordType))' that one query looks at (querySort); "
                + "query one zone, or leave the order to the client",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.querySort)
    }
}
