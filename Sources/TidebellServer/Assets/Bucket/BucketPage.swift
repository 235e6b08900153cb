// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// A page of what is in a bucket (`ListObjectsV2`).
struct BucketPage {
    /// An object, as a listing has it.
    struct Object: Hashable {
        var key: String
        /// When it was written, by the service's clock; nil where that is not to be understood.
        var modified: Instant?
        /// Its length; nil where that is not to be understood.
        var bytes: Int64?
    }

    let objects: [Object]
    /// What the next page is asked for by; nil for the last one.
    let next: String?

    /// Reads a page; nil where the text is none.
    init?(_ text: String) {
        guard text.contains("<ListBucketResult") else { return nil }
        objects = XMLText.all("Contents", in: text).compactMap { item in
            XMLText.first("Key", in: item).map { key in
                Object(
                    key: key,
                    modified: XMLText.first("LastModified", in: item).flatMap(Self.moment),
                    bytes: XMLText.first("Size", in: item).flatMap { Int64($0) })
            }
        }
        next =
            XMLText.first("IsTruncated", in: text) == "true"
            ? XMLText.first("NextContinuationToken", in: text) ?? "" : nil
    }

    /// Reads `2026-11-27T21:15:59.000Z`.
    static func moment(_ text: String) -> Instant? {
        let numbers = text.split { !$0.isASCII || !$0.isNumber }.compactMap { Int32($0) }
        guard text.hasSuffix("Z"), numbers.count >= 6 else { return nil }
        return moment(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    }

    /// Reads `Fri, 27 Nov 2026 21:15:59 GMT`.
    static func headerMoment(_ text: String) -> Instant? {
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let parts = text.split { $0 == " " || $0 == ":" }
        guard parts.count == 8, parts[7] == "GMT",
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let numbers = [parts[3], parts[1], parts[4], parts[5], parts[6]].compactMap { Int32($0) }
        guard numbers.count == 5 else { return nil }
        return moment(
            numbers[0], Int32(month) + 1, numbers[1], numbers[2], numbers[3], numbers[4])
    }

    private static func moment(
        _ year: Int32, _ month: Int32, _ day: Int32, _ hour: Int32, _ minute: Int32, _ second: Int32
    ) -> Instant? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        var parts = tm()
        parts.tm_year = year - 1900
        parts.tm_mon = month - 1
        (parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec) = (day, hour, minute, second)
        return Instant(rawValue: Int64(timegm(&parts)) * 1000)
    }
}

/// The few elements of XML that answers of S3 have: without attributes, and none within one of the same name.
enum XMLText {
    /// Returns the text of the first element of a name.
    static func first(_ name: String, in text: String) -> String? {
        var rest = text[...]
        return next(name, in: &rest).map { unescaped(String($0)) }
    }

    /// Returns what is in all elements of a name.
    static func all(_ name: String, in text: String) -> [String] {
        var rest = text[...]
        var found: [String] = []
        while let element = next(name, in: &rest) { found.append(String(element)) }
        return found
    }

    private static func next(_ name: String, in rest: inout Substring) -> Substring? {
        guard let start = rest.range(of: "<\(name)>") else { return nil }
        rest = rest[start.upperBound...]
        guard let end = rest.range(of: "</\(name)>") else { return nil }
        defer { rest = rest[end.upperBound...] }
        return rest[..<end.lowerBound]
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
            .reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
