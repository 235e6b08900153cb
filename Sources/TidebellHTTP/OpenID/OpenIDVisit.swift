// SPDX-License-Identifier: Apache-2.0
import Crypto
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
    /// How far the clocks may differ of the server where it began and the one where it ends.
    static let skew = WebTokenRules.skew
    /// The most bytes of a state.
    static let mostBytes = 4096

    /// What somebody signs in to.
    enum Purpose: Sendable, Hashable {
        case app(App)
        /// A page of this server, by its path.
        case page(String)
        /// A device, by the code that it shows.
        case device(String)
    }

    /// An app, as its page named it.
    struct App: Sendable, Hashable {
        var container: ContainerKey
        var apiToken: String
        /// The origin of the page that opened the sign-in; nil where that is not known.
        var opener: String?
        var staysSignedIn: Bool
    }

    var purpose: Purpose
    var begunAt: Instant

    /// The texts that a state has, in order.
    private var parts: [String] {
        let moment = String(begunAt.rawValue)
        return switch purpose {
        case .app(let app):
            [
                "app", moment, app.container.container, app.container.environment.rawValue,
                app.apiToken, app.opener ?? "", app.staysSignedIn ? "1" : "",
            ]
        case .page(let path): ["page", moment, path]
        case .device(let code): ["device", moment, code]
        }
    }

    /// Returns the visit as it travels.
    func state(_ secrets: Secrets) throws -> String {
        Base64URL.text(try secrets.sealed(Array(parts.joined(separator: "\n").utf8)))
    }

    init(for purpose: Purpose, begunAt: Instant) {
        self.purpose = purpose
        self.begunAt = begunAt
    }

    /// Reads a state; nil where this browser did not begin it, or too long ago.
    init?(_ state: String, _ secrets: Secrets, at now: Instant) {
        guard state.utf8.count <= Self.mostBytes, let sealed = Base64URL.bytes(state),
            let bytes = secrets.opened(sealed)
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, let begun = Int64(parts[1]).map(Instant.init(rawValue:)),
            begun <= now.advanced(by: Self.skew), now < begun.advanced(by: Self.lifetime),
            let purpose = Purpose(parts)
        else { return nil }
        self.init(for: purpose, begunAt: begun)
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

        /// Encrypts what only this browser may bring back, and the provider need not know: the URL of a share is a
        /// secret.
        func sealed(_ bytes: [UInt8]) throws -> [UInt8] {
            // A nonce of its own, at random.
            let box = try AES.GCM.seal(bytes, using: stateKey)
            return Array(box.nonce) + box.ciphertext + box.tag
        }
        /// Returns what was sealed with the same secrets; nil for anything else.
        func opened(_ sealed: [UInt8]) -> [UInt8]? {
            // What cannot be opened is nobody's state, whatever is wrong with it.
            (try? AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: stateKey))
                .map { Array($0) }
        }
        private var stateKey: SymmetricKey {
            SymmetricKey(data: KeyDerivation.key(named: "state", of: key))
        }
        func nonce(for state: String) -> String { derived("nonce \(state)") }
        /// 43 characters, as PKCE has them (RFC 7636, 4.1).
        func verifier(for state: String) -> String { derived("verifier \(state)") }

        private func derived(_ name: String) -> String {
            Base64URL.text(KeyDerivation.key(named: name, of: key))
        }
    }
}

extension OpenIDVisit.Purpose {
    /// Reads the texts of a state.
    fileprivate init?(_ parts: [String]) {
        switch (parts[0], parts.count) {
        case ("page", 3): self = .page(parts[2])
        case ("device", 3): self = .device(parts[2])
        case ("app", 7):
            guard let environment = CloudEnvironment(rawValue: parts[3]) else { return nil }
            self = .app(
                OpenIDVisit.App(
                    container: ContainerKey(container: parts[2], environment: environment),
                    apiToken: parts[4], opener: parts[5].isEmpty ? nil : parts[5],
                    staysSignedIn: parts[6] == "1"))
        default: return nil
        }
    }
}
