// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The key of a zone's encrypted fields as the store keeps it: wrapped by the server's root
/// key, which the store does not have.
package struct WrappedKey: Sendable, Hashable {
    package var bytes: [UInt8]

    /// Creates a value.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// What the store knows of the key of a zone's encrypted fields.
package enum StoredZoneKey: Sendable, Hashable {
    /// No field of the zone was ever encrypted.
    case none
    case wrapped(WrappedKey)
    /// There are encrypted fields, and their key is gone.
    case lost
}

/// The key of a zone's encrypted fields cannot be opened: it is damaged, or another zone's or
/// root key's.
package struct UnreadableZoneKey: Error {
    /// Creates a value.
    package init() {}
}

/// Encrypts the fields that apps want encrypted (REC-11), with a key for each zone.
///
/// What is encrypted is bound to its zone and record: moved to another one, it cannot be
/// opened.
package protocol FieldCipher: Sendable {
    /// Identifies the root key that wraps the zone keys.
    var rootKeyID: String { get }
    /// Makes the key of a zone; nil where fields are kept as they are.
    func makeKey(of zone: ZoneKey) throws -> WrappedKey?
    /// Encrypts what belongs to a record.
    func seal(
        _ bytes: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8]
    /// Decrypts what belongs to a record; fails when it was made for another one, under
    /// another key, or changed.
    func open(
        _ sealed: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8]
}

/// Keeps fields as they are: for rules that are looked at without a server. Every server
/// has a root key.
package struct NoFieldCipher: FieldCipher {
    /// Creates a value.
    package init() {}

    /// Empty.
    package var rootKeyID: String { "" }

    /// Returns nil.
    package func makeKey(of zone: ZoneKey) -> WrappedKey? { nil }

    /// Fails: there is no key that this could be under.
    package func seal(
        _ bytes: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8] {
        throw WireError(.internalError, "this server has no root key to encrypt fields with")
    }

    /// Fails: there is no key that this could be under.
    package func open(
        _ sealed: [UInt8], ofRecord name: String, in zone: ZoneKey, under key: WrappedKey
    ) throws -> [UInt8] {
        throw WireError(.internalError, "this server has no root key to decrypt fields with")
    }
}
