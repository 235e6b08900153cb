// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellSQLite

/// The folder that holds a cloud.
package struct DataFolder: Sendable {
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
}
