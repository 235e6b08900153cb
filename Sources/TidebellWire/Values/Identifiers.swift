// SPDX-License-Identifier: Apache-2.0

/// Rules of identifiers that client and server check alike.
package enum Identifier {
    /// The longest container identifier, in bytes (web-services 1.1 knows no rule).
    package static let containerLength = 255

    /// Whether a text may be a container's identifier: letters, digits, periods and hyphens,
    /// ``containerLength`` at most.
    package static func isContainer(_ text: String) -> Bool {
        (1...containerLength).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isASCIIAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
            }
    }

    /// Whether a text may be the name of a field or a record type: a letter, then letters,
    /// digits and underscores. Its length is not looked at.
    package static func isField(_ text: String) -> Bool {
        text.utf8.first?.isASCIILetter == true
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}

extension UInt8 {
    /// Whether it is a letter of ASCII.
    package var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    /// Whether it is a letter or a digit of ASCII.
    package var isASCIIAlphanumeric: Bool {
        isASCIILetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}
