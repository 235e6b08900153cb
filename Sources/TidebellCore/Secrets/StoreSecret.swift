// SPDX-License-Identifier: Apache-2.0

/// The one secret of a store: random, made once, kept with the data and the same for whoever
/// serves it. All keys that the cloud makes and checks by itself are derived from it by name.
///
/// It protects from outsiders, not from who has the store: what is to be safe from those is
/// encrypted under the root key (``FieldCipher``), which can be kept elsewhere.
package struct StoreSecret: Sendable, Hashable {
    /// Bytes of a secret.
    package static let length = KeyDerivation.length

    /// What keys are derived from: ``length`` random bytes.
    package let root: [UInt8]
    /// The key of a store from before version 8, which made device IDs and sealed links; nil
    /// for a store that never had one.
    ///
    /// Records hold device IDs that it made, so it goes on making them; for all else there
    /// are new keys.
    package let inherited: [UInt8]?

    /// Creates a secret; both have ``length`` bytes.
    package init(root: [UInt8], inherited: [UInt8]? = nil) {
        precondition(root.count == Self.length, "a store's secret has \(Self.length) bytes")
        self.root = root
        self.inherited = inherited
    }

    /// Returns the key for a purpose: the same as long as the store lives.
    package func key(_ name: SecretKeyName) -> [UInt8] {
        if name == .deviceIDs, let inherited { return inherited }
        return KeyDerivation.key(named: "tidebell store \(name.rawValue) 1", of: root)
    }
}

extension StoreSecret: CustomStringConvertible, CustomDebugStringConvertible {
    /// Nothing of the secret: it must not stand in a log.
    package var description: String { "a store's secret" }
    /// The same.
    package var debugDescription: String { description }
}
