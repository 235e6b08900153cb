// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellCore
import TidebellWire

/// Records and filters from a small world, so that they often meet.
struct RandomPredicates {
    private var generator: SeededGenerator
    /// Whether values may lie far apart, too, and texts may be long.
    private let isWide: Bool

    init(seed: UInt64, isWide: Bool = false) {
        generator = SeededGenerator(seed: seed)
        self.isWide = isWide
    }

    private static let fieldNames = ["a", "b", "c", "d"]
    private static let texts = [
        "Sea", "SEA", "low tide", "caf\u{e9}", "CAFE\u{301}", "the", "",
    ]
    private static let names = ["r1", "r2", "R1"]
    private static let doubles = [-0.5, 0, 1, 1.5, 2, 9_007_199_254_740_992]
    private static let integers: [Int64] = [-1, 0, 1, 2, 9_007_199_254_740_993]

    mutating func pick<Element>(_ choices: [Element]) -> Element { generator.pick(choices) }

    mutating func below(_ bound: Int) -> Int { generator.below(bound) }

    /// A record, now and then with a place that is nowhere on Earth.
    mutating func record() -> RecordView {
        var record = RecordView(
            name: pick(Self.names), type: pick(["A", "B"]), created: stamp(), modified: stamp(),
            parent: below(2) == 0 ? pick(Self.names) : nil
        )
        for name in Self.fieldNames where below(4) > 0 {
            record.fields[name] = Field(
                below(3) == 0 ? list() : scalar(), isEncrypted: below(12) == 0
            )
        }
        if isWide, below(10) == 0 {
            record.fields["a"] = Field(.location(WireLocation(latitude: 91, longitude: 178)))
        }
        return record
    }

    mutating func filters() -> [WireFilter] {
        guard isWide, below(3) == 0 else { return (0..<below(4)).map { _ in filter() } }
        let subject = subject()
        // BETWEEN, now and then of nothing.
        return [
            WireFilter(pick([.greaterThan, .greaterThanOrEquals]), subject, scalar()),
            WireFilter(pick([.lessThan, .lessThanOrEquals]), subject, scalar()),
        ]
    }

    mutating func filter() -> WireFilter {
        let comparator =
            below(2) == 0
            ? pick([.equals, .equals, .listContains])
            : pick(WireFilter.Comparator.allCases)
        let subject = subject()
        let value: FieldValue =
            switch comparator.operand {
            case .scalar, .element: scalar()
            case .choices, .list: list()
            case .prefix: .string(String(text().prefix(1 + below(40))))
            case .tokens: .string(text())
            case .location: .location(location())
            }
        let distance = pick([1000.0, 300_000, 30_000_000])
        return WireFilter(
            comparator, subject, value, distance: comparator == .near ? distance : nil
        )
    }

    private mutating func subject() -> WireFilter.Subject {
        switch below(8) {
        case 0: .allText
        case 1, 2: .system(pick(WireFilter.SystemField.allCases))
        default: .field(pick(Self.fieldNames))
        }
    }

    private mutating func stamp() -> RecordStamp {
        RecordStamp(timestamp: Int64(below(3)), userRecordName: pick(Self.names), deviceID: "")
    }

    private mutating func location() -> WireLocation {
        guard isWide, below(2) == 0 else {
            return WireLocation(latitude: Double(below(3)), longitude: Double(below(3)) + 178)
        }
        return WireLocation(
            latitude: Double(below(181) - 90), longitude: Double(below(361) - 180))
    }

    private mutating func text() -> String {
        guard isWide, below(2) == 0 else { return pick(Self.texts) }
        let stem = pick([
            "", "Sea ", "https://example.org/notes/", String(repeating: "\u{e9}", count: 70),
        ])
        return stem + pick(["", "a", "B", "10", "low tide"]) + String(below(12))
    }

    private mutating func integer() -> Int64 {
        guard isWide, below(2) == 0 else { return pick(Self.integers) }
        switch below(4) {
        case 0: return Int64(below(40)) - 20
        case 1: return Int64(below(100_000)) - 50_000
        case 2: return 1_700_000_000_000 + Int64(below(10_000_000))
        default: return pick([.min, .max, .max - 1])
        }
    }

    private mutating func scalar() -> FieldValue {
        switch below(8) {
        case 0, 1: .string(text())
        case 2: .int64(integer())
        case 3: .double(isWide && below(2) == 0 ? Double(integer()) / 4 : pick(Self.doubles))
        case 4: .timestamp(isWide ? integer() : Int64(below(3)))
        case 5: .bytes(pick([[], [1], [1, 2]]))
        case 6:
            .reference(
                WireReference(
                    recordName: pick(Self.names), action: pick([.none, .deleteSelf, .validate])
                )
            )
        default: .location(location())
        }
    }

    private mutating func list() -> FieldValue {
        let first = scalar()
        let type = first.type?.list
        var elements: [FieldValue] = []
        let count = isWide && below(20) == 0 ? 150 : below(4)
        for _ in 0..<count {
            var next = scalar()
            while next.type != first.type { next = scalar() }
            elements.append(next)
        }
        return .list(type, elements)
    }
}
