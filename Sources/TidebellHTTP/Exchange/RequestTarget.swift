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
    private let query: [(name: Substring, value: Substring)]

    /// Splits `target`; a path with a broken escape fails.
    package init(_ target: String) throws {
        let bytes = target.utf8
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        path = target[..<mark]
        segments = try bytes[..<mark].split(separator: UInt8(ascii: "/")).map {
            try Self.decode(Substring($0)) {
                "the path segment '\($0)' is not properly percent-encoded"
            }
        }
        query = bytes[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { pair in
            guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else {
                return (Substring(pair), "")
            }
            return (Substring(pair[..<sign]), Substring(pair[pair.index(after: sign)...]))
        }
    }

    /// Returns the decoded value of the first query parameter with this name;
    /// nil when it is absent or empty.
    ///
    /// `clientId` also comes as `clientID` (web-services 10.17), so case does not
    /// matter.
    package func parameter(_ name: String) throws -> String? {
        let found = query.first { $0.name.isSameName(as: name) && !$0.value.isEmpty }
        return try found.map {
            try Self.decode($0.value) { _ in
                "the query parameter '\(name)' is not properly percent-encoded"
            }
        }
    }

    private static func decode(
        _ text: Substring, otherwise reason: (String) -> String
    ) throws -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        guard let decoded = String(text).removingPercentEncoding else {
            throw WireError.badRequest(reason(WireError.shortened(text)))
        }
        return decoded.withOrderedMarks
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
