// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func signIn(named name: String) throws -> StoredSignIn? {
        try connection.first(
            "SELECT id, disabled, password FROM account WHERE name = ?", name
        ) {
            StoredSignIn(
                account: try $0.value(0), isDisabled: $0.bool(1), password: $0.optionalText(2)
            )
        }
    }

    /// Whether an account is disabled; nil where there is none.
    package func isDisabled(_ account: AccountID) throws -> Bool? {
        try connection.first("SELECT disabled FROM account WHERE id = ?", account) { $0.bool(0) }
    }

    package func accountName(identifiedBy identity: ForeignIdentity) throws -> String? {
        try connection.first(
            """
            SELECT account.name
            FROM account_identity CROSS JOIN account ON account.id = account_identity.account
            WHERE issuer = ? AND subject = ?
            """,
            identity.issuer, identity.subject
        ) { $0.text(0) }
    }

    package func accounts() throws -> [NamedAccount] {
        try connection.rows("SELECT id, name, disabled FROM account ORDER BY name") {
            NamedAccount(account: try $0.value(0), name: $0.text(1), isDisabled: $0.bool(2))
        }
    }

    package func accountNames(_ ids: Set<AccountID>) throws -> [AccountID: String] {
        guard !ids.isEmpty else { return [:] }
        let names: [(AccountID, String)] = try connection.rows(
            """
            SELECT account.id, account.name
            FROM json_each(?) AS wanted CROSS JOIN account ON account.id = wanted.value
            """,
            SQLList(ids.map(\.rawValue))
        ) { (try $0.value(0), $0.text(1)) }
        return Dictionary(names) { first, _ in first }
    }
}
