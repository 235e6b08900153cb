// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A part of an index in which all records stand that can pass some filters of a query; the
/// evaluator decides about each of them.
struct IndexSource: Sendable, Hashable {
    /// How little is likely to be found by it, the least first.
    enum Kind: Int, Sendable, Comparable {
        case equality, choice, prefix, words, distance, range

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    var form: IndexedForm
    var kind: Kind
    /// In order; none overlap.
    var ranges: [FieldIndexRange]

    /// Of how many words or elements that a record must all have each is a source of its own.
    private static let mostOfOneFilter = 8

    /// Returns the sources of filters, the same and in the same order for equal filters: a
    /// marker names one by its number.
    static func all(of filters: [WireFilter]) -> [IndexSource] {
        var sources: [IndexSource] = []
        for filter in filters {
            for source in of(filter) {
                // What two filters ask of one value is one source.
                let same = sources.firstIndex { $0.form == source.form && source.form.hasOneKey }
                guard let same else {
                    sources.append(source)
                    continue
                }
                sources[same].ranges = common(sources[same].ranges, source.ranges)
                sources[same].kind = min(sources[same].kind, source.kind)
            }
        }
        return sources.map { source in
            var source = source
            source.ranges = ordered(source.ranges)
            return source
        }
    }

    /// Returns what is in ranges of both lists, in order.
    ///
    /// Each list goes by once, since none of its ranges overlap: of two long choices no more is
    /// looked at than both have.
    private static func common(
        _ left: [FieldIndexRange], _ right: [FieldIndexRange]
    ) -> [FieldIndexRange] {
        var common: [FieldIndexRange] = []
        var (left, right) = (distinct(left)[...], distinct(right)[...])
        while let first = left.first, let second = right.first {
            if let both = first.intersection(second) { common.append(both) }
            if first.end < second.end { left.removeFirst() } else { right.removeFirst() }
        }
        return common
    }

    private static func distinct(_ ranges: [FieldIndexRange]) -> [FieldIndexRange] {
        Set(ranges).sorted { $0.first < $1.first }
    }

    /// Returns ranges in order, and what every search looks at before them.
    private static func ordered(_ ranges: [FieldIndexRange]) -> [FieldIndexRange] {
        [.always] + distinct(ranges)
    }

    /// Returns the sources of one filter, the most selective first; of each one range at least,
    /// but for what no value is equal to.
    static func of(_ filter: WireFilter) -> [IndexSource] {
        guard filter.subject != .system(.share) else { return [] }
        switch filter.comparator {
        case .equals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
            return key(of: filter.value, filter).map { value($0, filter) } ?? []
        case .in: return choice(.value(filter.subject), filter)
        case .beginsWith: return prefix(.value(filter.subject), filter)
        case .near: return circle(filter)
        case .containsAllTokens, .containsAnyTokens: return words(filter)
        case .listContains, .listContainsAny, .listContainsAll, .listMemberBeginsWith:
            guard case .field(let field) = filter.subject else { return [] }
            return elements(.elements(field), filter)
        default: return []
        }
    }

    private static func key(of value: FieldValue, _ filter: WireFilter) -> ComparisonKey? {
        ComparisonKey(value, isName: filter.isOfNames)
    }

    private static func value(_ key: ComparisonKey, _ filter: WireFilter) -> [IndexSource] {
        let form = IndexedForm.value(filter.subject)
        return switch filter.comparator {
        case .equals: [Self(form: form, kind: .equality, ranges: [.init(only: .init(key))])]
        case .lessThan, .lessThanOrEquals: [Self(form: form, kind: .range, ranges: [.upTo(key)])]
        default: [Self(form: form, kind: .range, ranges: [.from(key)])]
        }
    }

    private static func choice(_ form: IndexedForm, _ filter: WireFilter) -> [IndexSource] {
        let keys = (filter.value.elements ?? []).compactMap { key(of: $0, filter) }
        return [
            Self(
                form: form, kind: keys.count == 1 ? .equality : .choice,
                ranges: keys.map { FieldIndexRange(only: FieldIndexKey($0)) })
        ]
    }

    /// The folded text begins with the folded prefix where the text begins with the prefix.
    private static func prefix(_ form: IndexedForm, _ filter: WireFilter) -> [IndexSource] {
        guard let key = key(of: filter.value, filter) else { return [] }
        return [Self(form: form, kind: .prefix, ranges: [.beginning(with: key)])]
    }

    private static func elements(_ form: IndexedForm, _ filter: WireFilter) -> [IndexSource] {
        switch filter.comparator {
        case .listContains:
            key(of: filter.value, filter).map {
                [Self(form: form, kind: .equality, ranges: [.init(only: .init($0))])]
            } ?? []
        case .listContainsAny: choice(form, filter)
        case .listMemberBeginsWith: prefix(form, filter)
        default:
            (filter.value.elements ?? []).prefix(mostOfOneFilter)
                .compactMap { key(of: $0, filter) }
                .map {
                    Self(form: form, kind: .equality, ranges: [.init(only: .init($0))])
                }
        }
    }

    private static func words(_ filter: WireFilter) -> [IndexSource] {
        let form: IndexedForm
        switch filter.subject {
        case .field(let name): form = .words(name)
        case .allText: form = .words(nil)
        case .system: return []
        }
        // The longer a word is, the fewer texts have it.
        let words = (filter.value.tokens ?? []).map(\.text).sorted {
            ($1.utf8.count, $0) < ($0.utf8.count, $1)
        }
        let ranges = words.map { FieldIndexRange(only: FieldIndexKey(word: $0)) }
        return filter.comparator == .containsAnyTokens || ranges.isEmpty
            ? [Self(form: form, kind: .words, ranges: ranges)]
            : ranges.prefix(mostOfOneFilter).map { Self(form: form, kind: .words, ranges: [$0]) }
    }

    private static func circle(_ filter: WireFilter) -> [IndexSource] {
        guard case .field(let field) = filter.subject, case .location(let center) = filter.value,
            let radius = filter.distance
        else { return [] }
        let ranges = GlobeCells.ranges(around: center, radius: radius)
        return [Self(form: .cells(field), kind: .distance, ranges: ranges.map(\.keys))]
    }

    /// The first of a record's keys that is in a range; nil where none is.
    func firstKey(among keys: [FieldIndexKey]) -> FieldIndexKey? {
        keys.first { key in
            // Of ranges in order only the last one that begins before the key may have it.
            var (behind, end) = (0, ranges.count)
            while behind < end {
                let middle = (behind + end) / 2
                if ranges[middle].first > key { end = middle } else { behind = middle + 1 }
            }
            return behind > 0 && ranges[behind - 1].contains(key)
        }
    }
}

extension ClosedRange<UInt64> {
    /// The keys of cells.
    var keys: FieldIndexRange {
        FieldIndexRange(
            from: FieldIndexKey(cell: lowerBound), to: FieldIndexKey(cell: upperBound).successor)
    }
}

extension WireFilter {
    /// Whether strings beside the subject are names of records.
    var isOfNames: Bool {
        if case .system = subject { true } else { false }
    }
}
