// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import Logging
package import TidebellCore
import TidebellEngines
package import TidebellHTTP
import TidebellSQLite
package import TidebellScheduling

/// The folder that holds a cloud.
package struct DataFolder: Sendable {
    /// The folder with the files of records.
    static let assetsName = "assets"
    /// The database inside.
    static let databaseName = SQLiteFactory.fileName

    /// The root key, unless it is kept elsewhere.
    static let rootKeyName = "root-key"

    let url: URL
    /// What opens its store.
    package var stores: any StoreFactory

    /// Creates a description; nothing is touched yet.
    package init(_ url: URL, stores: any StoreFactory = StoreEngine.standard.factory) {
        self.url = url
        self.stores = stores
    }

    /// What others on the machine can read or write of the folder, in whole sentences.
    ///
    /// What is made here is for its owner only; a folder that was there before, or files
    /// that were copied, may not be. They are not changed: the folder may have another
    /// purpose too.
    package func permissionWarnings(rootKey: RootKeySource = .dataFolder) -> [String] {
        let names = [
            "", Self.databaseName, "\(Self.databaseName)-wal", "\(Self.databaseName)-shm",
            Self.assetsName, Self.rootKeyName,
        ]
        var paths = names.map { $0.isEmpty ? url.path : url.appendingPathComponent($0).path }
        if case .file(let file) = rootKey { paths.append(file.resolvingSymlinksInPath().path) }
        return paths.compactMap { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            // A file that is not there needs no warning.
            guard let mode = (attributes?[.posixPermissions] as? NSNumber)?.intValue,
                mode & 0o077 != 0
            else { return nil }
            let isFolder = attributes?[.type] as? FileAttributeType == .typeDirectory
            return "Others on this machine may use \(path) (mode \(String(mode, radix: 8))); to "
                + "change that: chmod \(isFolder ? "700" : "600") \(path.asShellWord)"
        }
    }

    /// The warning about a root key that is still in the folder though the server has its key from
    /// elsewhere; nil where none does.
    package func orphanedRootKeyWarning(rootKey: RootKeySource) -> String? {
        let key = Self.rootKey(in: url)
        let path = key.path
        guard rootKey != .dataFolder, access(path, F_OK) == 0 else { return nil }
        // The folder may be reached by way of a link, too.
        if case .file(let file) = rootKey,
            file.resolvingSymlinksInPath().path == key.resolvingSymlinksInPath().path
        {
            return nil
        }
        return "There is still a root key in the data folder (\(path)), although the server gets "
            + "its key from elsewhere: anyone who gets the folder or a backup of it may have the key too. "
            + "Remove it when you have the key in two other locations."
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
    package func openStore(
        for purpose: StorePurpose, bounds: StoreBounds = StoreBounds(), time: Time,
        randomness: Randomness
    ) throws -> any OpenedStore {
        try checkIsNotLost()
        do {
            return try stores.open(
                in: url, for: purpose, bounds: bounds, time: time, randomness: randomness
            )
        } catch {
            throw OperatorError(error.description)
        }
    }

    /// Where the root key of a data folder is, unless it is kept elsewhere.
    package static func rootKey(in folder: URL) -> URL {
        folder.appendingPathComponent(rootKeyName)
    }

    /// Returns the root key of an open store, and what was given up for it.
    ///
    /// Fails with ``OperatorError`` when the store works with another one, or the keys of
    /// zones are not there, unless `acceptsLoss`: then what they open is given up
    /// (``ResetLostZones``).
    package func openRootKey(
        from source: RootKeySource, for store: some Store, acceptsLoss: Bool, at now: Instant
    ) async throws -> (key: RootKey, loss: KeyLoss) {
        let (known, next) = try await store.read {
            (try $0.rootKeyID(), try $0.nextRootKeyID())
        }
        guard next == nil || acceptsLoss else { throw changeWasStopped }
        let key = try source.key(in: url, isNeeded: known != nil && !acceptsLoss)
        let id = key.rootKeyID
        let lost = try await store.read {
            try $0.zonesWithoutFieldKey(wrappedBy: id, limit: Self.namedZones + 1).map(\.name)
        }
        if known == id, next == nil, lost.isEmpty { return (key, KeyLoss()) }
        let loss = try await store.read { try $0.lossWithout(id) }
        guard acceptsLoss || known == nil && lost.isEmpty else {
            throw Self.wrongKey(known == id ? lost : nil, loss)
        }
        var reset: Int
        repeat {
            reset = try await store.write(.everything) {
                try ResetLostZones.run(
                    limit: Self.zonesPerReset, rootKeyID: id, at: now, in: $0
                )
            }
        } while reset > 0
        if known != nil, known != id || next != nil { try await Self.removeAnswers(in: store) }
        try await store.write(.everything) { transaction throws in
            guard try transaction.rootKeyID() == known, try transaction.nextRootKeyID() == next
            else { throw Self.otherRootKey }
            try transaction.adoptRootKey(id)
        }
        return (key, loss)
    }

    private var changeWasStopped: OperatorError {
        OperatorError(
            "A change of the root key of this cloud was interrupted, so two keys are needed. "
                + "Nothing is lost: finish it with the same command (tidebell root-key rotate"
                + "\(option)), with both keys. If one of them is lost, start with the other one and "
                + "--accept-lost-keys, which permanently deletes what only the lost key decrypts."
        )
    }

    private static var otherRootKey: OperatorError {
        OperatorError(
            "Another server has begun this cloud at the same moment. Start this one again, with the same "
                + "root key."
        )
    }

    /// Removes all kept answers: only the root key before this one opens them.
    private static func removeAnswers(in store: some Store) async throws {
        let end = Instant(rawValue: .max)
        var removed: Int
        repeat {
            removed = try await store.write(.batch) {
                try $0.removeAnswers(
                    keptBefore: end, at: end, exceeding: 0, limit: Maintenance.batchSize
                )
            }
        } while removed > 0
    }

    /// - Parameter zones: The zones whose keys are not there; nil where all are another's.
    private static func wrongKey(_ zones: [String]?, _ loss: KeyLoss) -> OperatorError {
        let way =
            "with --accept-lost-keys, which permanently deletes \(loss), and notifies apps that their "
            + "users reset their encrypted data. Make a backup first."
        guard let zones else {
            return OperatorError(
                "This is not the root key that the fields and files of this cloud were encrypted "
                    + "with. Start with that one; or, if it is lost, " + way
            )
        }
        let names =
            zones.count > namedZones
            ? "more than \(namedZones) zones"
            : "zone " + zones.map { "'\($0)'" }.joined(separator: ", ")
        return OperatorError(
            "The keys of encrypted fields in \(names) are not in the store, as after a restore of "
                + "a backup without keys. Restore a backup with keys; or start " + way
        )
    }

    /// The most zones that an error names.
    private static let namedZones = 5
    /// Zones that are given up in one transaction.
    private static let zonesPerReset = 20

    /// Opens the store of the files of records; only for the one process that serves, or for each node.
    package func openAssets(
        of node: String? = nil, rootKey: RootKey? = nil, logger: Logger
    ) throws -> AssetFolder {
        do {
            return try AssetFolder(
                url.appendingPathComponent(Self.assetsName), of: node,
                stores.isInDataFolder ? .check : .toolsOfPostgreSQL, rootKey: rootKey,
                logger: logger
            )
        } catch let error as OperatorError {
            throw error
        } catch {
            throw OperatorError(
                "Files of records cannot be stored in the folder \(url.path): \(error)."
            )
        }
    }
}
