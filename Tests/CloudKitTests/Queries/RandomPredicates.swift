// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import TestSupport

@testable import CloudKit

/// Random predicates that a seed repeats.
struct RandomPredicates {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func below(_ bound: Int) -> Int { generator.below(bound) }

    mutating func pick<Value>(_ values: [Value]) -> Value { generator.pick(values) }

    // MARK: - Everything formats can express

    /// A predicate of any kind; compounds have two parts or more, as parsed ones do.
    mutating func tree(depth: Int = 0) -> PredicateTree {
        switch below(depth < 4 ? 8 : 5) {
        case 0: return .constant(below(2) == 0)
        case 5: return .not(tree(depth: depth + 1))
        case 6: return .and(flat(parts(depth)) { if case .and = $0 { true } else { false } })
        case 7: return .or(flat(parts(depth)) { if case .or = $0 { true } else { false } })
        default: return .comparison(comparison(depth))
        }
    }

    private mutating func parts(_ depth: Int) -> [PredicateTree] {
        (0..<(2 + below(2))).map { _ in tree(depth: depth + 1) }
    }

    /// Negates parts of the compound's own kind, whose parentheses change nothing.
    private func flat(
        _ parts: [PredicateTree],
        _ isSameKind: (PredicateTree) -> Bool
    ) -> [PredicateTree] {
        parts.map { isSameKind($0) ? .not($0) : $0 }
    }

    private mutating func comparison(_ depth: Int) -> PredicateComparison {
        PredicateComparison(
            qualifier: pick([nil, nil, .any, .all, .noneOf]),
            left: expression(depth),
            operator: pick(PredicateComparison.Operator.allCases),
            options: pick(["", "", "c", "cd", "cdl"]),
            right: expression(depth)
        )
    }

    private mutating func expression(_ depth: Int) -> PredicateOperand {
        switch below(depth < 4 ? 10 : 6) {
        case 0: return .itself
        case 1: return .variable(pick(["x", "y"]))
        case 2, 3:
            return .keyPath(
                pick([
                    "a", "b_1", "a.b", "in", "LIKE", "self.x", "tags.@count", "a.@sum.b", "size",
                    "ö",
                ]))
        case 6: return .list([.keyPath("a"), expression(depth + 1)])
        case 7: return call(depth)
        case 9: return .path(pick([.variable("x"), call(depth)]), pick(["a", "in", "a.@sum.b"]))
        case 8: return .subquery(expression(depth + 1), variable: "x", tree(depth: depth + 1))
        default: return .value(value())
        }
    }

    /// A call of any function; what `CAST` makes is a name.
    private mutating func call(_ depth: Int) -> PredicateOperand {
        let function = pick(PredicateFunction.allCases)
        var operands = (0..<function.parameterCount).map { _ in expression(depth + 1) }
        if function == .cast { operands[1] = .value(.scalar(.string("NSString"))) }
        return .function(function, operands)
    }

    /// A value of any class.
    mutating func value(inList: Bool = false) -> PredicateValue {
        switch below(inList ? 9 : 10) {
        case 0: return .null
        case 1: return .scalar(.string(text()))
        case 2: return .scalar(.int64(Int64(below(2_000)) - 1_000))
        case 3: return .scalar(.double(Double(below(2_000)) / 8 - 100))
        case 4: return PredicateValue(Date(timeIntervalSince1970: Double(below(1 << 30)) / 8))
        case 5: return .scalar(.bytes(Data([UInt8(below(256))])))
        case 6: return .scalar(.location(CLLocation(latitude: Double(below(90)), longitude: 1)))
        case 7: return .recordID(CKRecord.ID(recordName: "r\(below(9))"))
        case 8:
            let id = CKRecord.ID(recordName: "r\(below(9))")
            return .scalar(.reference(CKRecord.Reference(recordID: id, action: .none)))
        default: return .list((0..<below(4)).map { _ in value(inList: true) })
        }
    }

    mutating func text() -> String {
        let letters = Array("ab \"'\\\n\t%@Kü𝄞#$().")
        return String((0..<below(8)).map { _ in pick(letters) })
    }
}
