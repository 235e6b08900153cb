// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import Foundation
import TidebellCore
import TidebellWire

/// What an identity provider says about somebody who signed in (OpenID Connect Core, 2 and 3.1.3.7).
struct IDToken: Sendable, Hashable {
    /// The most bytes of one.
    static let mostBytes = 16 * 1024
    /// How far the clocks of provider and server may differ.
    static let skew = Duration.seconds(60)

    /// Why one is not taken; for the log, since it is nobody's fault who sees the page.
    struct Refused: Error, Hashable, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Who it is about.
    var identity: ForeignIdentity
    /// What they may be called, the best first.
    var names: [String]

    /// Checks a token and reads it.
    ///
    /// - Parameters:
    ///   - text: The token as it came.
    ///   - keys: The provider's.
    ///   - issuer: The provider.
    ///   - clientID: What this server is to the provider.
    ///   - nonce: What was sent along when the sign-in began in this browser.
    init(
        _ text: String, signedBy keys: SigningKeys, of issuer: String, for clientID: String,
        nonce: String, at now: Instant
    ) throws(Refused) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.mostBytes, parts.count == 3,
            let head = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.bytes(String(parts[2]))
        else { throw Refused("it is no token of three parts, at most \(Self.mostBytes) bytes") }
        guard head["crit"] == nil else { throw Refused("it asks for what is not known here") }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        guard
            keys.verify(
                signature, of: signed, algorithm: head["alg"] as? String,
                keyID: head["kid"] as? String)
        else { throw Refused("its signature is none of the provider's, by RS256 or ES256") }
        guard claims["iss"] as? String == issuer else { throw Refused("it is of another issuer") }
        let audiences =
            claims["aud"] as? [String] ?? (claims["aud"] as? String).map { [$0] } ?? []
        guard audiences.contains(clientID) else { throw Refused("it is for another program") }
        let party = claims["azp"] as? String
        guard party == clientID || (party == nil && audiences.count == 1) else {
            throw Refused("it was given to another program")
        }
        let seconds = Double(now.rawValue) / 1000
        let skew = Self.skew / .seconds(1)
        guard let expiry = Self.number(claims["exp"]), expiry + skew > seconds else {
            throw Refused("its time is over")
        }
        guard let issued = Self.number(claims["iat"]), issued - skew < seconds else {
            throw Refused("it is not good yet")
        }
        if claims["nbf"] != nil {
            guard let start = Self.number(claims["nbf"]), start - skew < seconds else {
                throw Refused("it is not good yet")
            }
        }
        // Hashes are compared, so that the time tells nothing.
        guard let echoed = claims["nonce"] as? String, Secret.hash(echoed) == Secret.hash(nonce)
        else { throw Refused("it is of another sign-in") }
        guard let subject = claims["sub"] as? String,
            (1...ForeignIdentity.mostBytes).contains(subject.utf8.count)
        else { throw Refused("it names nobody") }
        identity = ForeignIdentity(issuer: issuer, subject: subject)
        names = ["preferred_username", "nickname", "email", "name"].compactMap {
            claims[$0] as? String
        }
    }

    private static func object(_ part: Substring) -> [String: Any]? {
        guard let bytes = Base64URL.bytes(String(part)) else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }

    private static func number(_ value: Any?) -> Double? {
        guard let number = value as? Double, number.isFinite else { return nil }
        return number
    }
}

/// The public keys that a provider signs with (RFC 7517).
struct SigningKeys: Sendable {
    /// The most keys of a provider that are looked at.
    private static let mostKeys = 50
    /// The fewest bits of an RSA key.
    private static let fewestBits = 2048

    private enum Key: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    private var keys: [(id: String?, key: Key)] = []

    /// Reads what a provider answers at its `jwks_uri`; keys of other kinds are left out.
    init?(_ json: [UInt8]) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any],
            let list = object["keys"] as? [[String: Any]]
        else { return nil }
        for key in list.prefix(Self.mostKeys) where key["use"] as? String ?? "sig" == "sig" {
            guard let read = Self.key(key) else { continue }
            keys.append((key["kid"] as? String, read))
        }
    }

    /// Whether there is a key that a token names.
    func has(_ keyID: String?) -> Bool {
        keys.contains { keyID == nil || $0.id == nil || $0.id == keyID }
    }

    /// Whether a signature is one of them, by the algorithm of its kind: the token does not choose
    /// another.
    func verify(
        _ signature: [UInt8], of signed: Data, algorithm: String?, keyID: String?
    ) -> Bool {
        keys.contains { id, key in
            guard keyID == nil || id == nil || id == keyID else { return false }
            switch (key, algorithm) {
            case (.rsa(let key), "RS256"):
                return key.isValidSignature(
                    _RSA.Signing.RSASignature(rawRepresentation: Data(signature)),
                    for: SHA256.hash(data: signed), padding: .insecurePKCS1v1_5)
            case (.p256(let key), "ES256"):
                guard
                    let signature = try? P256.Signing.ECDSASignature(
                        rawRepresentation: Data(signature))
                else { return false }
                return key.isValidSignature(signature, for: signed)
            default: return false
            }
        }
    }

    private static func key(_ key: [String: Any]) -> Key? {
        func bytes(_ name: String) -> [UInt8]? {
            (key[name] as? String).flatMap { Base64URL.bytes($0) }
        }
        switch key["kty"] as? String {
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e"),
                modulus.drop(while: { $0 == 0 }).count * 8 >= fewestBits,
                let key = try? _RSA.Signing.PublicKey(n: Data(modulus), e: Data(exponent))
            else { return nil }
            return .rsa(key)
        case "EC":
            guard key["crv"] as? String == "P-256", let x = bytes("x"), let y = bytes("y"),
                x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
            else { return nil }
            return .p256(key)
        default: return nil
        }
    }
}
