// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import TidebellSQL

/// Keeps SQLite's write-ahead log short.
///
/// SQLite's own checkpoints never wait for readers, so that under steady reading
/// the log could grow for ever; beyond a bound these do wait.
///
/// `@unchecked Sendable`: all state is only touched on the queue of the writer
/// connection.
final class WriteAheadLog: @unchecked Sendable {
    /// Pages after which the log is copied to the database, without waiting for
    /// readers: 16 MiB.
    static let checkpointPages = 4096
    /// Pages after which the copying waits for readers, so that the log can
    /// start over: 256 MiB.
    static let restartPages = 65536

    /// Whether it is ours to copy: the server's alone, see DESIGN.md, "Who checkpoints".
    private let isOurs: Bool
    private var pages = 0
    private var isLonger = false
    private var nextCheckpoint = WriteAheadLog.checkpointPages

    /// Creates a log; only the one process that serves may call it its own.
    init(isOurs: Bool) {
        self.isOurs = isOurs
    }

    /// Counts the pages of every commit on the writer connection from now on.
    func attach(to database: Database) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            database.sqliteConnection,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<WriteAheadLog>.fromOpaque(context).takeUnretainedValue()
                    .grown(to: Int(pages))
                return SQLITE_OK
            },
            context
        )
    }

    /// Stops counting, before the log goes.
    func detach(from database: Database) {
        sqlite3_wal_hook(database.sqliteConnection, nil, nil)
    }

    private func grown(to pages: Int) {
        self.pages = pages
        isLonger = true
    }

    /// Whether anything was written since the last call.
    func hasGrown() -> Bool {
        defer { isLonger = false }
        return isLonger
    }

    /// Copies the log to the database if it has grown enough, and no other program has made one.
    func keepShort(on connection: Connection, of files: StoreFiles) {
        guard isOurs else { return }
        if pages < Self.checkpointPages { nextCheckpoint = Self.checkpointPages }
        guard pages >= nextCheckpoint, !files.areReplaced else { return }
        let waits = pages >= Self.restartPages
        // Who reads for that long is a backup, and writers wait for it a few times at most.
        nextCheckpoint = waits ? 2 * pages : pages + Self.checkpointPages
        let mode = waits ? "RESTART" : "PASSIVE"
        // A checkpoint that fails changes nothing; the next commits try again,
        // and fail themselves where the disk is at fault.
        try? connection.run("PRAGMA wal_checkpoint(\(mode))")
    }

    /// Copies the log to the database, because nobody else can read it any more.
    ///
    /// Waits for readers that are in the way, ``SQLiteStore/busyTimeout`` at most.
    func save(on connection: Connection) {
        guard isOurs else { return }
        // What is not copied now is with the next write, or when the store is closed.
        try? connection.run("PRAGMA wal_checkpoint(FULL)")
    }
}
