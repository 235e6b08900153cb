// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Looks through the records of a type for one page of a query: one by one, or by an index
/// (``QueryPlanner``); whatever candidates come from, the evaluator decides about each.
///
/// It reads one record at a time and holds no more than a page.
struct QuerySearch {
    let query: WireQuery
    /// The fields that a search of all text looks at; nil for all of them.
    let searched: Set<String>?
    /// In the order of their keys.
    let zones: [StoredZone]
    /// The shares whose hierarchies are searched, of one zone; nil for all records.
    let hierarchies: Set<String>?
    /// Their roots: the caller does not see what is above one, nor finds it out by a filter.
    var roots: Set<String> = []
    let limits: Limits
    /// The most records of the page.
    let limit: Int
    /// Where it is noted how the page is found.
    let log: QueryLog
    let planner: QueryPlanner
    /// The latest change that is found (QUERY-18); nil for any.
    private let visibleUntil: Int64?

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - searched: The fields that a search of all text looks at; nil for all of them.
    ///   - creator: Whose records are found; nil for anybody's. What the query's own filters
    ///     can be found by is not used then: a page ends where it has looked, and at a record of
    ///     somebody else that place would tell its value, to who saves records around it and goes on.
    init(
        query: WireQuery, searched: Set<String>? = nil, onlyOf creator: String? = nil,
        zones: [StoredZone],
        hierarchies: Set<String>?, roots: Set<String> = [],
        limits: Limits, limit: Int, now: Instant, log: QueryLog = QueryLog()
    ) {
        var query = query
        let ofCreator = creator.map {
            WireFilter(.equals, .system(.createdUserRecordName), .string($0))
        }
        if let ofCreator { query.filters.append(ofCreator) }
        self.query = query
        self.searched = searched
        self.zones = zones
        self.hierarchies = hierarchies
        self.roots = roots
        self.limits = limits
        self.limit = limit
        self.log = log
        visibleUntil =
            limits.queryLag > .zero ? now.advanced(by: .zero - limits.queryLag).rawValue : nil
        planner = QueryPlanner(query, by: ofCreator.map { [$0] } ?? query.filters)
    }

