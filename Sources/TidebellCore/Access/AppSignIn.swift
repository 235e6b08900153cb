// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// How the users of a web app sign in on the server's page: attributes of its API token
/// (web-services 2.2).
package struct AppSignIn: Sendable, Hashable {
    /// Stands for all origins.
    package static let everyOrigin = "*"
    /// The most origins of one token.
    package static let mostOrigins = 20
    /// The most bytes of an origin; a name in the domain name system has 253.
    package static let mostOriginBytes = 300
    /// The most bytes of a callback URL.
    package static let mostCallbackBytes = 2048
    /// Schemes whose URLs run or show what is in them.
    private static let forbidden: Set<String> = [
        "about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source",
    ]

    /// How users may prove who they are on the server's page.
    package enum Method: String, Sendable, Hashable, CaseIterable {
        /// By the password of their account.
        case password
        /// By the identity provider, where the server has one.
        case provider
    }

    /// The origins of pages that may learn who signed in, such as `https://notes.example`, or
    /// ``everyOrigin`` alone; nil for pages of this machine and of the server.
    package var origins: [String]?
    /// Where the browser goes with the web token; nil where the page that opened the sign-in gets it as
    /// a message.
    package var callback: String?
    /// What the page offers, of what the server has; nil for all of it.
    package var methods: Set<Method>?

    /// Creates a value.
    package init(
        origins: [String]? = nil, callback: String? = nil, methods: Set<Method>? = nil
    ) {
        self.origins = origins
        self.callback = callback
        self.methods = methods
    }

    /// Whether the token is a web app's, in whose pages everybody finds it: it says whom its pages may tell.
    package var isOfWebApp: Bool { origins != nil || callback != nil }

    /// Whether the users of the app may sign in so.
    package func offers(_ method: Method) -> Bool { methods?.contains(method) ?? true }

    /// Fails unless all of it can be what it says.
    func check() throws(OperatorError) {
        if let origins {
            guard (1...Self.mostOrigins).contains(origins.count) else {
                throw OperatorError(
                    .invalid, .url,
                    "A token has 1 to \(Self.mostOrigins) origins, or none of its own.")
            }
            for origin in origins where origin != Self.everyOrigin || origins.count > 1 {
                guard Self.origin(of: origin) == origin else {
                    throw OperatorError(
                        .invalid, .url,
                        "'\(WireError.shortened(origin))' is no origin, such as https://notes.example; "
                            + "'*' alone is all of them.")
                }
            }
        }
        guard methods?.isEmpty != true else {
            throw OperatorError(.invalid, .url, "A token offers at least one way to sign in.")
        }
        if let callback {
            let scheme = callback.prefix { $0 != ":" }
            guard callback.utf8.count <= Self.mostCallbackBytes, callback.contains(":"),
                Self.isScheme(scheme), !Self.forbidden.contains(scheme.lowercased()),
                callback.utf8.allSatisfy({
                    $0 > 0x20 && $0 < 0x7F && !"\"'<>\\^`{}#;,".utf8.contains($0)
                }),
                !["http", "https"].contains(scheme.lowercased()) || Self.origin(of: callback) != nil
            else {
                throw OperatorError(
                    .invalid, .url,
                    "'\(WireError.shortened(callback))' is not a callback URL, such as "
                        + "https://notes.example/signed-in, of at most \(Self.mostCallbackBytes) bytes "
                        + "and without a fragment.")
            }
        }
    }

    /// What a web page's policy calls the place of the callback: an origin, or a scheme.
    package var callbackSource: String? {
        callback.map { Self.origin(of: $0) ?? "\($0.prefix { $0 != ":" }):" }
    }

    /// The callback with a web token, under both names that clients read.
    package func callback(with token: String) -> String? {
        callback.map {
            "\($0)\($0.contains("?") ? "&" : "?")ckWebAuthToken=\(token)&ckSession=\(token)"
        }
    }

    /// Returns scheme, host and port of a URL by http or https, as browsers write an origin; nil for
    /// what has none.
    package static func origin(of url: String) -> String? {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme),
            url.dropFirst(scheme.count).hasPrefix("://")
        else { return nil }
        let rest = url.dropFirst(scheme.count + 3)
        let authority = rest.prefix { !"/?#".contains($0) }.lowercased()
        let isAddress = authority.hasPrefix("[")
        var host = Substring(authority)
        var port = Substring()
        if let colon = authority.lastIndex(of: ":"),
            !isAddress || authority[..<colon].hasSuffix("]")
        {
            host = authority[..<colon]
            port = authority[colon...].dropFirst()
            guard let number = Int(port), (1...65535).contains(number), "\(number)" == port
            else { return nil }
        }
        let letters = isAddress ? "[]:.abcdef0123456789" : "-._abcdefghijklmnopqrstuvwxyz0123456789"
        guard !host.isEmpty, host.utf8.count <= mostOriginBytes,
            host.allSatisfy({ letters.contains($0) }), !isAddress || host.last == "]"
        else { return nil }
        let isUsual = port == (scheme == "https" ? "443" : "80")
        return "\(scheme)://\(host)" + (port.isEmpty || isUsual ? "" : ":\(port)")
    }

    /// Whether a page of an origin may learn who signed in.
    ///
    /// - Parameter own: The server's origin.
    package func allows(_ origin: String, own: String?) -> Bool {
        guard let origins else { return origin == own || Self.isOfThisMachine(origin) }
        return origins == [Self.everyOrigin] || origins.contains(origin)
    }

    /// Whether an origin is of the machine that the browser, or the program, runs on.
    package static func isOfThisMachine(_ origin: String) -> Bool {
        guard let start = origin.range(of: "://")?.upperBound else { return false }
        let authority = origin[start...]
        if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1"
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first | 0x20) else {
            return false
        }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0)
                || "+-.".utf8.contains($0)
        }
    }
}
