// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes
import TidebellCore
import TidebellScheduling
import TidebellWire

/// What a program shows of its server-to-server key: the signature of one request
/// (web-services 2.3).
struct RequestSignature: Sendable {
    /// How far the date of a request may be from the server's clock, both ways.
    static let clockWindow = Duration.seconds(10 * 60)
    /// The most bytes of a date, or of a signature in base64, that are looked at.
    private static let mostBytes = 200

    /// The ID of the key, as the client wrote it.
    let keyID: String
    /// When the request was made, as it was signed.
    private let date: String
    private let signature: P256.Signing.ECDSASignature

    /// Reads the fields of a request; nil for one that names no key. Fails with
    /// `AUTHENTICATION_FAILED` for what cannot be a signature, or one of now.
    init?(of request: WebRequest, at now: Instant) throws {
        guard let keyID = request.headers[.requestKeyID] else { return nil }
        let date = try Self.field(.requestDate, of: request)
        let text = try Self.field(.requestSignature, of: request)
        guard let moment = Self.moment(date) else {
            throw WireError.badSignature(
                "the date '\(WireError.shortened(date))' is not of the form 2026-01-31T23:59:59Z")
        }
        guard abs(moment - Double(now.rawValue)) <= Self.clockWindow.milliseconds else {
            throw WireError.badSignature(
                "the date '\(WireError.shortened(date))' is more than ten minutes from the server's"
            )
        }
        guard let bytes = Data(base64Encoded: text),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: bytes)
        else {
            throw WireError.badSignature("the signature is not ASN.1 DER of ECDSA in base64")
        }
        self.keyID = keyID
        self.date = date
        self.signature = signature
    }

    /// Returns what distinguishes this signature from others of the key, if the key made it for the
    /// request; fails with `AUTHENTICATION_FAILED` otherwise.
    ///
    /// Clients sign the path with or without the query, and some have an empty text as the hash of an
    /// empty body. What is signed and half of the signature are the same however the signature is
    /// written: whoever has one can write another one of the other half, `-s` for `s`.
    ///
    /// - Parameters:
    ///   - prefix: What clients have before the path, where a proxy takes it away: some sign that, too.
    ///   - publicKey: A point of P-256 in 65 bytes (X9.63).
    func identity(
        of target: String, below prefix: String = "", body: [UInt8], by publicKey: [UInt8]
    ) throws -> String {
        let key = try P256.Signing.PublicKey(x963Representation: publicKey)
        let path = target.prefix { $0 != "?" }
        let hash = Data(SHA256.hash(data: body)).base64EncodedString()
        var subpaths = path.count == target.count ? [target] : [target, String(path)]
        if !prefix.isEmpty { subpaths += subpaths.map { prefix + $0 } }
        for subpath in subpaths {
            for bodyHash in body.isEmpty ? [hash, ""] : [hash] {
                let digest = SHA256.hash(data: Array("\(date):\(bodyHash):\(subpath)".utf8))
                guard key.isValidSignature(signature, for: digest) else { continue }
                let half = signature.rawRepresentation.prefix(32)
                return Hex.text(Array(SHA256.hash(data: Array(digest) + half)))
            }
        }
        throw WireError.badSignature("it is not of this key, date, path and body")
    }

    private static func field(_ name: HTTPField.Name, of request: WebRequest) throws -> String {
        guard let value = request.headers[name] else {
            throw WireError.badSignature("it has no header '\(name)'")
        }
        guard value.utf8.count <= mostBytes else {
            throw WireError.badSignature("the header '\(name)' is longer than \(mostBytes) bytes")
        }
        return value
    }

    /// Milliseconds since 1970; nil for what is no date. Fractions are read though none is documented.
    private static func moment(_ text: String) -> Double? {
        let date =
            (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        return date.map { $0.timeIntervalSince1970 * 1000 }
    }
}

extension Duration {
    fileprivate var milliseconds: Double { self / .milliseconds(1) }
}

extension WireError {
    /// The request is not signed as it has to be; all such have one code (web-services 2.3).
    static func badSignature(_ reason: String) -> WireError {
        WireError(.authenticationFailed, "the request's signature is not good: \(reason)")
    }

    /// No key of the container has this ID, or it ended.
    static func unknownServerKey(_ id: String, in container: ContainerKey) -> WireError {
        WireError(
            .authenticationFailed,
            "the server-to-server key '\(shortened(id))' is not known for container "
                + "'\(container.container)' (\(container.environment.rawValue))")
    }

    /// The database is closed to server-to-server keys.
    static let closedToServerKeys = WireError(
        .accessDenied,
        "a server-to-server key reaches the public database only, and no account")

    /// NB: what CloudKit answers a key that looks for users.
    static let noUsersForServerKeys = WireError(
        .authenticationFailed, "a server-to-server key cannot look for users")

    /// A request that changes something came a second time, and is not done again.
    static let repeatedSignature = WireError(
        .authenticationFailed,
        "the request was sent before: sign each one with a date of its own")
}
