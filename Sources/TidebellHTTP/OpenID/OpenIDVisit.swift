// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// A sign-in that leads by way of a provider and back, in one browser.
///
/// Nothing of it is kept until the browser comes back: what is to be known then travels with it as the `state`, which is
/// good in the browser alone that has the page's cookie, and from which together with the cookie nonce and
/// verifier follow. One that came back is remembered for as long as it is good (``FinishedVisits``).
struct OpenIDVisit: Sendable, Hashable {
    /// How long somebody has for signing in at the provider.
    static let lifetime = Duration.seconds(600)
    /// The most bytes of a state.
    static let mostBytes = 4096

    /// The app, as its page named it.
    var container: ContainerKey
    var apiToken: String
    /// The origin of the page that opened this one; nil where that is not known.
    var opener: String?
    var staysSignedIn: Bool
    var begunAt: Instant

    /// The texts that a state has, in order.
    private var parts: [String] {
        [
            container.container, container.environment.rawValue, apiToken, opener ?? "",
            staysSignedIn ? "1" : "", String(begunAt.rawValue),
        ]
    }

    /// Returns the visit as it travels.
    func state(_ secrets: Secrets) -> String {
        let text = Base64URL.text(Array(parts.joined(separator: "\n").utf8))
        return "\(text).\(secrets.mac(of: text))"
    }

    init(
        container: ContainerKey, apiToken: String, opener: String?, staysSignedIn: Bool,
        begunAt: Instant
    ) {
        self.container = container
        self.apiToken = apiToken
        self.opener = opener
        self.staysSignedIn = staysSignedIn
        self.begunAt = begunAt
    }

    /// Reads a state; nil where this browser did not begin it, or too long ago.
    init?(_ state: String, _ secrets: Secrets, at now: Instant) {
        let halves = state.split(separator: ".", omittingEmptySubsequences: false)
        guard state.utf8.count <= Self.mostBytes, halves.count == 2,
            // Hashes are compared, so that the time tells nothing.
            Secret.hash(String(halves[1])) == Secret.hash(secrets.mac(of: String(halves[0]))),
            let bytes = Base64URL.bytes(halves[0])
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let environment = CloudEnvironment(rawValue: parts[1]),
            let begun = Int64(parts[5]).map(Instant.init(rawValue:)), begun <= now,
            now < begun.advanced(by: Self.lifetime)
        else { return nil }
        self.init(
            container: ContainerKey(container: parts[0], environment: environment),
            apiToken: parts[2], opener: parts[3].isEmpty ? nil : parts[3],
            staysSignedIn: parts[4] == "1", begunAt: begun)
    }

    /// What follows from the cookie of a browser, which nobody else has.
    struct Secrets: Sendable {
        private let key: [UInt8]

        /// - Parameters:
        ///   - cookie: The secret of the page's cookie.
        ///   - key: What the cookies and forms of these pages are made with.
        init(cookie: String, key: [UInt8]) {
            self.key = KeyDerivation.key(named: "openid \(cookie)", of: key)
        }

        func mac(of text: String) -> String { derived("state \(text)") }
        func nonce(for state: String) -> String { derived("nonce \(state)") }
        /// 43 characters, as PKCE has them (RFC 7636, 4.1).
        func verifier(for state: String) -> String { derived("verifier \(state)") }

        private func derived(_ name: String) -> String {
            Base64URL.text(KeyDerivation.key(named: name, of: key))
        }
    }
}
