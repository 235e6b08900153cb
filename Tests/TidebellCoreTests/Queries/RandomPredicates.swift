// SPDX-License-Identifier: Apache-2.0
import TestSupport
import TidebellCore
import TidebellWire

/// Records and filters from a small world, so that they often meet.
struct RandomPredicates {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
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
        return record
    }

    mutating func filters() -> [WireFilter] { (0..<below(4)).map { _ in filter() } }

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
            case .prefix, .tokens: .string(pick(Self.texts))
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
        WireLocation(latitude: Double(below(3)), longitude: Double(below(3)) + 178)
    }

    private mutating func scalar() -> FieldValue {
        switch below(8) {
        case 0, 1: .string(pick(Self.texts))
        case 2: .int64(pick(Self.integers))
        case 3: .double(pick(Self.doubles))
        case 4: .timestamp(Int64(below(3)))
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
        for _ in 0..<below(4) {
            var next = scalar()
            while next.type != first.type { next = scalar() }
            elements.append(next)
        }
        return .list(type, elements)
    }
}
