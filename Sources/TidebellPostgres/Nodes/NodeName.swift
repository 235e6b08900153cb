// SPDX-License-Identifier: Apache-2.0

/// What an operator calls one of the servers that share a database.
package struct NodeName: Sendable, Hashable, CustomStringConvertible {
    /// The most characters of a name.
    package static let mostCharacters = 63

    package let description: String

    /// Takes a name of letters, digits, `-`, `.` and `_`; nil for another.
    package init?(_ name: String) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, (1...Self.mostCharacters).contains(name.utf8.count) else { return nil }
        description = name
    }
}
