// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLTransaction {
    package func putAddress(_ address: StoredAddress) throws {
        guard let stored = address.address.stored else { return }
        hasQuietChange = true
        try connection.run(
            """
            INSERT INTO account_address (kind, address, account, verified) VALUES (?, ?, ?, ?)
            ON CONFLICT (kind, address) DO UPDATE SET account = excluded.account,
                verified = excluded.verified
            """,
            stored.kind, stored.text, address.account, address.isVerified
        )
    }

    package func removeAddress(_ address: UserLookup) throws {
        guard let stored = address.stored else { return }
        hasQuietChange = true
        try connection.run(
            "DELETE FROM account_address WHERE kind = ? AND address = ?",
            stored.kind, stored.text
        )
    }
}
