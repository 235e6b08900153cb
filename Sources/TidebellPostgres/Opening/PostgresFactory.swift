// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellCore
import TidebellPostgresClient
package import TidebellScheduling

/// Keeps the store in a database of PostgreSQL; the data folder has the rest of the cloud.
package struct PostgresFactory: StoreFactory, CustomStringConvertible {
    private let address: PostgresAddress
    private let node: NodeName?
    private let losslessFailover: Bool
    private let readers: Int

    /// Creates a factory of stores at an address; fails where that is none.
    ///
    /// - Parameters:
    ///   - address: A URI (`postgres://user@host/database`) or a list of libpq's
    ///     (`host=… dbname=…`). What it does not say comes from `PGHOST`, `PGPASSFILE`, service files
    ///     and so on.
    ///   - node: What this server is called among those that share the database; nil for one that is alone.
    ///   - losslessFailover: Whether a standby that is promoted has every acknowledged write.
    ///   - readers: Connections that read at the same time, beside those that write.
    package init(
        _ address: String, as node: NodeName? = nil, losslessFailover: Bool = false,
        readers: Int = 8
    ) throws {
        self.address = try PostgresAddress(address)
        self.node = node
        self.losslessFailover = losslessFailover
        self.readers = readers
    }

    /// Where the database is, without a password.
    package var description: String { address.description }

    package var isInDataFolder: Bool { false }

    package func open(
        in folder: URL, for purpose: StorePurpose, bounds: StoreBounds, time: Time,
        randomness: Randomness
    ) throws(StoreOpenError) -> any OpenedStore {
        // For the root key and the files of records.
        if purpose == .serving {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            } catch {
                throw .unwritable(path: folder.path, reason: error.localizedDescription)
            }
        }
        func open(
            _ address: PostgresAddress, _ cell: CellNumber
        ) throws(StoreOpenError) -> PostgresStore {
            try PostgresStore.open(
                at: address, for: purpose, as: node, losslessFailover: losslessFailover,
                bounds: bounds, readers: readers, time: time, randomness: randomness, cell: cell)
        }
        return try CellStore.open(
            at: address, open, mending: purpose == .serving, bounds: bounds, time: time)
    }
}
