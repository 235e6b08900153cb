// SPDX-License-Identifier: Apache-2.0
package import Crypto
import Foundation
import Synchronization
package import TidebellCore
import TidebellWire

/// The key that all others hang on: it wraps the keys of zones and of files, and encrypts
/// the answers that are kept for a while. None of it is in the store.
///
/// Each use has a key of its own, derived from the root (HKDF-SHA-256), so that nothing
/// made for one can be opened as another.
package final class RootKey: FieldCipher {
    /// Bytes of a root key, and of every key it wraps.
    package static let length = KeyDerivation.length
    /// Bytes of ``rootKeyID`` before they are written in digits.
    private static let idLength = 8
    /// The most keys of zones that are held unwrapped; beyond, all are let go.
    private static let unwrappedKeys = 1024

    /// Distinguishes this root key from others, and reveals nothing of the key itself.
    package let rootKeyID: String

    private let zoneWrapping: SymmetricKey
    private let fileWrapping: SymmetricKey
    private let answers: SymmetricKey
    private let fingerprints: SymmetricKey
    private let unwrapped = Mutex<[KeyOfZone: SymmetricKey]>([:])

    /// A wrapped key is the key of its one zone only.
    private struct KeyOfZone: Hashable {
        var zone: ZoneKey
        var key: WrappedKey
    }

    /// Creates the key of ``length`` random bytes.
    package init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.length, "a root key has \(Self.length) bytes")
        func derived(_ use: String, _ length: Int = RootKey.length) -> [UInt8] {
            KeyDerivation.key(named: "tidebell \(use) 1", of: bytes, length: length)
        }
        zoneWrapping = SymmetricKey(data: derived("zone keys"))
        fileWrapping = SymmetricKey(data: derived("file keys"))
        answers = SymmetricKey(data: derived("kept answers"))
        fingerprints = SymmetricKey(data: derived("fingerprints"))
        rootKeyID = Hex.text(derived("name", Self.idLength))
    }

    // MARK: Fields

    package func makeKey(of zone: ZoneKey) throws -> WrappedKey? {
        try wrapped(SymmetricKey(size: .bits256), of: zone)
    }

    package func seal(
        _ bytes: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8] {
        try seal(
            bytes, by: try zoneKey(key, of: zone), for: Self.label(ofRecord: name, in: zone)
        )
    }

    package func open(
        _ sealed: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8] {
        try open(
            sealed, by: try zoneKey(key, of: zone), for: Self.label(ofRecord: name, in: zone)
        )
    }

    /// Returns the key of a zone; nil where it is damaged or another root key's.
    package func unwrapped(_ key: WrappedKey, of zone: ZoneKey) -> SymmetricKey? {
        try? unwrap(key.bytes, by: zoneWrapping, for: Self.label(of: zone))
    }

    /// Wraps the key of a zone.
    func wrapped(_ key: SymmetricKey, of zone: ZoneKey) throws -> WrappedKey {
        WrappedKey(try wrap(key, by: zoneWrapping, for: Self.label(of: zone)))
    }

    private func zoneKey(_ key: WrappedKey, of zone: ZoneKey) throws -> SymmetricKey {
        let cacheKey = KeyOfZone(zone: zone, key: key)
        if let known = unwrapped.withLock({ $0[cacheKey] }) { return known }
        guard let opened = unwrapped(key, of: zone) else { throw UnreadableZoneKey() }
        unwrapped.withLock { keys in
            if keys.count >= Self.unwrappedKeys { keys.removeAll() }
            keys[cacheKey] = opened
        }
        return opened
    }

    private static func label(of zone: ZoneKey) -> [UInt8] { Array("zone \(zone.rawValue)".utf8) }

    private static func label(ofRecord name: String, in zone: ZoneKey) -> [UInt8] {
        label(of: zone) + Array(" record \(name)".utf8)
    }

    // MARK: Files

    /// Makes the key of a file and returns it with its wrapped form, which is for the store.
    package func makeFileKey(
        of file: String
    ) throws -> (key: SymmetricKey, wrapped: [UInt8]) {
        let key = SymmetricKey(size: .bits256)
        return (key, try wrapped(key, ofFile: file))
    }

    /// Wraps the key of a file.
    func wrapped(_ key: SymmetricKey, ofFile name: String) throws -> [UInt8] {
        try wrap(key, by: fileWrapping, for: Array(name.utf8))
    }

    /// Returns the key of a file; fails for one that was wrapped by another root key.
    package func fileKey(_ wrapped: [UInt8], of file: String) throws -> SymmetricKey {
        try unwrap(wrapped, by: fileWrapping, for: Array(file.utf8))
    }

    // MARK: Kept answers

    /// What sealed bytes begin with, and no JSON does.
    private static let sealedAnswer: UInt8 = 1

    /// Whether a kept body is encrypted.
    static func isSealed(answer body: [UInt8]) -> Bool { body.first == sealedAnswer }

    /// Returns the body of an answer as it is kept: encrypted, as it may show what is
    /// encrypted elsewhere.
    func sealed(answer body: [UInt8], to write: WriteID) throws -> [UInt8] {
        [Self.sealedAnswer] + (try seal(body, by: answers, for: Self.label(of: write)))
    }

    /// Returns the body of a kept answer; older ones are not encrypted.
    func opened(answer body: [UInt8], to write: WriteID) throws -> [UInt8] {
        guard Self.isSealed(answer: body) else { return body }
        return try open(Array(body.dropFirst()), by: answers, for: Self.label(of: write))
    }

    /// Returns what distinguishes a request from others without revealing what is in it:
    /// whoever has the store cannot try values against it.
    func fingerprint(ofDigest digest: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: digest, using: fingerprints))
    }

    private static func label(of write: WriteID) -> [UInt8] {
        Array("\(write.user.rawValue)\u{0}\(write.clientID)\u{0}\(write.requestID)".utf8)
    }

    // MARK: -

    private func wrap(
        _ key: SymmetricKey, by wrapping: SymmetricKey, for label: [UInt8]
    ) throws -> [UInt8] {
        try seal(key.withUnsafeBytes { Array($0) }, by: wrapping, for: label)
    }

    private func unwrap(
        _ wrapped: [UInt8], by wrapping: SymmetricKey, for label: [UInt8]
    ) throws -> SymmetricKey {
        SymmetricKey(data: try open(wrapped, by: wrapping, for: label))
    }

    private func seal(
        _ bytes: [UInt8], by key: SymmetricKey, for label: [UInt8]
    ) throws -> [UInt8] {
        // A nonce of its own, at random.
        let box = try AES.GCM.seal(bytes, using: key, authenticating: label)
        return Array(box.nonce) + box.ciphertext + box.tag
    }

    private func open(
        _ sealed: [UInt8], by key: SymmetricKey, for label: [UInt8]
    ) throws -> [UInt8] {
        Array(
            try AES.GCM.open(
                try AES.GCM.SealedBox(combined: sealed), using: key, authenticating: label
            )
        )
    }
}
