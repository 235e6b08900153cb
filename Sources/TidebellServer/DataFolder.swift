// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TidebellSQLite

/// The folder that holds a cloud.
package struct DataFolder: Sendable {
    /// The folder with the files of records.
    static let assetsName = "assets"
    /// The database inside.
    static let databaseName = "tidebell.sqlite"

    let url: URL

    /// Creates a description; nothing is touched yet.
    package init(_ url: URL) {
        self.url = url
    }

    /// What others on the machine can read or write of the folder, in whole sentences.
    ///
    /// What is made here is for its owner only; a folder that was there before, or files
    /// that were copied, may not be. They are not changed: the folder may have another
    /// purpose too.
    package func permissionWarnings() -> [String] {
        let names = [
            "", Self.databaseName, "\(Self.databaseName)-wal", "\(Self.databaseName)-shm",
            Self.assetsName, "\(Self.assetsName)/key",
        ]
        return names.compactMap { name in
            let path = name.isEmpty ? url.path : url.appendingPathComponent(name).path
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            // What is not there can be read by nobody.
            guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue,
                mode & 0o077 != 0
            else { return nil }
            let isFolder = attributes?[.type] as? FileAttributeType == .typeDirectory
            return "Others on this machine may use \(path) (mode \(String(mode, radix: 8))); to "
                + "change that: chmod \(isFolder ? "700" : "600") \(path)"
        }
    }

    /// Writes a text that only the owner may read into a file of the folder; returns its
    /// path.
    package func write(_ text: String, named name: String) throws -> String {
        let path = url.appendingPathComponent(name).path
        // It may be there, of a cloud that was removed.
        _ = unlink(path)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw OperatorError("'\(path)' cannot be written: \(String(cString: strerror(errno))).")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        return path
    }

    /// Opens the store, in a new folder if there is none. What the operator can
    /// put right fails with ``OperatorError``, also that only the database is gone.
    package func openStore(for purpose: SQLiteStore.Purpose) throws -> SQLiteStore {
        try checkIsNotLost()
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
