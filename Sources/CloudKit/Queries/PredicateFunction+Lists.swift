// SPDX-License-Identifier: Apache-2.0
import Foundation

// Functions of lists. What is missing counts as zero in sums, and not at all in
// extremes, as with Apple's collection operators.
extension PredicateFunction {
    /// Calls a function of one list; null when an element is none it takes.
    func value(ofList elements: [PredicateValue]) -> PredicateValue {
        switch self {
        case .count, .size: .scalar(.int64(Int64(elements.count)))
        case .sum: Self.sum(elements)
        case .minimum: Self.extreme(elements, .orderedAscending)
        case .maximum: Self.extreme(elements, .orderedDescending)
        case .mode: Self.mode(elements)
        case .average: Self.statistic(elements) { $0.reduce(0, +) / Double($0.count) }
        case .median: Self.statistic(elements, Self.median)
        case .standardDeviation: Self.statistic(elements, Self.standardDeviation)
        default: .null
        }
    }

    /// Whole numbers stay whole, as long as their sum fits.
    private static func sum(_ elements: [PredicateValue]) -> PredicateValue {
        elements.reduce(.scalar(.int64(0))) { sum, element in
            element == .null ? sum : PredicateFunction.add.value([sum, element])
        }
    }

    /// The element that stands before all others in an order.
    private static func extreme(
        _ elements: [PredicateValue],
        _ wanted: ComparisonResult
    ) -> PredicateValue {
        let candidates = elements.filter { $0 != .null }
        guard var best = candidates.first else { return .null }
        for element in candidates.dropFirst() {
            guard let order = element.order(to: best, "") else { return .null }
            if order == wanted { best = element }
        }
        return best
    }

    /// The numbers that stand in the list most often, the smallest first.
    private static func mode(_ elements: [PredicateValue]) -> PredicateValue {
        guard elements.allSatisfy(\.isNumber) else { return .null }
        let counts = Dictionary(grouping: elements) { $0.number ?? 0 }
        let most = counts.values.map(\.count).max()
        let numbers = counts.filter { $0.value.count == most }.sorted { $0.key < $1.key }
        return .list(numbers.map { $0.value[0] })
    }

    private static func statistic(
        _ elements: [PredicateValue],
        _ calculate: ([Double]) -> Double
    ) -> PredicateValue {
        let numbers = elements.compactMap { $0 == .null ? 0 : $0.number }
        guard !numbers.isEmpty, numbers.count == elements.count else { return .null }
        return .scalar(.double(calculate(numbers)))
    }

    private static func median(_ numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// That of the numbers themselves, not of what they are a sample of.
    private static func standardDeviation(_ numbers: [Double]) -> Double {
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.map { ($0 - mean) * ($0 - mean) }
        return (squares.reduce(0, +) / Double(numbers.count)).squareRoot()
    }
}

extension PredicateCollectionOperator {
    /// The value of the operator for what its key path leads to in each element.
    func value(of elements: [PredicateValue]) -> PredicateValue {
        switch self {
        case .count: PredicateFunction.count.value(ofList: elements)
        case .sum: PredicateFunction.sum.value(ofList: elements)
        case .average: PredicateFunction.average.value(ofList: elements)
        case .minimum: PredicateFunction.minimum.value(ofList: elements)
        case .maximum: PredicateFunction.maximum.value(ofList: elements)
        case .union: .list(elements)
        case .distinctUnion:
            .list(
                elements.reduce(into: []) { union, element in
                    if !union.contains(element) { union.append(element) }
                }
            )
        }
    }
}
