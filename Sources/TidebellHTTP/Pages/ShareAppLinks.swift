// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// Where the apps are that shares are opened in, by container: links that the page behind a share's URL
/// leads to, in an app of the device (`notes://…`) or on another site.
package struct ShareAppLinks: Sendable, Hashable {
    /// Stands in a link for the share's URL, which is percent-encoded there.
    package static let placeholder = "{url}"
    /// The most bytes of a link.
    package static let mostBytes = 2048
    /// Schemes whose links run or show what is in them.
    private static let forbidden: Set<String> = [
        "about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source",
    ]

    private var links: [String: String] = [:]

    /// Creates links to nowhere.
    package init() {}

    /// Sets the link of a container's app, in both environments; fails with ``WrongShareAppLink`` for
    /// what cannot be one.
    package mutating func set(_ link: String, for container: String) throws {
        guard Identifier.isContainer(container) else {
            throw WrongShareAppLink("'\(WireError.shortened(container))' is not a container")
        }
        let scheme = link.prefix { $0 != ":" }
        guard link.utf8.count <= Self.mostBytes, link.contains(":"), Self.isScheme(scheme),
            link.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"'<>\\^`".utf8.contains($0) })
        else {
            throw WrongShareAppLink(
                "'\(WireError.shortened(link))' is not a URL of at most \(Self.mostBytes) bytes")
        }
        guard !Self.forbidden.contains(scheme.lowercased()) else {
            throw WrongShareAppLink("a link to an app does not begin with '\(scheme):'")
        }
        let parts = link.components(separatedBy: Self.placeholder)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw WrongShareAppLink(
                "'\(WireError.shortened(link))' must have \(Self.placeholder) once, where the "
                    + "share's URL goes")
        }
        links[container] = link
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else {
            return false
        }
        return text.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                || "+-.".unicodeScalars.contains($0)
        }
    }

    /// Returns the link that opens a share in its container's app; nil where none is set.
    func link(toShareAt url: String, in container: ContainerKey) -> String? {
        links[container.container]?.replacing(Self.placeholder, with: url.percentEncoded)
    }
}

/// A link that the operator gave and that cannot be one.
package struct WrongShareAppLink: Error, CustomStringConvertible {
    /// What is wrong, as a clause.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension String {
    /// The text as the value of a query's parameter (RFC 3986, 2.3).
    fileprivate var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + Hex.text([byte]).uppercased()
            }
        }
        return text
    }
}
