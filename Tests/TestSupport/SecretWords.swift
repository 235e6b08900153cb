// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Words that must not stand where a test looks for them.
package struct SecretWords: Sendable {
    /// The words.
    package let words: [String]

    /// Creates a list.
    package init(_ words: [String]) {
        self.words = words
    }

    /// Those of the words that stand in one of the texts or files: as they are, in Base64 at any
    /// offset, or in hexadecimal digits.
    package func found(in contents: [Data]) -> Set<String> {
        Set(
            words.filter { word in
                Self.spellings(of: word).contains { spelling in
                    contents.contains { $0.range(of: spelling) != nil }
                }
            })
    }

    /// The same of a text.
    package func found(in text: String) -> Set<String> { found(in: [Data(text.utf8)]) }

    private static func spellings(of word: String) -> [Data] {
        let hex = word.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        // Where a word begins within three bytes decides its digits; those at its ends
        // depend on its neighbours.
        let base64 = (0..<3).map { offset in
            let bytes = Data(repeating: 0, count: offset) + Data(word.utf8)
            return bytes.base64EncodedString().dropFirst(4).dropLast(4)
        }
        return ([word, hex, hex.uppercased()] + base64.map(String.init)).map { Data($0.utf8) }
    }
}
