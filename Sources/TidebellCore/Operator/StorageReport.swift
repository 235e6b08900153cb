// SPDX-License-Identifier: Apache-2.0

/// Reports what is stored, as quotas count it.
package enum StorageReport {
    /// Returns what every user, by name, and every container's public database holds; who holds
    /// nothing is left out.
    package static func run(in reader: some StorageUseReading) throws -> [NamedStorageUse] {
        try reader.storageUses()
    }
}
