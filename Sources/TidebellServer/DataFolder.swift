// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TidebellCore
import TidebellHTTP
import TidebellSQLite

/// The folder that holds a cloud.
package struct DataFolder: Sendable {
    /// The folder with the files of records.
    static let assetsName = "assets"
    /// The database inside.
    static let databaseName = "tidebell.sqlite"

    let url: URL
    /// The root key, unless it is kept elsewhere.
    static let rootKeyName = "root-key"

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

    /// Where the root key of a data folder is, unless it is kept elsewhere.
    package static func rootKey(in folder: URL) -> URL {
        folder.appendingPathComponent(rootKeyName)
    }

    /// Returns the root key of an open store.
    ///
    /// Fails with ``OperatorError`` when zones have fields that were encrypted under another
    /// one, unless `acceptsLoss`: then these are given up (``ResetLostZones``).
    package func openRootKey(
        from source: RootKeySource, for store: some Store, acceptsLoss: Bool, at now: Instant
    ) async throws -> RootKey {
        let hasKeys = try await store.read {
            try !$0.zonesWithoutFieldKey(wrappedBy: "", limit: 1).isEmpty
        }
        let key = try source.key(in: url, isNeeded: hasKeys && !acceptsLoss)
        let id = key.rootKeyID
        let lost = try await store.read {
            try $0.zonesWithoutFieldKey(wrappedBy: id, limit: Self.namedZones + 1).map(\.name)
        }
        guard !lost.isEmpty else { return key }
        guard acceptsLoss else {
            throw OperatorError(
                "The root key does not open the encrypted fields of "
                    + (lost.count > Self.namedZones
                        ? "more than \(Self.namedZones) zones"
                        : "the zones " + lost.map { "'\($0)'" }.joined(separator: ", "))
                    + ": it is another one, or their keys were left out of a backup. Start with "
                    + "the right root key; or with --accept-lost-keys, which deletes these zones, "
                    + "and apps are told that their users reset their encrypted data."
            )
        }
        while try await store.write({
            try ResetLostZones.run(
                limit: Self.zonesPerReset, rootKeyID: id, at: now, in: $0
            )
        }) > 0 {}
        return key
    }

    /// The most zones that an error names.
    private static let namedZones = 5
    /// Zones that are given up in one transaction.
    private static let zonesPerReset = 20

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
