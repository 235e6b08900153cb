// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
    package func storeSecret() throws -> StoreSecret? {
        try connection.first("SELECT root, inherited FROM store_secret WHERE id = 1") { columns in
            let (root, inherited) = (columns.bytes(0), columns.optionalBytes(1))
            guard root.count == StoreSecret.length, inherited?.count ?? root.count == root.count
            else {
                throw connection.damage(
                    "the store's secret has another length than it was made with")
            }
            return StoreSecret(root: root, inherited: inherited)
        }
    }
}
