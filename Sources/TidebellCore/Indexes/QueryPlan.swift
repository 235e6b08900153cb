// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a query could be found by, chosen zone by zone among the indexes that are ready there.
struct QueryPlanner {
    /// How the records of a zone are gone through.
    enum Plan {
        /// One by one, oldest change first; the reason is for people.
        case scan(reason: String)
        /// By what is in a part of an index.
        case source(IndexSource, number: Int, StoredFieldIndex, reason: String)
        /// In the order of the first sort key, within these ranges.
        case order(StoredFieldIndex, [FieldIndexRange], reason: String)
        /// Nearest first.
        case nearest(StoredFieldIndex, to: WireLocation)
    }

    let recordType: String
    let sorts: [WireSort]
    /// What the filters can be found by.
    let sources: [IndexSource]

    /// Up to how many entries of an index are counted, to find out which one has fewest.
    static let mostCounted = 10_000
    /// Up to how many are counted of the only one that there is: only people look at its number.
    static let mostCountedOfOne = 1000
    /// A search that looks at so many records is one that an index is wished for, unless it found
    /// a good part of them.
    static let wishedFrom = 1000
    /// Which part is a good one.
    static let goodPart = 10

    /// Ranges of a source whose entries are counted; more are taken to have as many each.
    private static let mostRangesCounted = 100

    /// Creates the planner of a query.
    ///
    /// - Parameter filters: Those of its filters that its records may be found by.
    init(_ query: WireQuery, by filters: [WireFilter]) {
        recordType = query.recordType
        sorts = query.sorts
        sources = IndexSource.all(of: filters)
    }

    /// What the first sort key is found by.
    var order: IndexedForm? {
        guard let sort = sorts.first else { return nil }
        guard sort.relativeLocation != nil else { return .value(sort.subject) }
        // What is farthest comes first: no index has it so.
        guard sort.ascending, case .field(let field) = sort.subject else { return nil }
        return .cells(field)
    }

    /// Chooses how to go through a zone.
    func plan(
        for zone: StoredZone, in reader: some FieldIndexReading & RecordReading
    ) throws -> Plan {
        guard zone.isIndexed else { return .scan(reason: reasonWithout) }
        let all = try reader.fieldIndexes(in: zone.key, of: recordType)
        let ready = all.filter { $0.state == .ready }
        let indexes = Dictionary(ready.map { ($0.name, $0) }) { first, _ in first }
        let best = try cheapest(among: indexes, in: reader)
        guard let order, let index = indexes[order.name] else {
            guard let best else { return .scan(reason: reason(all)) }
            return plan(best, "\(best.text) can pass the filters")
        }
        // Few candidates are put in order at once, unless they have it by themselves.
        if let best, best.count < Self.mostCounted, best.source.form != order || isByDistance {
            return plan(best, "\(best.text) can pass the filters, which are put in order")
        }
        if let center = sorts.first?.relativeLocation { return .nearest(index, to: center) }
        let ranges = sources.first { $0.form == order }?.ranges.filter { $0 != .always }
        return .order(
            index, ranges ?? [.values],
            reason: ranges == nil ? "it has the order" : "it has the order, and the filter's range")
    }

    private var isByDistance: Bool { sorts.first?.relativeLocation != nil }

    private struct Counted {
        var number: Int
        var source: IndexSource
        var index: StoredFieldIndex
        var count: Int
        /// Whether there may be more.
        var isCut: Bool
        var text: String {
            guard count != 1 else { return "1 entry" }
            return isCut ? "\(count) entries or more" : "\(count) entries"
        }
    }

    private func plan(_ best: Counted, _ reason: String) -> Plan {
        .source(best.source, number: best.number, best.index, reason: reason)
    }

    private func cheapest(
        among indexes: [String: StoredFieldIndex],
        in reader: some FieldIndexReading & RecordReading
    ) throws -> Counted? {
        var best: Counted?
        let usable = sources.enumerated().compactMap { number, source in
            indexes[source.form.name].map { (number: number, source: source, index: $0) }
        }
        let most =
            usable.count == 1 && order == nil ? Self.mostCountedOfOne : Self.mostCounted
        for (number, source, index) in usable {
            let limit = best?.count ?? most
            var count = 0
            let counted = source.ranges.prefix(Self.mostRangesCounted)
            for range in counted where count < limit {
                try reader.noteWork(ReadWork.row)
                count += try reader.fieldIndexEntryCount(
                    of: index.id, in: range, limit: limit - count)
            }
            count = min(limit, count * source.ranges.count / max(1, counted.count))
            if let best,
                count > best.count || count == best.count && source.kind >= best.source.kind
            {
                continue
            }
            best = Counted(
                number: number, source: source, index: index, count: count,
                isCut: count >= most)
        }
        return best
    }

    // MARK: Without an index

    private var reasonWithout: String {
        if forms.isEmpty { return "no filter and no sort key could use an index" }
        return "no index is there; one is made when a query looks at many records and finds few, "
            + "unless the zone has as many as it may"
    }

    private func reason(_ indexes: [StoredFieldIndex]) -> String {
        let names = Set(forms.map(\.name))
        guard let index = indexes.first(where: { names.contains($0.name) }) else {
            return reasonWithout
        }
        let text = IndexedForm(name: index.name)?.text ?? index.name
        return "the index of \(text) is being built"
    }

    /// What an index of could help, the best first.
    private var forms: [IndexedForm] {
        var forms: [IndexedForm] = []
        for source in sources.sorted(by: { $0.kind < $1.kind }) where !forms.contains(source.form) {
            forms.append(source.form)
        }
        if let order, !forms.contains(order) { forms.append(order) }
        return forms
    }

    /// Returns the index to wish for after a search in a zone that found little of much; nil for
    /// none.
    func wish(
        for zone: StoredZone, after part: QueryReport.Zone, in reader: some FieldIndexReading
    ) throws -> IndexInterest.Wish? {
        guard part.records >= Self.wishedFrom,
            part.records > part.found * Self.goodPart || !sorts.isEmpty
        else { return nil }
        let there = Set(
            try zone.isIndexed
                ? reader.fieldIndexes(in: zone.key, of: recordType).map(\.name) : [])
        return forms.first { !there.contains($0.name) }.map {
            IndexInterest.Wish(
                database: zone.database, zone: zone.key, recordType: recordType, name: $0.name)
        }
    }
}
