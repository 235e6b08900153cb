// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Values that are looked for among others, at a cost that grows with the fewer of the
/// two, and not with the length of a value that is too long to be among them.
struct ValueSet<Value: Hashable & Sendable & Measured>: Sendable {
    private let values: Set<Value>
    private let longest: Int

    init(_ values: Set<Value>) {
        self.values = values
        longest = values.lazy.map(\.length).max() ?? 0
    }

    var elements: Set<Value> { values }
    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }

    func contains(_ value: Value) -> Bool { value.length <= longest && values.contains(value) }

    func overlaps(_ other: Self) -> Bool {
        let (few, many) = count <= other.count ? (self, other) : (other, self)
        return few.values.contains(where: many.contains)
    }

    func isSubset(of other: Self) -> Bool {
        count <= other.count && values.allSatisfy(other.contains)
    }
}

/// What has a length that is the same for all that are equal to it.
protocol Measured {
    var length: Int { get }
}

extension ExactText: Measured {
    var length: Int { text.utf8.count }
}

extension ComparisonKey: Measured {
    var length: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .name(let name): name.utf8.count
        case .number, .place: 0
        }
    }
}