    /// What a search reads of the store.
    typealias Reading = RecordReading & SharedRecordReading & FieldIndexReading

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
        after start: QueryMarker.Position?, in reader: some Reading
    ) throws -> Page {
        if case .entry = start, hierarchies != nil {
            // No index has what one participant may see, and none of their markers names one.
            throw WireError.foreignMarker
        }
        do {
            let page =
                switch start {
                case .change, .entry: try plainPage(after: start, in: reader)
                case .rank(let rank): try sortedPage(after: rank, in: reader)
                case nil:
                    query.sorts.isEmpty
                        ? try plainPage(after: nil, in: reader)
                        : try sortedPage(after: nil, in: reader)
                }
            try noteWishes(in: reader)
            return page
        } catch let error as WireError {
            // What was too much without an index is what an index is wished for.
            try noteWishes(in: reader)
            throw error
        }
    }

    private func noteWishes(in reader: some Reading) throws {
        guard hierarchies == nil else { return }
        for part in log.report.zones where part.records >= QueryPlanner.wishedFrom {
            guard let zone = zones.first(where: { $0.name == part.name }),
                let wish = try planner.wish(for: zone, after: part, in: reader)
            else { continue }
            log.noteWish(wish)
        }
    }

    // MARK: Without order

    private func plainPage(
        after start: QueryMarker.Position?, in reader: some Reading
    ) throws -> Page {
        var page = Page()
        var bytes = 0
        var bound = limits.queryScan
        // The last place that the page has settled.
        var settled = start
        let filter = CandidateFilter(query, searched, roots: roots, until: visibleUntil)
        let enough = {
            page.next = settled
            return false
        }
        func take(
            _ record: StoredRecord, at place: QueryMarker.Position, isCandidate: Bool
        ) throws -> Bool {
            log.noteRecord()
            guard bound.admits(record) || settled == start else { return enough() }
            let passes =
                try isCandidate
                && filter.passes(record) { work in
                    bound.bytes -= work
                    try reader.noteWork(work)
                }
            if passes {
                guard page.records.count < limit, bytes < limits.pageBytes else { return enough() }
                bytes += record.fields.json.count
                page.records.append(Found(record: record, zone: place.zone))
                log.noteFound()
            }
            settled = place
            return true
        }
        func pass(_ look: OtherLook) -> Bool {
            guard bound.admits(look) || settled == start else { return enough() }
            settled = look.cursor.map(QueryMarker.Position.change) ?? settled
            return true
        }
        for zone in zones {
            if let start, zone.key < start.zone { continue }
            let start = start.flatMap { $0.zone == zone.key ? $0 : nil }
            guard try walk(zone, after: start, in: reader, seen: take, other: pass) else { break }
        }
        return page
    }

    /// Called with a record, its place, and whether it is one to decide about; others were read
    /// all the same. Returns whether more are wanted.
    private typealias Seeing = (StoredRecord, QueryMarker.Position, Bool) throws -> Bool

    /// Goes through the candidates of a zone after a place; returns whether `seen` and `other`
    /// wanted all of them.
    private func walk(
        _ zone: StoredZone, after start: QueryMarker.Position?, in reader: some Reading,
        seen: Seeing,
        other: (OtherLook) throws -> Bool
    ) throws -> Bool {
        var (after, rest): (Position?, (source: IndexSource, place: IndexPlace)?) = (nil, nil)
        switch start {
        case .entry(let place):
            guard planner.sources.indices.contains(place.source) else { return true }
            let source = planner.sources[place.source]
            let entry = FieldIndexEntry(key: place.key, position: place.position)
            if place.scanned == nil, let index = try index(source.form, of: zone, in: reader) {
                log.begin(zone, .index(name: source.form.text, reason: "the page before used it"))
                return try walk(source, place.source, index, in: zone, beyond: entry, reader, seen)
            }
            (after, rest) = (place.scanned ?? .start, (source, place))
            log.begin(zone, .scan(reason: "the index that the page before used is gone"))
        case .change(let cursor):
            after = cursor.position
            log.begin(zone, .scan(reason: "the page before did"))
        case .rank, nil:
            let plan =
                hierarchies == nil
                ? try planner.plan(for: zone, in: reader)
                : .scan(reason: "what is shared with a participant is always looked through")
            if case .source(let source, let number, let index, let reason) = plan {
                log.begin(zone, .index(name: source.form.text, reason: reason))
                return try walk(source, number, index, in: zone, beyond: nil, reader, seen)
            }
            if case .scan(let reason) = plan { log.begin(zone, .scan(reason: reason)) }
        }
        var goesOn = true
        let cursor = after.map { RecordCursor(zone: zone.key, position: $0) }
        try scan(zone, after: cursor, in: reader) { record, cursor in
            guard let rest else {
                goesOn = try seen(record, .change(cursor), true)
                return goesOn
            }
            // The pages before had what stands before their last entry.
            let keys = rest.source.form.keys(of: record)
            let isBehind = rest.source.firstKey(among: keys).map {
                rest.place.entry < FieldIndexEntry(key: $0, position: record.position)
            }
            var last = rest.place
            last.scanned = cursor.position
            goesOn = try seen(record, .entry(last), isBehind ?? false)
            return goesOn
        } other: { look in
            goesOn = try other(look)
            return goesOn
        }
        return goesOn
    }

    /// Goes through the records of a part of an index, each once.
    private func walk(
        _ source: IndexSource, _ number: Int, _ index: StoredFieldIndex, in zone: StoredZone,
        beyond start: FieldIndexEntry?, _ reader: some Reading,
        _ seen: Seeing
    ) throws -> Bool {
        try entries(of: index, in: source.ranges, beyond: start, reader) { record, entry in
            var isFirst = true
            if !source.form.hasOneKey, !record.isDamaged {
                // A record with several keys in these ranges stands where the first of them does.
                try reader.noteWork(record.fields.json.count * ReadWork.folding)
                isFirst = source.firstKey(among: source.form.keys(of: record)) == entry.key
            }
            let place = IndexPlace(
                zone: zone.key, source: number, key: entry.key, position: entry.position)
            return try seen(record, .entry(place), isFirst)
        }
    }

    /// Calls `body` with the records of entries in these ranges, in order, until it returns
    /// false; returns whether it wanted all of them.
    ///
    /// - Parameter seen: Records that are in it are left out, and others noted in it: of a record with
    ///   several entries only the first one counts. Without it, each of them.
    private func entries(
        of index: StoredFieldIndex, in ranges: [FieldIndexRange], beyond start: FieldIndexEntry?,
        reverse: Bool = false, seen: SeenRecords? = nil, _ reader: some Reading,
        _ body: (StoredRecord, FieldIndexEntry) throws -> Bool
    ) throws -> Bool {
        log.noteUse(index)
        for range in reverse ? ranges.reversed() : ranges {
            var last = start
            var count = 0
            repeat {
                var entries = try reader.fieldIndexEntries(
                    of: index.id, in: range, beyond: last, reverse: reverse,
                    limit: Self.entriesTogether)
                count = entries.count
                last = entries.last ?? last
                log.noteEntries(count)
                try reader.noteWork(count * ReadWork.row)
                if let seen { entries.removeAll { !seen.positions.insert($0.position).inserted } }
                var goesOn = true
                try reader.records(at: entries.map(\.position), in: index.zone) { number, record in
                    guard record.type == query.recordType else { return true }
                    goesOn = try body(record, entries[number])
                    return goesOn
                }
                guard goesOn else { return false }
            } while count == Self.entriesTogether
        }
        return true
    }

    /// How many entries of an index are read before their records are.
    private static let entriesTogether = 200

    private func index(
        _ form: IndexedForm, of zone: StoredZone, in reader: some Reading
    ) throws -> StoredFieldIndex? {
        guard zone.isIndexed else { return nil }
        return try reader.fieldIndexes(in: zone.key, of: query.recordType)
            .first { $0.name == form.name && $0.state == .ready }
    }

    /// Calls `seen` with the records of the type that the caller may see, and `other` with what else
    /// it costs to find them, until one of them has enough.
    private func scan(
        _ zone: StoredZone, after start: RecordCursor?, in reader: some Reading,
        seen: (StoredRecord, RecordCursor) throws -> Bool, other: (OtherLook) throws -> Bool
    ) throws {
        guard let hierarchies else {
            return try reader.scanRecords(
                of: query.recordType, in: [zone.key], after: start
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
        in reader: some Reading,
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
        _ reader: some Reading, _ other: (OtherLook) throws -> Bool
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
        after start: QueryRank?, in reader: some Reading
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
        after start: QueryRank?, in reader: some Reading
    ) throws -> [QueryRank] {
        var ranking = Ranking(
            first: FirstRanks(QueryOrder(sorts: query.sorts), capacity: limit + 1),
            filter: CandidateFilter(query, searched, roots: roots, until: visibleUntil),
            start: start,
            bound: limits.querySort)
        for zone in zones {
            let plan =
                hierarchies == nil
                ? try planner.plan(for: zone, in: reader)
                : .scan(reason: "what is shared with a participant is always looked through")
            switch plan {
            case .scan(let reason):
                log.begin(zone, .scan(reason: reason))
                try rankAll(of: zone, in: reader, &ranking)
            case .source(let source, _, let index, let reason):
                log.begin(zone, .index(name: source.form.text, reason: reason))
                _ = try entries(
                    of: index, in: source.ranges, beyond: nil, seen: SeenRecords(), reader
                ) { record, _ in
                    try take(record, in: zone.key, reader, &ranking)
                    return true
                }
            case .order(let index, let ranges, let reason):
                log.begin(zone, .index(name: planner.order?.text ?? "", reason: reason))
                try rankInOrder(of: index, ranges, in: zone, reader, &ranking)
            case .nearest(let index, let center):
                log.begin(
                    zone, .index(name: planner.order?.text ?? "", reason: "nearest come first"))
                try rankNearest(to: center, by: index, in: zone, reader, &ranking)
            }
        }
        return ranking.first.ranks
    }

    /// What is found of an order so far.
    private struct Ranking {
        var first: FirstRanks
        let filter: CandidateFilter
        let start: QueryRank?
        var bound: ScanBound

        var isFull: Bool { first.ranks.count >= first.capacity }
    }

    /// Looks at a record for the order; fails where it is one too many.
    private func take(
        _ record: StoredRecord, in zone: ZoneKey, _ reader: some Reading,
        _ ranking: inout Ranking
    ) throws {
        log.noteRecord()
        guard ranking.bound.admits(record) else { throw limits.querySort.passed(by: query) }
        let view = ranking.filter.view(of: record)
        guard try ranking.filter.passes(record, view, counting: reader.noteWork) else { return }
        log.noteFound()
        try reader.noteWork(ranking.first.order.work(on: view))
        let rank = QueryRank(
            keys: ranking.first.order.keys(of: view), zone: zone, position: record.position)
        if ranking.start.map({ ranking.first.order.precedes($0, rank) }) ?? true {
            ranking.first.insert(rank)
        }
    }

    private func rankAll(
        of zone: StoredZone, in reader: some Reading, _ ranking: inout Ranking
    ) throws {
        try scan(zone, after: nil, in: reader) { record, _ in
            try take(record, in: zone.key, reader, &ranking)
            return true
        } other: { look in
            guard ranking.bound.admitsToOrder(look) else {
                throw limits.querySort.passed(by: query)
            }
            return true
        }
    }

    /// Goes through an index in the order of the first sort key, until all that follows stands
    /// behind what was found.
    private func rankInOrder(
        of index: StoredFieldIndex, _ ranges: [FieldIndexRange], in zone: StoredZone,
        _ reader: some Reading, _ ranking: inout Ranking
    ) throws {
        _ = try entries(of: index, in: [.always], beyond: nil, reader) { record, _ in
            try take(record, in: zone.key, reader, &ranking)
            return true
        }
        guard let ascends = query.sorts.first?.ascending else { return }
        _ = try entries(
            of: index, in: ranges, beyond: ranking.start.map { entry(before: $0, in: zone) },
            reverse: !ascends, reader
        ) { record, entry in
            if ranking.isFull, let last = ranking.first.ranks.last,
                isBehind(entry, last, in: zone)
            {
                return false
            }
            try take(record, in: zone.key, reader, &ranking)
            return true
        }
    }

    /// The entry after which all stand that a rank may precede.
    private func entry(before rank: QueryRank, in zone: StoredZone) -> FieldIndexEntry {
        let key = rank.keys[0].map { FieldIndexKey($0) } ?? .absent
        let ascends = query.sorts[0].ascending
        // Records with equal keys stand by their position, unless another sort key decides.
        if query.sorts.count == 1, key.isExact, rank.zone == zone.key {
            return FieldIndexEntry(key: key, position: rank.position)
        }
        return FieldIndexEntry(
            key: key, position: ascends ? .start : Position(rawValue: .max))
    }

    /// Whether an entry, and all after it in the order of the index, stand behind a rank.
    private func isBehind(
        _ entry: FieldIndexEntry, _ last: QueryRank, in zone: StoredZone
    ) -> Bool {
        let key = last.keys[0].map { FieldIndexKey($0) } ?? .absent
        let ascends = query.sorts[0].ascending
        guard entry.key == key else { return (entry.key > key) == ascends }
        guard query.sorts.count == 1, key.isExact else { return false }
        let (one, other) = (
            (last.zone, last.position), (zone.key, entry.position)
        )
        return ascends ? one < other : other < one
    }

    /// Goes through circles around a location, each twice as wide as the one before, until all
    /// that is farther stands behind what was found.
    private func rankNearest(
        to center: WireLocation, by index: StoredFieldIndex, in zone: StoredZone,
        _ reader: some Reading, _ ranking: inout Ranking
    ) throws {
        func distance(of key: ComparisonKey?) -> Double? {
            guard case .number(let number) = key else { return nil }
            return switch number {
            case .whole(let whole): Double(whole)
            case .fraction(let fraction): fraction
            }
        }
        let isFartherThanAny = ranking.start.map { $0.keys[0] == nil } ?? false
        var inner = ranking.start.flatMap { distance(of: $0.keys[0]) } ?? 0
        var outer = max(Self.firstRadius, inner * 1.25)
        // A wider circle has all that a smaller one had.
        let seen = SeenRecords()
        while !isFartherThanAny, inner <= WireLocation.farthest {
            let ranges = GlobeCells.ranges(around: center, radius: outer).map(\.keys)
            _ = try entries(of: index, in: ranges, beyond: nil, seen: seen, reader) { record, _ in
                try take(record, in: zone.key, reader, &ranking)
                return true
            }
            if ranking.isFull, let last = distance(of: ranking.first.ranks.last?.keys[0]),
                last < outer
            {
                return
            }
            (inner, outer) = (outer, outer * 2)
        }
        _ = try entries(of: index, in: [.always, .absent], beyond: nil, reader) { record, _ in
            try take(record, in: zone.key, reader, &ranking)
            return true
        }
    }

    /// The radius of the first circle in metres.
    private static let firstRadius = 100.0

    /// The records of a few ranks, in their order.
    private func records(
        of ranks: some Collection<QueryRank>, in reader: some Reading
    ) throws -> [Found] {
        var records: [RecordCursor: StoredRecord] = [:]
        for (zone, ranks) in Dictionary(grouping: ranks, by: \.zone) {
            try reader.records(at: ranks.map(\.position), in: zone) { _, record in
                records[RecordCursor(zone: zone, position: record.position)] = record
                return true
            }
        }
        return ranks.compactMap { rank in
            records[RecordCursor(zone: rank.zone, position: rank.position)].map {
                Found(record: $0, zone: rank.zone)
            }
        }
    }
}

/// The records that a search has come by, each of which it looks at once.
private final class SeenRecords {
    var positions: Set<Position> = []
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
    /// The fields that a search of all text looks at; nil for all of them.
    private let searched: Set<String>?
    /// The fields that filters and sort keys name; nil for all of them.
    private let fields: Set<String>?
    /// The records of which it is hidden what is above them.
    private let roots: Set<String>
    /// Changes after this moment are not found yet (QUERY-18); nil for none.
    private let end: Int64?

    init(
        _ query: WireQuery, _ searched: Set<String>?, roots: Set<String>, until end: Int64?
    ) {
        self.searched = searched
        self.roots = roots
        self.end = end
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
        var view = RecordView(record, fields: fields, seeingParent: !roots.contains(record.name))
        view.searched = searched
        return view
    }

    func passes(
        _ record: StoredRecord, counting count: (Int) throws -> Void
    ) rethrows -> Bool {
        guard isVisible(record) else { return false }
        // What is damaged might pass: the answer reports it in its position.
        return try filters.isEmpty || record.isDamaged
            || passes(view(of: record), counting: count)
    }

    func passes(
        _ record: StoredRecord, _ view: RecordView, counting count: (Int) throws -> Void
    ) rethrows -> Bool {
        guard isVisible(record) else { return false }
        return try record.isDamaged || passes(view, counting: count)
    }

    private func isVisible(_ record: StoredRecord) -> Bool {
        end.map { record.modified.timestamp <= $0 } ?? true
    }

    private func passes(_ view: RecordView, counting count: (Int) throws -> Void) rethrows -> Bool {
        try view.verdict(on: filters, counting: count) == .matches
    }
}

extension RecordView {
    /// A stored record, with these fields only; nil takes all.
    ///
    /// Fields that cannot be read count as absent.
    init(_ record: StoredRecord, fields: Set<String>?, seeingParent seesParent: Bool = true) {
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
