// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TidebellSQLite

/// The folder that holds a cloud.
package struct DataFolder: Sendable {
    /// The folder with the files of records.
    private static let assetsName = "assets"
    /// The database inside.
    private static let databaseName = "tidebell.sqlite"

    private let url: URL

    /// Creates a description; nothing is touched yet.
    package init(_ url: URL) {
        self.url = url
    }

    /// Whether there is a cloud in the folder.
    package var hasStore: Bool {
        FileManager.default.fileExists(atPath: url.appendingPathComponent(Self.databaseName).path)
    }

    /// Opens the store, in a new folder if there is none. What the operator can
    /// put right fails with ``OperatorError``.
    package func openStore(for purpose: SQLiteStore.Purpose) throws -> SQLiteStore {
        do {
            return try SQLiteStore.open(
                at: url.appendingPathComponent(Self.databaseName).path, for: purpose
            )
        } catch {
            throw OperatorError(error.description)
        }
    }

    /// Opens the place of the files of records; only for the one process that serves.
    package func openAssets(logger: Logger) throws -> AssetFolder {
        do {
            return try AssetFolder(
                url.appendingPathComponent(Self.assetsName), logger: logger
            )
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError(
                "The folder \(url.path) cannot hold files of records: \(error)"
            )
        }
    }
}
