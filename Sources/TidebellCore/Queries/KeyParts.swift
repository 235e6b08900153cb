// SPDX-License-Identifier: Apache-2.0

/// Parts that all keys of one kind are divided into, level by level: one at the top, and each of
/// four on the next, so that a range is covered by few parts, and a key lies in one of each level.
///
/// Only the first eight bytes after the kind count.
enum KeyParts {
    private static let levels = stride(from: 0, through: 64, by: 2)

    /// Returns the names of the fewest parts, at most so many, that all keys of some ranges of one
    /// kind lie in; they are as small as they can be.
    static func covering(_ ranges: [FieldIndexRange], atMost limit: Int) -> [String] {
        guard let kind = ranges.first?.first.rawValue.first else { return [] }
        let bounds = ranges.map { (first: number(of: $0.first), last: number(of: $0.end)) }
        for level in levels {
            var parts: Set<UInt64> = []
            for (first, last) in bounds where parts.count <= limit {
                let (low, high) = (first >> level, last >> level)
                guard high - low < limit else {
                    parts = []
                    break
                }
                parts.formUnion(low...high)
            }
            if !parts.isEmpty, parts.count <= limit {
                return parts.sorted().map { name(kind, level, $0) }
            }
        }
        return []
    }

    /// Returns the names of the parts that a key lies in.
    static func holding(_ key: FieldIndexKey) -> [String] {
        let number = number(of: key)
        return levels.map { name(key.rawValue[0], $0, number >> $0) }
    }

    private static func name(_ kind: UInt8, _ level: Int, _ part: UInt64) -> String {
        "\(String(kind, radix: 16)).\(level).\(String(part, radix: 16))"
    }

    /// In the order of keys of one kind; several have one number.
    private static func number(of key: FieldIndexKey) -> UInt64 {
        let bytes = key.rawValue.dropFirst().prefix(8)
        return bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - bytes.count))
    }
}
