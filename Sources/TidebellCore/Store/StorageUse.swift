// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What living records and custom zones take, as quotas count it (ACCT-9).
///
/// A record counts its name, its type, its fields as stored, a fixed sum for all else,
/// and every file it holds, whoever else holds the same file: so what a record counts
/// does not depend on others, and its deletion gives back just that. A custom zone counts
/// a fixed sum, so that nobody fills a store with empty ones.
package struct StorageUse: Sendable, Hashable {
    package var bytes: Int64
    package var records: Int

    /// Creates a use, or a change of one.
    package init(bytes: Int64 = 0, records: Int = 0) {
        self.bytes = bytes
        self.records = records
    }

    /// Nothing.
    package static let zero = StorageUse()

    package static func + (left: StorageUse, right: StorageUse) -> StorageUse {
        StorageUse(bytes: left.bytes + right.bytes, records: left.records + right.records)
    }

    package static func - (left: StorageUse, right: StorageUse) -> StorageUse {
        StorageUse(bytes: left.bytes - right.bytes, records: left.records - right.records)
    }
}

/// What a person or a container's public database takes.
package struct NamedStorageUse: Sendable, Hashable {
    /// Who it counts for.
    package enum Owner: Sendable, Hashable {
        /// A person, by the name of the account.
        case account(String)
        case container(ContainerKey)
    }

    package var owner: Owner
    package var use: StorageUse

    /// Creates a value.
    package init(_ owner: Owner, _ use: StorageUse) {
        self.owner = owner
        self.use = use
    }
}

extension StoredZone {
    /// What a custom zone takes beside its records: its row, its name and the entries of
    /// indexes.
    package static let overhead: Int64 = 512
}

extension StoredRecord {
    /// What a record takes beside its name, type, fields and files: stamps, position and
    /// the entries of indexes.
    package static let overhead = 128

    /// What the record takes when it is written with these files.
    package func measuredSize(withFiles bytes: Int64) -> Int64 {
        Int64(Self.overhead + name.utf8.count + type.utf8.count + fields.json.count) + bytes
    }

    /// What the living record takes; one that is not stored, such as that of a user
    /// before it is first saved, takes nothing.
    var use: StorageUse { StorageUse(bytes: size, records: size > 0 ? 1 : 0) }
}
