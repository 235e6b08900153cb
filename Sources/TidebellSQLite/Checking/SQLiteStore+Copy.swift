// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
package import TidebellCore
import TidebellSQL

extension SQLiteStore {
    /// Copies the store at `path`, as it is at one moment, to a file that does not exist
    /// yet (mode 0600); durable when it returns.
    ///
    /// Writers go on meanwhile; the write-ahead log keeps what they write until the copy is
    /// whole. What was deleted is not in the copy. Where pages are damaged, the copy is of
    /// pages, and mended as far as it can be.
    package static func copy(from path: String, to copy: String) throws {
        let descriptor = Foundation.open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreOpenError.noCopy(path: copy, reason: String(cString: strerror(errno)))
        }
        defer { _ = Foundation.close(descriptor) }
        do {
            // NB: where only queries are allowed, SQLite refuses to write the copy, too.
            let queue = try queueThatOnlyReads(path, Configuration())
            defer { try? queue.close() }
            do {
                try queue.inDatabase { database in
                    try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
                }
            } catch let error as DatabaseError
                where [.SQLITE_CORRUPT, .SQLITE_FULL].contains(error.resultCode)
            {
                // NB: SQLite reports a full disk for the number of a page that cannot be.
                guard ftruncate(descriptor, 0) == 0 else { throw error }
                try copyPages(of: queue, to: copy)
            }
        } catch {
            throw StoreOpenError(error, path: path, copy: copy)
        }
        // SQLite does not flush what it copies like this.
        guard fsync(descriptor) == 0 else {
            throw StoreOpenError.noCopy(path: copy, reason: String(cString: strerror(errno)))
        }
    }

    private static func copyPages(of source: DatabaseQueue, to copy: String) throws {
        let queue = try DatabaseQueue(path: copy)
        defer { try? queue.close() }
        try source.backup(to: queue)
        try queue.writeWithoutTransaction { database in
            do {
                // Older versions have other tables.
                if try Schema.isFrozenOrLater(database) {
                    try database.inTransaction(.immediate) {
                        _ = try mended(Connection(database), at: copy)
                        return .commit
                    }
                }
            } catch DatabaseError.SQLITE_CORRUPT {
                // What cannot be mended is in the copy as it is: a check names it.
            }
            do {
                try database.execute(sql: "PRAGMA journal_mode = DELETE")
                try database.execute(sql: "VACUUM")
            } catch let error as DatabaseError
                where [.SQLITE_CORRUPT, .SQLITE_FULL].contains(error.resultCode)
            {
                // The same.
            }
        }
    }

    /// Removes from a copy the rows of deleted zones that the server had not come to yet, and
    /// the keys of encrypted fields and the store's secret if asked to, so that nothing of them
    /// is left in the file.
    package static func removeDeleted(
        fromCopyAt path: String, withKeys: Bool, at now: Instant
    ) throws {
        do {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { database in
                // Older versions have no such tables, or others.
                let keys = try Self.tablesOfKeys.filter { table in
                    try withKeys && database.tableExists(table)
                }
                let hasZones =
                    try Schema.isFrozenOrLater(database)
                    && Row.fetchOne(database, sql: "SELECT 1 FROM removed_zone LIMIT 1") != nil
                guard !keys.isEmpty || hasZones else { return }
                try database.execute(sql: "PRAGMA secure_delete = ON")
                for table in keys { try database.execute(sql: "DELETE FROM \(table)") }
                if hasZones { try removeDeletedZones(from: database, at: now) }
                try database.execute(sql: "VACUUM")
            }
        } catch {
            throw StoreOpenError(error, path: path, copy: path)
        }
    }

    /// What is in no copy without keys.
    private static let tablesOfKeys = ["zone_key", "store_secret"]

    private static func removeDeletedZones(from database: Database, at now: Instant) throws {
        try database.inTransaction {
            let transaction = SQLTransaction(Connection(database))
            let limit = SQLTransaction.rowsRemovedAtOnce
            while try transaction.removeDeletedZones(limit: limit, at: now) > 0 {}
            return .commit
        }
    }

    /// Opens the store at `path` to look at it, also beside a server, and leaves it as it is.
    ///
    /// NB: the last connection that may write copies the log of a server that was killed, and
    /// removes it; one that may not leaves it. That one would leave an empty log where there is
    /// none.
    static func queueThatOnlyReads(
        _ path: String, _ configuration: Configuration = onlyReading
    ) throws -> DatabaseQueue {
        try RunningServer.checkFiles(ofStoreAt: path)
        var configuration = configuration
        configuration.busyMode = .timeout(busyTimeout)
        configuration.readonly = access("\(path)-wal", F_OK) == 0
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// The configuration of a connection that looks at a store beside a server.
    static var onlyReading: Configuration {
        var configuration = Configuration()
        configuration.label = "tidebell-check"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = 1") }
        return configuration
    }
}

extension StoreOpenError {
    /// Returns what an error of SQLite means to whoever copies a store: what cannot be written is
    /// the copy, since the store is only read.
    init(_ error: any Error, path: String, copy: String) {
        guard let error = error as? DatabaseError else {
            self.init(error, path: path)
            return
        }
        switch error.resultCode {
        case .SQLITE_FULL: self = .noRoom(path: copy)
        case .SQLITE_IOERR where Self.failuresOfWriting.contains(error.extendedResultCode):
            self = .noCopy(path: copy, reason: error.message ?? "\(error.resultCode)")
        default: self.init(error, path: path)
        }
    }

    private static let failuresOfWriting: [ResultCode] = [
        .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
    ]
}
