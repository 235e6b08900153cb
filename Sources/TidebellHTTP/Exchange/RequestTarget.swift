// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// Path and query of a request, each part percent-decoded exactly once
/// (web-services 1.3).
package struct RequestTarget: Sendable {
    /// The path as sent, without the query.
    package let path: Substring
    /// The decoded parts between the slashes of the path.
    package let segments: [String]
    private let target: String
    /// Where the names and the values of the query stand in the target, in bytes.
    private let query: [(name: Range<Int>, value: Range<Int>)]

    /// Splits `target`; a path with a broken escape fails.
    package init(_ target: String) throws {
        var target = target
        let (length, segments, query) = try target.withUTF8 { bytes in
            let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
            let segments = try Self.parts(of: bytes, in: 0..<mark, at: UInt8(ascii: "/")).map {
                try Self.decode(bytes[$0]) {
                    "the path segment '\($0)' is not properly percent-encoded"
                }
            }
            let pairs = Self.parts(
                of: bytes, in: min(mark + 1, bytes.endIndex)..<bytes.endIndex, at: UInt8(ascii: "&")
            )
            let query = pairs.map { pair in
                let sign = bytes[pair].firstIndex(of: UInt8(ascii: "=")) ?? pair.upperBound
                return (
                    name: pair.lowerBound..<sign,
                    value: min(sign + 1, pair.upperBound)..<pair.upperBound
                )
            }
            return (mark, segments, query)
        }
        path = target[..<target.utf8.index(target.startIndex, offsetBy: length)]
        self.target = target
        self.segments = segments
        self.query = query
    }

    /// Returns where the parts between the separators stand that are not empty.
    private static func parts(
        of bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>, at separator: UInt8
    ) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = range.lowerBound
        for position in range where bytes[position] == separator {
            if start < position { parts.append(start..<position) }
            start = position + 1
        }
        if start < range.upperBound { parts.append(start..<range.upperBound) }
        return parts
    }

    /// Returns the decoded value of the first query parameter with this name;
    /// nil when it is absent or empty.
    ///
    /// `clientId` also comes as `clientID` (web-services 10.17), so case does not
    /// matter.
    package func parameter(_ name: String) throws -> String? {
        var target = target
        return try target.withUTF8 { bytes in
            let found = query.first { pair in
                !pair.value.isEmpty && bytes[pair.name].isSameName(as: name.utf8)
            }
            return try found.map { pair in
                try Self.decode(bytes[pair.value]) { _ in
                    "the query parameter '\(name)' is not properly percent-encoded"
                }
            }
        }
    }

    private static func decode(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, otherwise reason: (String) -> String
    ) throws -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.contains(UInt8(ascii: "%")) else { return text }
        guard let decoded = text.removingPercentEncoding else {
            throw WireError.badRequest(reason(WireError.shortened(text)))
        }
        return decoded.withOrderedMarks
    }
}

extension Collection<UInt8> {
    /// Whether both are the same name, ASCII letters matching in either case;
    /// allocates nothing.
    fileprivate func isSameName(as other: some Collection<UInt8>) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy {
                $0 == $1 || ($0 ^ $1 == 0x20 && $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A)
            }
    }
}

extension StringProtocol {
    /// Whether both are the same name, ASCII letters matching in either case;
    /// allocates nothing.
    func isSameName(as other: some StringProtocol) -> Bool { utf8.isSameName(as: other.utf8) }
}
