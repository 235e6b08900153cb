// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The order of a query with sort keys (QUERY-1); total, so that pages neither
/// overlap nor leave gaps.
///
/// Values stand as the evaluator orders them: strings whatever their case, numbers
/// by value, locations by their distance. A record without the value stands first,
/// and last where descending; one without a location is farther than any. Records
/// with equal keys stand by zone and by when they changed last, in the direction of the first
/// sort key: an index has them so, read in either direction.
struct QueryOrder: Sendable {
    let sorts: [WireSort]

    /// The keys of a record, one for each sort key.
    ///
    /// Of a text they keep the first ``WireFilter/textLimit`` scalars, which
    /// bounds what a page and its marker hold; texts alike up to there are equal.
    func keys(of record: RecordView) -> [ComparisonKey?] {
        sorts.map { sort in
            if let center = sort.relativeLocation {
                guard case .location(let location) = record.value(of: sort.subject) else {
                    return nil
                }
                return .number(ExactNumber(location.distance(to: center)))
            }
            return record.newKey(of: sort.subject)?.cut(to: WireFilter.textLimit)
        }
    }

    /// What making the keys costs, as ``PreparedFilter/work(on:)``.
    func work(on record: RecordView) -> Int {
        sorts.reduce(0) { $0 + record.size(of: $1.subject) * ReadWork.folding }
    }

    /// Whether a rank stands before another.
    func precedes(_ left: QueryRank, _ right: QueryRank) -> Bool {
        for (index, sort) in sorts.enumerated() {
            let (one, other) = (left.keys[index], right.keys[index])
            guard one != other else { continue }
            return Self.ascends(one, other, missingIsLast: sort.relativeLocation != nil)
                == sort.ascending
        }
        let (one, other) = ((left.zone, left.position), (right.zone, right.position))
        return sorts.first?.ascending ?? true ? one < other : other < one
    }

    /// Whether of two different keys the first is the smaller one.
    private static func ascends(
        _ left: ComparisonKey?, _ right: ComparisonKey?, missingIsLast: Bool
    ) -> Bool {
        guard let left else { return !missingIsLast }
        guard let right else { return missingIsLast }
        return left.precedes(right) ?? left.precedesWithoutMeaning(right)
    }
}

/// What decides where a record stands in a ``QueryOrder``.
struct QueryRank: Sendable, Hashable {
    /// One for each sort key; nil for a value that is missing.
    var keys: [ComparisonKey?]
    var zone: ZoneKey
    var position: Position
}

/// The first ranks of an order out of many that come in any order.
struct FirstRanks {
    let order: QueryOrder
    let capacity: Int
    /// The ranks kept so far, in order.
    private(set) var ranks: [QueryRank] = []

    /// Creates an empty set of at most `capacity` ranks.
    init(_ order: QueryOrder, capacity: Int) {
        self.order = order
        self.capacity = capacity
    }

    /// Takes a rank in, unless as many stand before it as are kept.
    mutating func insert(_ rank: QueryRank) {
        if ranks.count >= capacity {
            guard let last = ranks.last, order.precedes(rank, last) else { return }
            ranks.removeLast()
        }
        var (low, high) = (0, ranks.count)
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(ranks[middle], rank) { low = middle + 1 } else { high = middle }
        }
        ranks.insert(rank, at: low)
    }
}

extension ComparisonKey {
    /// The key of what a text begins with; other keys as they are.
    fileprivate func cut(to length: Int) -> ComparisonKey {
        switch self {
        case .text(let text): .text(text.prefix(length))
        case .bytes(let bytes): .bytes(Array(bytes.prefix(length)))
        default: self
        }
    }

    /// Whether this key stands before another where values have no order, as an index has them
    /// (``FieldIndexKey``).
    ///
    /// Nobody sorts by bytes or places, and keys of different kinds never meet, while a field has one
    /// type. An operator may change the type: then the order is total all the same.
    fileprivate func precedesWithoutMeaning(_ other: ComparisonKey) -> Bool {
        switch (self, other) {
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        case (.place(let one, let two), .place(let three, let four)): (one, two) < (three, four)
        default: kind < other.kind
        }
    }

    private var kind: Int {
        switch self {
        case .number: 0
        case .text: 1
        case .name: 2
        case .bytes: 3
        case .place: 4
        }
    }
}
