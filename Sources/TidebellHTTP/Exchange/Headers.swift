// SPDX-License-Identifier: Apache-2.0

/// The header fields of a request or an answer.
///
/// Names are compared without regard to case. There are few, so that a list
/// beats a dictionary.
package struct Headers: Sendable {
    /// One header field.
    package struct Field: Sendable, Hashable {
        /// The name as it was given.
        package var name: String
        package var value: String
    }

    /// The fields in order.
    package private(set) var fields: [Field] = []

    /// Creates an empty list.
    package init() {}

    /// Creates a list from pairs.
    package init(_ pairs: some Sequence<(key: String, value: String)>) {
        fields = pairs.map { Field(name: $0.key, value: $0.value) }
    }

    /// The value of the first field with this name; setting replaces all of them.
    package subscript(name: String) -> String? {
        get { fields.first { $0.name.isSameName(as: name) }?.value }
        set {
            fields.removeAll { $0.name.isSameName(as: name) }
            if let newValue { append(name, newValue) }
        }
    }

    /// Adds a field without looking for others of its name.
    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }
}

extension Headers: ExpressibleByDictionaryLiteral {
    /// Creates a list from a literal.
    package init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }
}

extension StringProtocol {
    /// Whether both are the same name, ASCII letters matching in either case;
    /// allocates nothing.
    func isSameName(as other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy {
                $0 == $1 || ($0 ^ $1 == 0x20 && $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A)
            }
    }
}
