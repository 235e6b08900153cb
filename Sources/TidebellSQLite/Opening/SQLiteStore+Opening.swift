// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
package import TidebellCore
package import TidebellSQL
package import TidebellScheduling

extension SQLiteStore {
    /// How long a connection waits for another process.
    static let busyTimeout: TimeInterval = 5
    /// Connections that read at the same time: enough for short reads where every
    /// processor is at a long one.
    static let readers = max(4, ProcessInfo.processInfo.activeProcessorCount * 2)
    /// The page cache of each connection, in KiB.
    static let cacheKibibytes = 16 * 1024

    /// Opens the store in the file at `path`, created with its folder (modes
    /// 0600 and 0700) if there is none.
    ///
    /// A new store gets an identity of `randomness`. One that is opened for serving and came
    /// back from an older moment than the one that was served last begins a new life, as of
    /// `time`: ``cameBackOlder`` is true then.
    package static func open(
        at path: String,
        for purpose: StorePurpose = .serving,
        bounds: StoreBounds = StoreBounds(),
        time: Time,
        randomness: Randomness,
        numbers: NotificationNumbers = .shared,
        outboxNumbers: OutboxNumbers = .shared
    ) throws(StoreOpenError) -> SQLiteStore {
        let files = StoreFiles()
        let configuration = Self.configuration(numbers, outboxNumbers, files)
        try createFile(at: path)
        let server = purpose == .serving ? try ServerLock(storeAt: path) : nil
        if server != nil {
            try checkHasOneName(path)
        } else {
            try RunningServer.checkFiles(ofStoreAt: path)
        }
        let arrival = Arrival(at: path, isServers: server != nil, elapsed: time.elapsed)
        do {
            // A running server must not find its tables changed.
            let migration =
                try server == nil && Schema.isOutdated(at: path, configuration)
                ? ServerLock(storeAt: path) : nil
            defer { migration?.release() }
            let identity = try Schema.prepare(at: path, configuration, randomness)
            let pool = try DatabasePool(path: path, configuration: configuration)
            let log = WriteAheadLog(
                try server.map { try BackgroundCheckpoint(ofStoreAt: path, holding: $0) })
            let troubles = StoreTroubles(elapsed: time.elapsed)
            let (incarnation, cameBackOlder, scopes) = try pool.writeWithoutTransaction {
                database in
                try makeDurable(database)
                log.attach(to: database)
                if server != nil { try settleEssentialTables(database, at: path, troubles) }
                let transaction = SQLTransaction(Connection(database))
                if server != nil {
                    if let reason = try transaction.numberOutOfBounds() {
                        throw StoreOpenError.damaged(path: path, reason: reason)
                    }
                    try transaction.leaveReservedNumbersOut()
                }
                let cameBackOlder = try arrival.settle(
                    transaction, identity: identity, at: time.now
                )
                return (
                    try transaction.incarnation(), cameBackOlder,
                    ScopeCheck.isOn ? try ScopeCheck(database) : nil
                )
            }
            files.remember(ofStoreAt: path)
            return SQLiteStore(
                pool: pool,
                connections: PlaceConnections(path: path, configuration: configuration),
                files: files, identity: identity, incarnation: incarnation, log: log,
                server: server, life: StoreLife(note: arrival.note, cameBackOlder: cameBackOlder),
                scopes: scopes, troubles: troubles, bounds: bounds,
                numbering: Numbering(notifications: numbers, outboxes: outboxNumbers),
                elapsed: time.elapsed
            )
        } catch let error as StoreOpenError {
            throw error
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }

    private static func settleEssentialTables(
        _ database: Database, at path: String, _ troubles: StoreTroubles
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: onlyReading)
        defer { try? queue.close() }
        let mend = try queue.inDatabase { reader in
            try EssentialTables(
                writer: Connection(database), reader: Connection(reader), path: path
            ).settle()
        }
        if let mend { troubles.note(mend) }
    }

    /// Two names would have a write-ahead log each.
    private static func checkHasOneName(_ path: String) throws(StoreOpenError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1
        else { return }
        throw .linked(path: path)
    }

    private static func configuration(
        _ numbers: NotificationNumbers, _ outboxNumbers: OutboxNumbers, _ files: StoreFiles
    ) -> Configuration {
        var configuration = Configuration()
        configuration.label = "tidebell"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.maximumReaderCount = readers
        // Nothing refers to anything by foreign key: see DESIGN.md.
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            // A reader that is opened later would make a log anew that was removed.
            try files.check()
            FieldChecksum.define(in: database)
            numbers.define(in: database)
            outboxNumbers.define(in: database)
            try database.execute(sql: "PRAGMA cache_size = -\(cacheKibibytes)")
            // A page is looked through once, when it is read: where it is not well-formed, what
            // it reports is damage, and no answer.
            try database.execute(sql: "PRAGMA cell_size_check = ON")
            // What a savepoint must be able to undo stays in memory.
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            // Overwrites deleted content where that costs no extra writing.
            try database.execute(sql: "PRAGMA secure_delete = FAST")
            try database.execute(
                sql: "PRAGMA journal_size_limit = \(WriteAheadLog.keptBytes)"
            )
        }
        return configuration
    }

    /// Makes every commit wait for the disk.
    ///
    /// NB: only now, because GRDB sets `synchronous` to NORMAL when it enters
    /// WAL mode, which would lose the last commits with the power.
    private static func makeDurable(_ database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        guard try Int.fetchOne(database, sql: "PRAGMA synchronous") == 2 else {
            throw DatabaseError(message: "SQLite refuses PRAGMA synchronous = FULL")
        }
    }

    private static func createFile(at path: String) throws(StoreOpenError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .unwritable(path: folder, reason: "the folder cannot be created")
        }
        // An existing file is not opened here: closing it again would drop the
        // locks of other connections of this process.
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            _ = Foundation.close(descriptor)
        } else if errno != EEXIST || access(path, R_OK | W_OK) != 0 {
            throw .unwritable(path: path, reason: String(cString: strerror(errno)))
        }
    }
}

extension StoreOpenError {
    /// Returns what an error of SQLite means to whoever wants to open a store.
    init(_ error: any Error, path: String) {
        guard let error = error as? DatabaseError else {
            self = .unwritable(path: path, reason: "\(error)")
            return
        }
        let reason = error.message ?? "\(error.resultCode)"
        switch error.resultCode {
        case .SQLITE_NOTADB: self = .notADatabase(path: path)
        case .SQLITE_CORRUPT, .SQLITE_ERROR: self = .damaged(path: path, reason: reason)
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .inUse(path: path)
        default: self = .unwritable(path: path, reason: reason)
        }
    }
}
