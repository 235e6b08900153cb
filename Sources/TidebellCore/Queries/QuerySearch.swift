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
    /// Their roots: the caller does not see what is above one, nor finds it out by a filter.
    var roots: Set<String> = []
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
        let filter = CandidateFilter(query, roots: roots)
        let enough = {
            page.next = settled.map(QueryMarker.Position.change)
            return false
        }
        try scan(after: start, in: reader) { record, cursor in
            guard bound.admits(record) || settled == start else { return enough() }
            let passes = try filter.passes(record) { work in
                bound.bytes -= work
                try reader.noteWork(work)
            }
            if passes {
                guard page.records.count < limit, bytes < limits.pageBytes else { return enough() }
                bytes += record.fields.json.count
                page.records.append(Found(record: record, zone: cursor.zone))
            }
            settled = cursor
            return true
        } other: { look in
            guard bound.admits(look) || settled == start else { return enough() }
            settled = look.cursor ?? settled
            return true
        }
        return page
    }

    /// Calls `seen` with the records of the type that the caller may see, and `other` with what else
    /// it costs to find them, until one of them has enough.
    private func scan(
        after start: RecordCursor?, in reader: some RecordReading & SharedRecordReading,
        seen: (StoredRecord, RecordCursor) throws -> Bool, other: (OtherLook) throws -> Bool
    ) throws {
        guard let hierarchies, let zone = zones.first else {
            return try reader.scanRecords(
                of: query.recordType, in: zones.map(\.key), after: start
            ) { record, zone in
                try seen(record, RecordCursor(zone: zone, position: record.position))
            }
        }
        let start = start?.position ?? .start
        guard !zone.isUnsettled else {
            return try scan(
                zone, of: hierarchies, after: start, in: reader, seen: seen, other: other)
        }
        try reader.scanRecords(
            of: query.recordType, in: zone.key, of: hierarchies, after: start
        ) { position, record in
            let cursor = RecordCursor(zone: zone.key, position: position)
            if let record { return try seen(record, cursor) }
            try reader.noteWork(ReadWork.row)
            return try other(.history(at: cursor))
        }
    }

    /// Calls `seen` and `other` likewise in a zone that is not settled: what is above some records is
    /// looked at before these are. Where that is too much for one of them, it is not seen before it
    /// has followed.
    private func scan(
        _ zone: StoredZone, of hierarchies: Set<String>, after start: Position,
        in reader: some RecordReading & SharedRecordReading,
        seen: (StoredRecord, RecordCursor) throws -> Bool, other: (OtherLook) throws -> Bool
    ) throws {
        var paths = HierarchyPaths()
        var start = start
        var hasMore = true
        while hasMore {
            hasMore = false
            var found: [(cursor: RecordCursor, record: StoredRecord?)] = []
            var bytes = 0
            try reader.scanRecords(
                of: query.recordType, in: zone.key, of: hierarchies, after: start
            ) { position, record in
                if record == nil { try reader.noteWork(ReadWork.row) }
                found.append((RecordCursor(zone: zone.key, position: position), record))
                bytes += record?.fields.json.count ?? 0
                hasMore = found.count >= Self.settledTogether || bytes >= limits.pageBytes
                return !hasMore
            }
            let names = Set(found.compactMap(\.record?.name))
            let isKnown = try read(&paths, above: names, in: zone, reader, other)
            guard let isKnown else { return }
            for (cursor, record) in found {
                start = cursor.position
                guard let record else {
                    guard try other(.history(at: cursor)) else { return }
                    continue
                }
                if !isKnown {
                    let isKnown = try read(&paths, above: [record.name], in: zone, reader, other)
                    guard let isKnown else { return }
                    if !isKnown { paths.giveUp(record.name) }
                }
                let isSeen = paths.share(of: record.name).map(hierarchies.contains) ?? false
                guard try isSeen ? seen(record, cursor) : other(.hidden(record, at: cursor)) else {
                    return
                }
            }
        }
    }

    /// Reads what is above records, and tells `other` what that costs; returns whether it is known
    /// now, nil where `other` has enough.
    private func read(
        _ paths: inout HierarchyPaths, above names: Set<String>, in zone: StoredZone,
        _ reader: some RecordReading & SharedRecordReading, _ other: (OtherLook) throws -> Bool
    ) throws -> Bool? {
        let rows = try paths.read(above: names, in: zone, limit: limits.recordsAbove, reader)
        let count = rows ?? limits.recordsAbove
        try reader.noteWork(count * ReadWork.row)
        return try other(.rows(count)) ? rows != nil : nil
    }

    /// Of how many rows of the history it is found out together what is above them.
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
        let filter = CandidateFilter(query, roots: roots)
        try scan(after: nil, in: reader) { record, cursor in
            guard bound.admits(record) else { throw limits.querySort.passed(by: query) }
            let view = filter.view(of: record)
            let passes = try record.isDamaged || filter.passes(view, counting: reader.noteWork)
            guard passes else { return true }
            try reader.noteWork(order.work(on: view))
            let rank = QueryRank(keys: order.keys(of: view), zone: cursor.zone, name: record.name)
            if start.map({ order.precedes($0, rank) }) ?? true { first.insert(rank) }
            return true
        } other: { look in
            guard bound.admitsToOrder(look) else { throw limits.querySort.passed(by: query) }
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

/// What a search looks at besides records that the caller may see.
private enum OtherLook {
    /// A record that was read, and that they may not see yet.
    case hidden(StoredRecord, at: RecordCursor)
    /// What else a history has, without fields.
    case history(at: RecordCursor)
    /// Rows of what is above records.
    case rows(Int)

    /// Up to where it has been looked.
    var cursor: RecordCursor? {
        switch self {
        case .hidden(_, let cursor), .history(let cursor): cursor
        case .rows: nil
        }
    }
}

extension ScanBound {
    /// Counts what is looked at for a page, each row as a record; false once the bound is passed.
    fileprivate mutating func admits(_ look: OtherLook) -> Bool {
        switch look {
        case .hidden(let record, _): return admits(record)
        case .history: records -= 1
        case .rows(let count): records -= count
        }
        return isKept
    }

    /// Counts it likewise, where it has to be looked at whole to be put in order: rows by their bytes
    /// alone, since it is records of the type that the bound is about.
    fileprivate mutating func admitsToOrder(_ look: OtherLook) -> Bool {
        switch look {
        case .hidden(let record, _): return admits(record)
        case .history: bytes -= ReadWork.row
        case .rows(let count): bytes -= count * ReadWork.row
        }
        return isKept
    }
}

/// The filters of a query, and the fields it has to see of each record.
private struct CandidateFilter {
    private let filters: [PreparedFilter]
    /// The fields that filters and sort keys name; nil for all of them.
    private let fields: Set<String>?
    /// The records of which it is hidden what is above them.
    private let roots: Set<String>

    init(_ query: WireQuery, roots: Set<String>) {
        self.roots = roots
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
        RecordView(record, fields: fields, seeingParent: !roots.contains(record.name))
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
    fileprivate init(_ record: StoredRecord, fields: Set<String>?, seeingParent seesParent: Bool) {
        let decoded = try? fields.map(record.fields.decoded(only:)) ?? record.fields.decoded()
        self.init(
            name: record.name, type: record.type, created: record.created,
            modified: record.modified, parent: seesParent ? record.parent : nil,
            fields: decoded ?? [:]
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
