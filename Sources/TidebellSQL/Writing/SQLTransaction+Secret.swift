// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func putStoreSecret(_ secret: StoreSecret) throws {
        hasQuietChange = true
        try connection.run(
            "INSERT INTO store_secret (id, root, inherited) VALUES (1, ?, ?)",
            secret.root, secret.inherited
        )
    }
}
