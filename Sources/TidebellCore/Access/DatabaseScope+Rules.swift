// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// In what CloudKit's databases differ: a rule asks for what it is about, never which
/// database it is.
extension DatabaseScope {
    /// Whether there is a default zone that nobody had to create (ZONE-1).
    package var hasDefaultZone: Bool { self != .shared }

    /// Whether its zones are other users', which they shared (SHARE-17).
    package var holdsZonesOfOthers: Bool { self == .shared }

    /// Whether zones are created and deleted in it (ZONE-2).
    var createsZones: Bool { self == .private }

    /// Whether it has a history that sync tokens are points of (TOK-4).
    var tracksChanges: Bool { self != .public }

    /// Whether a query may name no zone (QUERY-12).
    var isQueriedAcrossZones: Bool { self != .shared }

    /// Whether values may be stored encrypted (REC-11).
    var storesEncryptedValues: Bool { self != .public }

    /// Whether answers carry an asset's wrapping key and reference checksum
    /// (web-services 4.4).
    var wrapsAssets: Bool { self != .public }

    /// Whether everybody may create records, and so refer to records of others: there no
    /// reference keeps a record from being deleted, or takes one along beyond a limit that
    /// would keep it.
    var isOpenToEverybody: Bool { self == .public }
}
