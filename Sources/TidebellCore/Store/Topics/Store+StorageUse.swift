// SPDX-License-Identifier: Apache-2.0

/// What databases and accounts take.
package protocol StorageUseReading {
    /// What the private databases of an account's users take together.
    func privateUse(of account: AccountID) throws -> StorageUse

    /// What every account, by name, and every container's public database takes.
    func storageUses() throws -> [NamedStorageUse]
}
