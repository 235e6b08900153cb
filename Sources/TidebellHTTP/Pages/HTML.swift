// SPDX-License-Identifier: Apache-2.0

/// A piece of HTML, made of literals and of texts, which are escaped where they are put in:
/// nothing that comes from elsewhere can be put in otherwise.
struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation interpolation: Interpolation) { text = interpolation.text }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        /// Puts a piece of HTML in as it is; nil is nothing.
        mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }

        /// Puts a text in, also within the quotes of an attribute.
        mutating func appendInterpolation(_ string: String) {
            for scalar in string.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                case _ where scalar.properties.generalCategory == .control: text += "\u{FFFD}"
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
    }
}
