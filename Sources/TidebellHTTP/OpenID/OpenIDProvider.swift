// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
package import TidebellCore
package import TidebellScheduling
import TidebellWire

/// A request of this server's to an identity provider.
package struct ProviderRequest: Sendable, Hashable {
    package var url: String
    /// What is posted, as a form; nil for GET.
    package var form: [UInt8]?
    package var headers: [String: String] = [:]
}

/// How the server reaches a provider: an answer with status 200, of at most
/// ``OpenIDProvider/mostAnswerBytes``, without redirects; everything else fails.
package typealias ProviderTransport = @Sendable (ProviderRequest) async throws -> [UInt8]

/// A provider that users may sign in with (OpenID Connect: discovery, and the authorization code flow with
/// PKCE).
package final class OpenIDProvider: Sendable {
    /// The most bytes of an answer of the provider.
    package static let mostAnswerBytes = 256 * 1024
    /// How long the provider may take to answer.
    package static let answerTime = Duration.seconds(10)
    /// How long what the provider says about itself is remembered.
    static let memory = Duration.seconds(3600)
    /// How often its keys are fetched at most, whatever key a token names.
    static let leastPause = Duration.seconds(60)
    /// The most sign-ins that wait for the provider at a time.
    static let mostWaiting = 32
    /// The same from one address.
    static let mostWaitingPerAddress = 4
    /// The most bytes of a code.
    private static let mostCodeBytes = 4096

    /// How the server is known to it.
    package struct Configuration: Sendable {
        /// The provider's URL, as its tokens have it.
        package var issuer: String
        package var clientID: String
        /// Nil for a client that proves itself by PKCE alone.
        package var clientSecret: String?
        /// What the sign-in page calls it.
        package var name: String

        /// Creates a configuration.
        package init(issuer: String, clientID: String, clientSecret: String?, name: String) {
            self.issuer = issuer
            self.clientID = clientID
            self.clientSecret = clientSecret
            self.name = name
        }

        /// Fails where the issuer is no URL by https, or by http on this machine.
        package func check() throws(OperatorError) {
            guard OpenIDProvider.isSafe(issuer), !issuer.contains("?"), !issuer.contains("#"),
                issuer.utf8.count <= ForeignIdentity.mostBytes
            else {
                throw OperatorError(
                    .invalid, .url,
                    "The issuer must be a URL by https, without a query; http is for this machine only."
                )
            }
            guard !clientID.isEmpty, !name.isEmpty else {
                throw OperatorError(.invalid, .url, "A provider has a client ID and a name.")
            }
        }
    }

    /// Why a sign-in with the provider did not work; for the log.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// What the provider says about itself.
    private struct Metadata: Sendable {
        var authorization: String
        var token: String
        var keys: String
    }

    private struct State {
        var metadata: (value: Metadata, at: Duration)?
        var keys: (value: SigningKeys, at: Duration)?
        var waiting = 0
        /// Those whose address is known, as many as ``waiting`` at most.
        var waitingByAddress: [String: Int] = [:]
    }

    let configuration: Configuration
    private let transport: ProviderTransport
    private let time: Time
    private let state: Locked<State>

    /// Creates a provider that nothing was asked yet.
    package init(
        _ configuration: Configuration, time: Time, transport: @escaping ProviderTransport
    ) {
        self.configuration = configuration
        self.transport = transport
        self.time = time
        state = Locked(State())
    }

    /// Returns where the browser goes to sign in.
    func authorizationURL(
        redirect: String, state: String, nonce: String, verifier: String,
        for address: CountedAddress
    ) async throws -> String {
        let metadata = try await turn(of: address) { try await self.metadata() }
        let challenge = Base64URL.text(Array(SHA256.hash(data: Data(verifier.utf8))))
        let query = Self.form([
            ("response_type", "code"), ("client_id", configuration.clientID),
            ("redirect_uri", redirect), ("scope", "openid profile email"), ("state", state),
            ("nonce", nonce), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
        return metadata.authorization + (metadata.authorization.contains("?") ? "&" : "?") + query
    }

    /// Returns who signed in, by the code that the browser brought.
    func token(
        for code: String, redirect: String, nonce: String, verifier: String,
        from address: CountedAddress
    ) async throws -> IDToken {
        guard code.utf8.count <= Self.mostCodeBytes else { throw Failure("the code is too long") }
        return try await turn(of: address) {
            let metadata = try await self.metadata()
            let text = try await self.idToken(
                for: code, redirect: redirect, verifier: verifier, at: metadata.token)
            let keys = try await self.keys(at: metadata.keys, with: Self.keyID(of: text))
            do {
                return try IDToken(
                    text, signedBy: keys, of: self.configuration.issuer,
                    for: self.configuration.clientID, nonce: nonce, at: self.time.now())
            } catch {
                throw Failure("the provider's token is refused: \(error)")
            }
        }
    }

    private func idToken(
        for code: String, redirect: String, verifier: String, at url: String
    ) async throws -> String {
        var fields = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ]
        var headers = ["Content-Type": "application/x-www-form-urlencoded"]
        if let secret = configuration.clientSecret {
            let pair = "\(Self.escaped(configuration.clientID)):\(Self.escaped(secret))"
            headers["Authorization"] = "Basic \(Data(pair.utf8).base64EncodedString())"
        } else {
            fields.append(("client_id", configuration.clientID))
        }
        let answer = try await object(
            ProviderRequest(url: url, form: Array(Self.form(fields).utf8), headers: headers))
        guard let token = answer["id_token"] as? String else {
            throw Failure("the provider gave no id_token for the code")
        }
        return token
    }

    private func metadata() async throws -> Metadata {
        let now = time.elapsed()
        if let known = state.withLock({ $0.metadata }), now - known.at < Self.memory {
            return known.value
        }
        let issuer = configuration.issuer
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let answer = try await object(
            ProviderRequest(url: base + "/.well-known/openid-configuration"))
        guard answer["issuer"] as? String == issuer else {
            throw Failure("the provider at '\(issuer)' names another issuer")
        }
        func url(_ name: String) throws -> String {
            // Only a provider on this machine may have its endpoints there, and in the clear.
            guard let url = answer[name] as? String, Self.isSafe(url),
                url.hasPrefix("https:") || issuer.hasPrefix("http:")
            else { throw Failure("the provider's '\(name)' is not an https URL") }
            return url
        }
        let metadata = Metadata(
            authorization: try url("authorization_endpoint"), token: try url("token_endpoint"),
            keys: try url("jwks_uri"))
        state.withLock { $0.metadata = (metadata, now) }
        return metadata
    }

    /// Returns the provider's keys: those that are remembered, unless the one that is named is not among
    /// them.
    private func keys(at url: String, with keyID: String?) async throws -> SigningKeys {
        let now = time.elapsed()
        if let known = state.withLock({ $0.keys }) {
            let age = now - known.at
            let isEnough = age < Self.memory && known.value.has(keyID)
            if isEnough || age < Self.leastPause { return known.value }
        }
        guard let keys = SigningKeys(try await transport(ProviderRequest(url: url))) else {
            throw Failure("the provider's keys cannot be read")
        }
        state.withLock { $0.keys = (keys, now) }
        return keys
    }

    private func object(_ request: ProviderRequest) async throws -> [String: Any] {
        let bytes = try await transport(request)
        guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        else { throw Failure("the provider's answer is not a JSON object") }
        return object
    }

    /// Runs what asks the provider, unless too many wait for it already, or too many of the address.
    private func turn<Value: Sendable>(
        of origin: CountedAddress, _ body: () async throws -> Value
    ) async throws -> Value {
        let address = origin.sharing
        try state.withLock { state in
            let alike = address.flatMap { state.waitingByAddress[$0] } ?? 0
            guard state.waiting < Self.mostWaiting, alike < Self.mostWaitingPerAddress else {
                throw WireError(
                    .tryAgainLater, "many sign-ins wait for the provider already", retryAfter: 5)
            }
            state.waiting += 1
            if let address { state.waitingByAddress[address] = alike + 1 }
        }
        defer {
            state.withLock { state in
                state.waiting -= 1
                if let address, let alike = state.waitingByAddress[address] {
                    state.waitingByAddress[address] = alike > 1 ? alike - 1 : nil
                }
            }
        }
        return try await body()
    }

    private static func keyID(of token: String) -> String? {
        guard let bytes = Base64URL.bytes(token.prefix { $0 != "." }),
            let head = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        else { return nil }
        return head["kid"] as? String
    }

    /// Whether nobody between this machine and the place of a URL reads along.
    static func isSafe(_ url: String) -> Bool {
        guard let origin = AppSignIn.origin(of: url) else { return false }
        return origin.hasPrefix("https:") || AppSignIn.isOfThisMachine(origin)
    }

    private static func form(_ fields: [(String, String)]) -> String {
        fields.map { "\($0)=\(escaped($1))" }.joined(separator: "&")
    }

    /// A text as part of a form.
    private static func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}
