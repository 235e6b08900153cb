// SPDX-License-Identifier: Apache-2.0

extension CKRecordZone {
    /// What a zone supports (ZONE-3).
    ///
    /// The default zone has no capabilities; custom zones of a private database have all of them.
    public struct Capabilities: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: UInt

        /// Creates a set from raw bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Changes since a token can be fetched.
        public static let fetchChanges = Capabilities(rawValue: 1)

        /// Records can be saved atomically.
        public static let atomic = Capabilities(rawValue: 2)

        /// Record hierarchies can be shared.
        public static let sharing = Capabilities(rawValue: 4)

        /// The zone can be shared as a whole.
        public static let zoneWideSharing = Capabilities(rawValue: 8)
    }

    /// Whether records or the zone have the keys of encrypted fields (ZONE-10).
    public enum EncryptionScope: Int, Sendable {
        /// Each record has its own keys.
        case perRecord = 0
        /// The zone has the keys; only the whole zone can be shared.
        case perZone = 1
    }
}
