// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What of a value takes part in comparisons: values are equal for predicates
/// exactly if their keys are.
enum ComparisonKey: Sendable, Hashable {
    /// A string without its letter cases (QUERY-8).
    case text(CanonicalText)
    /// A number or a moment, whatever its type.
    case number(ExactNumber)
    /// The name of a record: a reference's target, its action ignored (REF-8), or
    /// a system field. Case matters.
    case name(CanonicalText)
    case bytes([UInt8])
    case place(latitude: Double, longitude: Double)

    /// Creates the key of a value; lists and assets have none.
    ///
    /// - Parameter isName: Whether a string is the name of a record, as it is
    ///   beside system fields.
    init?(_ value: FieldValue, isName: Bool = false) {
        switch value {
        case .string(let text):
            self = isName ? .name(CanonicalText(text)) : .text(CanonicalText(caseless: text))
        case .int64(let number), .timestamp(let number): self = .number(.whole(number))
        case .double(let number): self = .number(ExactNumber(number))
        case .reference(let reference): self = .name(CanonicalText(reference.recordName))
        case .bytes(let bytes): self = .bytes(bytes)
        case .location(let location):
            self = .place(latitude: location.latitude, longitude: location.longitude)
        case .asset, .list: return nil
        }
    }

    /// Whether this key stands before another; nil for keys that have no order.
    func precedes(_ other: ComparisonKey) -> Bool? {
        switch (self, other) {
        case (.text(let left), .text(let right)): left < right
        case (.name(let left), .name(let right)): left < right
        case (.number(let left), .number(let right)): left < right
        default: nil
        }
    }
}

/// A number that is compared by its value alone: 3 and 3.0 are one.
enum ExactNumber: Sendable, Hashable, Comparable {
    case whole(Int64)
    /// A number that no `Int64` is equal to.
    case fraction(Double)

    /// Creates the number of a double.
    init(_ value: Double) {
        self = Int64(exactly: value).map(Self.whole) ?? .fraction(value)
    }

    /// Whether a number is less than another, compared exactly, not rounded.
    static func < (left: ExactNumber, right: ExactNumber) -> Bool {
        switch (left, right) {
        case (.whole(let left), .whole(let right)): left < right
        case (.fraction(let left), .fraction(let right)): left < right
        case (.whole(let left), .fraction(let right)): isWhole(left, below: right)
        case (.fraction(let left), .whole(let right)): !isWhole(right, below: left)
        }
    }

    /// The two are never equal.
    private static func isWhole(_ whole: Int64, below fraction: Double) -> Bool {
        guard let floor = Int64(exactly: fraction.rounded(.down)) else { return fraction > 0 }
        return whole <= floor
    }
}
