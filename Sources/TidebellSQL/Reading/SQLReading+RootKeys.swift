// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func nextRootKeyID() throws -> String? {
        try connection.first("SELECT next_root_key FROM store") { $0.optionalText(0) } ?? nil
    }

    package func zoneKeys(
        wrappedBy rootKeyID: String, after zone: ZoneKey?, limit: Int
    ) throws -> [WrappedZoneKey] {
        try connection.rows(
            """
            SELECT zone, wrapped FROM zone_key WHERE root_key = ? AND zone > ?
            ORDER BY zone LIMIT ?
            """,
            rootKeyID, zone ?? ZoneKey(rawValue: .min), limit
        ) { WrappedZoneKey(zone: try $0.value(0), key: WrappedKey($0.bytes(1))) }
    }

    package func files(
        wrappedBy rootKeyID: String, after content: AssetContent?, limit: Int
    ) throws -> [StoredAsset] {
        // Without a name it is the store's root key.
        try connection.rows(
            """
            SELECT content, file, size, checksum, key FROM asset
            WHERE key IS NOT NULL AND content > ?
                AND ifnull(asset.root_key, (SELECT root_key FROM store)) = ?
            ORDER BY content LIMIT ?
            """,
            content ?? AssetContent(rawValue: ""), rootKeyID, limit
        ) {
            StoredAsset(
                content: try $0.value(0), file: $0.text(1), size: $0.int(2), checksum: $0.text(3),
                key: $0.optionalBytes(4)
            )
        }
    }

    package func keptAnswers(after number: Int64?, limit: Int) throws -> [NumberedAnswer] {
        try connection.rows(
            """
            SELECT number, user, client_id, request_id, fingerprint, body FROM kept_answer
            WHERE number > ? ORDER BY number LIMIT ?
            """,
            number ?? .min, limit
        ) {
            NumberedAnswer(
                number: $0.int(0),
                write: WriteID(
                    user: try $0.value(1), clientID: $0.text(2), requestID: $0.text(3)),
                answer: KeptAnswer(fingerprint: $0.bytes(4), body: $0.bytes(5))
            )
        }
    }
}
