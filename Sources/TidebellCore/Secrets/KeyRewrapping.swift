// SPDX-License-Identifier: Apache-2.0

/// Takes keys and answers from under one root key to under another one. The keys themselves
/// stay as they are, and with them all that they encrypt.
///
/// Each call returns nil for what the first root key does not open: it is damaged.
package protocol KeyRewrapping: Sendable {
    /// Identifies the root key that there was.
    var oldID: String { get }
    /// Identifies the root key that is to be.
    var newID: String { get }

    /// Wraps the key of a zone anew.
    func rewrapped(_ key: WrappedKey, of zone: ZoneKey) throws -> WrappedKey?
    /// Wraps the key of a file anew.
    func rewrapped(_ key: [UInt8], ofFile name: String) throws -> [UInt8]?
    /// Encrypts a kept answer anew; its fingerprint, which cannot be made again, goes.
    func resealed(_ answer: KeptAnswer, to write: WriteID) throws -> KeptAnswer?
}
