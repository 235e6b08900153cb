// SPDX-License-Identifier: Apache-2.0

/// The keys of encrypted fields, each wrapped by the root key, which the store never has.
package protocol FieldKeyReading {
    /// What identifies the root key that the store works with; nil before the first.
    func rootKeyID() throws -> String?

    /// Returns living zones with encrypted fields whose key is gone or is not wrapped by
    /// this root key, in the order of their keys; at most `limit`.
    func zonesWithoutFieldKey(wrappedBy rootKeyID: String, limit: Int) throws -> [StoredZone]

    /// Returns how much goes when what this root key does not open is given up
    /// (``ResetLostZones``, ``FieldKeyWriting/adoptRootKey(_:)``).
    func lossWithout(_ rootKeyID: String) throws -> KeyLoss

    /// Returns a zone that may have records with encrypted values in clear text, as
    /// versions before 4 stored them, and the names of some of those records; nil when
    /// there are none.
    func unsealedRecords(limit: Int) throws -> (zone: StoredZone, names: Set<String>)?
}

/// Keys of encrypted fields are noted, and what was stored in clear text is sealed.
package protocol FieldKeyWriting: FieldKeyReading {
    /// Notes the key of a zone's encrypted fields, and the root key it is wrapped by; the
    /// one before goes. Deleting the zone forgets it.
    func putFieldKey(_ key: WrappedKey, wrappedBy rootKeyID: String, of zone: ZoneKey) throws

    /// Notes which root key the store works with, and gives up a change of it that is under
    /// way. Files whose keys only another one opened are forgotten.
    func adoptRootKey(_ id: String) throws

    /// Replaces the fields of records at the position they have: nobody sees a change.
    func putSealed(_ records: [StoredRecord], in zone: ZoneKey) throws

    /// Takes records off those that ``FieldKeyReading/unsealedRecords(limit:)`` gives.
    func removeUnsealed(_ names: Set<String>, in zone: ZoneKey) throws
}
