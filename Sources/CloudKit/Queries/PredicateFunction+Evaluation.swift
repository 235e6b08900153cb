// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation

extension PredicateFunction {
    /// Calls the function; null when the values are none it takes.
    func value(_ parameters: [PredicateValue]) -> PredicateValue {
        switch (parameters.count, parameterCount) {
        case (0, 0):
            self == .now ? PredicateValue(Date()) : .whole(.random(in: 0...Self.largestRandom))
        case (1, 1): value(of: parameters[0])
        case (2, 2): value(of: parameters[0], parameters[1])
        default: .null
        }
    }

    /// The largest number `random` gives.
    private static let largestRandom = Int64(Int32.max)

    private func value(of parameter: PredicateValue) -> PredicateValue {
        switch parameter {
        case _ where self == .noIndex: parameter
        case .scalar(.string(let text)): value(ofText: text)
        case .list(let elements): value(ofList: elements)
        case .scalar(.int64(let number)): value(ofWhole: number)
        case .scalar(.double(let number)): value(ofNumber: number)
        default: .null
        }
    }

    private func value(ofText text: String) -> PredicateValue {
        switch self {
        case .uppercase: .scalar(.string(text.uppercased()))
        case .lowercase: .scalar(.string(text.lowercased()))
        case .canonical: .scalar(.string(text.folded("cd")))
        case .length: .whole(Int64(text.utf16.count))
        default: .null
        }
    }

    // MARK: - Numbers

    /// Whole numbers stay whole where the result is.
    private func value(ofWhole number: Int64) -> PredicateValue {
        switch self {
        case .floor, .ceiling, .truncation: .whole(number)
        case .absolute:
            Int64(exactly: number.magnitude).map { .whole($0) }
                ?? .fraction(Double(number.magnitude))
        case .onesComplement: .whole(~number)
        case .randomBelow: number > 0 ? .whole(.random(in: 0..<number)) : .null
        default: value(ofNumber: Double(number))
        }
    }

    private func value(ofNumber number: Double) -> PredicateValue {
        switch self {
        case .floor: .fraction(number.rounded(.down))
        case .ceiling: .fraction(number.rounded(.up))
        case .truncation: .fraction(number.rounded(.towardZero))
        case .absolute: .fraction(number.magnitude)
        case .squareRoot: .fraction(number.squareRoot())
        case .exponential: .fraction(exp(number))
        case .naturalLogarithm: .fraction(log(number))
        case .logarithm: .fraction(log10(number))
        default: .null
        }
    }

    private func value(of left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        switch (self, left, right) {
        case (.distance, .scalar(.location(let from)), .scalar(.location(let to))):
            .fraction(from.distance(from: to))
        case (.tokenize, .scalar(.string(let text)), _):
            .list(text.words.map { .scalar(.string(String($0))) })
        case (.cast, _, .scalar(.string(let name))): left.cast(to: name)
        case (_, .scalar(.int64(let first)), .scalar(.int64(let second))):
            whole(first, second).map { .whole($0) } ?? .null
        default: fraction(left, right)
        }
    }

    /// Calculates with whole numbers; nil when there is no result, or it does not fit.
    private func whole(_ left: Int64, _ right: Int64) -> Int64? {
        let (result, overflow): (Int64, Bool)
        switch self {
        case .add: (result, overflow) = left.addingReportingOverflow(right)
        case .subtract: (result, overflow) = left.subtractingReportingOverflow(right)
        case .multiply: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divide: (result, overflow) = left.dividedReportingOverflow(by: right)
        case .remainder: (result, overflow) = left.remainderReportingOverflow(dividingBy: right)
        case .bitwiseAnd: return left & right
        case .bitwiseOr: return left | right
        case .bitwiseXor: return left ^ right
        case .leftShift: return left << right
        case .rightShift: return left >> right
        case .power: return Int64(exactly: pow(Double(left), Double(right)).rounded(.towardZero))
        default: return nil
        }
        return overflow ? nil : result
    }

    private func fraction(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
        guard let first = left.number, let second = right.number else { return .null }
        return switch self {
        case .add: .fraction(first + second)
        case .subtract: .fraction(first - second)
        case .multiply: .fraction(first * second)
        case .divide: .fraction(first / second)
        case .remainder: .fraction(first.truncatingRemainder(dividingBy: second))
        case .power: .fraction(pow(first, second))
        default: .null
        }
    }
}

extension PredicateValue {
    fileprivate static func whole(_ number: Int64) -> Self { .scalar(.int64(number)) }

    fileprivate static func fraction(_ number: Double) -> Self { .scalar(.double(number)) }

    /// The value as an object of another class; null when it is none.
    fileprivate func cast(to name: String) -> PredicateValue {
        switch (name, self) {
        case ("NSString", .scalar(.string)), ("NSDate", .scalar(.date)): self
        case ("NSString", .scalar(.int64)), ("NSString", .scalar(.double)):
            .scalar(.string(description))
        case ("NSDate", _):
            number.map { Self(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
        case ("NSNumber", _), ("NSDecimalNumber", _): asNumber
        default: .null
        }
    }

    private var asNumber: PredicateValue {
        switch self {
        case .scalar(.int64), .scalar(.double): self
        case .scalar(.date(let date)): .fraction(date.timeIntervalSinceReferenceDate)
        case .scalar(.string(let text)):
            Int64(text).map { .whole($0) } ?? Double(text).map { .fraction($0) } ?? .null
        default: .null
        }
    }
}
