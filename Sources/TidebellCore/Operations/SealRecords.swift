// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Encrypts what versions before 4 stored in clear text though apps wanted it encrypted
/// (REC-11). It shows nowhere: the records keep their tags and positions.
package enum SealRecords {
    /// Encrypts some records of one zone, at most `limit`; returns how many were looked at,
    /// 0 when none are left.
    package static func run(
        limit: Int, with cipher: any FieldCipher,
        in transaction: some RecordReading & FieldKeyWriting
    ) throws -> Int {
        guard let (zone, names) = try transaction.unsealedRecords(limit: limit) else { return 0 }
        guard let key = try key(of: zone, with: cipher, in: transaction) else { return 0 }
        let records = try transaction.records(names, in: zone.key)
        var sealed: [StoredRecord] = []
        // Those that were saved meanwhile are sealed, those that were deleted gone.
        for var record in records.values where !record.isDamaged && !record.fields.isSealed {
            let fields = try record.fields.decoded()
            guard fields.values.contains(where: \.isEncrypted) else { continue }
            do {
                record.fields = try RecordFields(sealing: fields) {
                    try cipher.seal($0, ofRecord: record.name, in: zone.key, under: key)
                }
            } catch is UnreadableZoneKey {
                throw WireError.unreadableKey(of: zone)
            }
            sealed.append(record)
        }
        try transaction.putSealed(sealed, in: zone.key)
        try transaction.removeUnsealed(names, in: zone.key)
        return names.count
    }

    private static func key(
        of zone: StoredZone, with cipher: any FieldCipher, in transaction: some FieldKeyWriting
    ) throws -> WrappedKey? {
        switch zone.fieldKey {
        case .wrapped(let key): return key
        case .lost: throw WireError.lostKey(of: zone)
        case .none:
            guard let key = try cipher.makeKey(of: zone.key) else { return nil }
            try transaction.putFieldKey(key, wrappedBy: cipher.rootKeyID, of: zone.key)
            return key
        }
    }
}
