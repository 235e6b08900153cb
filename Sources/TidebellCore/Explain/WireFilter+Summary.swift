// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

extension WireFilter {
    /// The filter in words, as a predicate would put it.
    var summary: String {
        let value = value.summary
        guard comparator != .near else {
            return "\(subject.summary) within \(distance ?? 0) m of \(value)"
        }
        return "\(subject.summary) \(comparator.words) \(value)"
    }
}

extension WireFilter.Subject {
    /// What is compared, in words.
    var summary: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.rawValue
        case .allText: "any text"
        }
    }
}

extension WireFilter.Comparator {
    fileprivate var words: String {
        switch self {
        case .equals: "="
        case .notEquals: "!="
        case .lessThan: "<"
        case .lessThanOrEquals: "<="
        case .greaterThan: ">"
        case .greaterThanOrEquals: ">="
        default: rawValue.lowercased().replacing("_", with: " ")
        }
    }
}

extension FieldValue {
    /// Scalars of a text, and elements of a list, that are shown.
    private static let shown = (text: 60, elements: 3)

    /// The value in a few words.
    var summary: String {
        switch self {
        case .string(let text):
            let shown = text.unicodeScalars.prefix(Self.shown.text)
            let end = shown.count < text.unicodeScalars.count ? "…" : ""
            return "\"" + String(String.UnicodeScalarView(shown)) + end + "\""
        case .int64(let number): return String(number)
        case .double(let number): return number.description
        case .timestamp(let milliseconds): return Instant(rawValue: milliseconds).text
        case .bytes(let bytes): return "\(bytes.count) bytes"
        case .reference(let reference): return "reference to \(reference.recordName)"
        case .asset: return "an asset"
        case .location(let location): return "(\(location.latitude), \(location.longitude))"
        case .list(_, let elements):
            let shown = elements.prefix(Self.shown.elements).map(\.summary)
            let rest = elements.count > shown.count ? ["…"] : []
            return "{" + (shown + rest).joined(separator: ", ") + "}"
        }
    }
}

extension Instant {
    /// The years 1 to 9999, which ISO 8601 writes with four digits.
    private static let written: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

    /// The moment in UTC, to the millisecond: `2026-11-21 09:12:03.123Z`.
    var text: String {
        guard Self.written.contains(rawValue) else { return "\(rawValue) ms" }
        // Whole numbers: a fraction of a second is not exact in a `Date`.
        let milliseconds = (rawValue % 1000 + 1000) % 1000
        let date = Date(timeIntervalSince1970: Double((rawValue - milliseconds) / 1000))
        let seconds = date.formatted(.iso8601.dateTimeSeparator(.space)).dropLast()
        let digits = String(milliseconds)
        return "\(seconds).\(String(repeating: "0", count: 3 - digits.count))\(digits)Z"
    }
}
