// SPDX-License-Identifier: Apache-2.0
import TidebellWire

// The first byte is the kind; what follows is in the order of the values, compared byte by byte
// as `QueryOrder` and the evaluator order them.
extension FieldIndexKey {
    /// Stands for records that every search of the index looks at: their fields were damaged when
    /// they were taken up, or would bring too many keys.
    static let always = FieldIndexKey(rawValue: [Kind.always.rawValue])
    /// Stands for records without a value.
    static let absent = FieldIndexKey(rawValue: [Kind.absent.rawValue])

    /// Bytes of a text or of data that a key keeps; longer ones that begin alike have one key.
    static let valueLimit = 120

    private enum Kind: UInt8 {
        case always = 0x00
        case absent = 0x01
        case number = 0x10
        case text = 0x11
        case name = 0x12
        case bytes = 0x13
        case place = 0x14
        case cell = 0x20
    }

    private init(_ kind: Kind, _ bytes: some Sequence<UInt8>) {
        self.init(rawValue: [kind.rawValue] + bytes)
    }

    /// Creates the key of a value.
    init(_ value: ComparisonKey) {
        switch value {
        case .number(let number): self.init(.number, Self.bytes(of: number))
        case .text(let text): self.init(.text, text.utf8.prefix(Self.valueLimit))
        case .name(let name): self.init(.name, name.utf8.prefix(Self.valueLimit))
        case .bytes(let bytes): self.init(.bytes, bytes.prefix(Self.valueLimit))
        case .place(let latitude, let longitude):
            self.init(
                .place, Self.bytes(ofDouble: latitude) + Self.bytes(ofDouble: longitude))
        }
    }

    /// Creates the key of a word.
    init(word: String) { self.init(.text, word.utf8.prefix(Self.valueLimit)) }

    /// Creates the key of a cell of the globe.
    init(cell: UInt64) { self.init(.cell, Self.bigEndian(cell)) }

    /// Whether records with this key have equal values: not where a text was cut, and not where
    /// anything may stand under it.
    var isExact: Bool { self != .always && rawValue.count <= Self.valueLimit }

    /// Whether it is the key of a text or of a name.
    var isOfText: Bool {
        rawValue.first == Kind.text.rawValue || rawValue.first == Kind.name.rawValue
    }

    /// The first key that is after this one.
    var successor: FieldIndexKey { FieldIndexKey(rawValue: rawValue + [0]) }

    // MARK: Numbers

    /// The largest double that is not greater, and what is left.
    private static func bytes(of number: ExactNumber) -> [UInt8] {
        switch number {
        case .fraction(let fraction): return bytes(ofDouble: fraction) + [0, 0]
        case .whole(let whole):
            var floor = Double(whole)
            // 2 to the power of 63 is no Int64.
            if floor >= 0x1p63 || Int64(floor) > whole { floor = floor.nextDown }
            let rest = UInt16(truncatingIfNeeded: whole - Int64(floor))
            return bytes(ofDouble: floor) + [UInt8(rest >> 8), UInt8(rest & 0xFF)]
        }
    }

    /// Doubles as bytes in their order; both zeros are one.
    private static func bytes(ofDouble value: Double) -> [UInt8] {
        let bits = (value == 0 ? 0 : value).bitPattern
        return bigEndian(bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private static func bigEndian(_ bits: UInt64) -> [UInt8] {
        withUnsafeBytes(of: bits.bigEndian) { Array($0) }
    }
}

extension FieldIndexRange {
    /// All keys of values, and of none.
    static let values = FieldIndexRange(
        from: .absent, to: FieldIndexKey(rawValue: [0xFF]))
    /// What every search looks at.
    static let always = FieldIndexRange(only: .always)
    /// Records without a value.
    static let absent = FieldIndexRange(only: .absent)

    /// Creates the range of one key.
    init(only key: FieldIndexKey) { self.init(from: key, to: key.successor) }

    /// The keys of values that are less than this one, or equal: which of them, the evaluator
    /// decides.
    static func upTo(_ value: ComparisonKey) -> FieldIndexRange {
        let key = FieldIndexKey(value)
        return FieldIndexRange(from: FieldIndexKey(rawValue: [key.rawValue[0]]), to: key.successor)
    }

    /// The keys of values that are greater than this one, or equal, and can be compared with it.
    static func from(_ value: ComparisonKey) -> FieldIndexRange {
        let key = FieldIndexKey(value)
        return FieldIndexRange(from: key, to: FieldIndexKey(rawValue: [key.rawValue[0] + 1]))
    }

    /// The keys of texts or names that begin with this one.
    static func beginning(with value: ComparisonKey) -> FieldIndexRange {
        let key = FieldIndexKey(value)
        guard key.rawValue.count > 1 else {
            return FieldIndexRange(from: key, to: FieldIndexKey(rawValue: [key.rawValue[0] + 1]))
        }
        var end = key.rawValue
        // No byte of UTF-8 is the greatest there is.
        end[end.count - 1] += 1
        return FieldIndexRange(from: key, to: FieldIndexKey(rawValue: end))
    }

    /// Whether a key is in the range.
    func contains(_ key: FieldIndexKey) -> Bool { first <= key && key < end }

    /// What is in both; nil for nothing.
    func intersection(_ other: FieldIndexRange) -> FieldIndexRange? {
        let common = FieldIndexRange(from: max(first, other.first), to: min(end, other.end))
        return common.first < common.end ? common : nil
    }
}
