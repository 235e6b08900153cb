// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The words of texts, as token searches find them (QUERY-8); a pure function of the text, the same
/// on every machine.
enum TextTokens {
    /// Adds the words a text is found by: without case, diacritics and the words
    /// that are skipped.
    ///
    /// They are compared byte by byte: equality of strings follows the Unicode of the standard
    /// library, which an index and the terms of subscriptions do not.
    ///
    /// A word is a run of letters and digits; scripts written without spaces are
    /// not divided further.
    static func add(of text: String, to tokens: inout Set<ExactText>) {
        var word = String.UnicodeScalarView()
        func end() {
            let token = String(word)
            word = String.UnicodeScalarView()
            if !token.isEmpty, !stopWords.contains(token) { tokens.insert(ExactText(token)) }
        }
        for scalar in CanonicalText(caseless: text).string.unicodeScalars {
            if isPartOfWord(scalar) {
                word.append(scalar)
            } else if !isDiacritic(scalar) {
                end()
            }
        }
        end()
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (0x30...0x39).contains(scalar.value) || (0x61...0x7A).contains(scalar.value)
        }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .spacingMark:
            return true
        // A mark that is no diacritic belongs to its letter: vowel signs, voicing.
        case .nonspacingMark: return !isDiacritic(scalar)
        default: return false
        }
    }

    /// Whether the scalar is an accent or a vowel point, by how it combines.
    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.canonicalCombiningClass.rawValue >= 10
    }

    /// The words a token search skips.
    private static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
        "these", "they", "this", "to", "was", "will", "with",
    ]
}
