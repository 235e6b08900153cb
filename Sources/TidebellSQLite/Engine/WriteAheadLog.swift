// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import TidebellSQL

/// Keeps SQLite's write-ahead log short.
///
/// Nearly all of it is copied to the database in the background, beside commits; only the few pages that
/// came meanwhile are copied between two of them, so that the log can start over. SQLite's own checkpoints
/// would have a commit wait for all of it. They never wait for readers either, so that under steady reading
/// the log could grow for ever; beyond a bound these do wait.
///
/// `@unchecked Sendable`: all state is only touched on the queue of the writer
/// connection.
final class WriteAheadLog: @unchecked Sendable {
    /// How large the file stays, 32 MiB: a log that grew beyond while it was copied would be extended anew each
    /// time, which costs its commits an entry in the file system's journal.
    static let keptBytes = 2 * 4096 * 4096
    /// Pages after which the copying waits for readers, so that the log can
    /// start over: 256 MiB.
    static let restartPages = 65536
    /// How often it is copied in the background at most, until little is left.
    static let rounds = 4

    /// Pages after which the log is copied to the database: 16 MiB, unless a test sets fewer.
    var checkpointPages = 4096
    /// The most pages that are left to be copied between two commits: 1 MiB. More where those come faster
    /// than they can be copied.
    private var leftPages: Int { checkpointPages / 16 }

    /// Nil where it is not ours to copy: it is the server's alone, see DESIGN.md, "Who checkpoints".
    let background: BackgroundCheckpoint?
    private var pages = 0
    /// How many of them are known to be in the database.
    private var copiedPages = 0
    private var isLonger = false
    /// Whether a commit of the writer added pages since the last copy was seen to have ended.
    private var hasNewPages = false
    /// Whether a copy was begun in the background and not seen to have ended.
    private var isInBackground = false
    /// How often it was copied in the background since it reached ``nextCheckpoint``.
    private var round = 0
    private var nextCheckpoint = 0

    /// Creates a log; only the one process that serves may copy it.
    init(_ background: BackgroundCheckpoint?) {
        self.background = background
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

    /// Copies all of it to the database and empties it, if it is ours and no other program has made one;
    /// stops counting.
    func end(on connection: Connection, of files: StoreFiles) {
        sqlite3_wal_hook(connection.database.sqliteConnection, nil, nil)
        guard let background else { return }
        background.close()
        if isInBackground { hasNewPages = false }
        // Else the last connection that closes does it. Beside a log of another program it
        // would damage the database.
        if hasNewPages, !files.areReplaced { _ = try? connection.database.checkpoint(.truncate) }
    }

    private func grown(to pages: Int) {
        if pages < self.pages { copiedPages = 0 }
        self.pages = pages
        (isLonger, hasNewPages) = (true, true)
    }

    /// Whether anything was written since the last call.
    func hasGrown() -> Bool {
        defer { isLonger = false }
        return isLonger
    }

    /// Has the log copied to the database if it has grown enough, and no other program has made one.
    ///
    /// NB: none begins that may run beside commits, also those of a command, before a commit of the writer
    /// has added pages that none has copied: see DESIGN.md, "Who checkpoints".
    ///
    /// - Throws: Why the last copy failed: what is not flushed may be lost then. The log is as it was.
    func keepShort(on connection: Connection, of files: StoreFiles) throws {
        guard let background, !background.isRunning else { return }
        if isInBackground {
            (isInBackground, hasNewPages, copiedPages) = (false, false, 0)
            copiedPages = try background.copiedPages()
        }
        if pages < checkpointPages { (round, nextCheckpoint) = (0, checkpointPages) }
        guard hasNewPages, pages >= nextCheckpoint, !files.areReplaced else { return }
        let waits = pages >= Self.restartPages
        if !waits, round < Self.rounds, pages - copiedPages > leftPages {
            round += 1
            isInBackground = true
            background.begin()
            return
        }
        // Who reads for that long is a backup, and writers wait for it a few times at most.
        defer { (round, nextCheckpoint) = (0, waits ? 2 * pages : pages + checkpointPages) }
        try copy(waits ? .restart : .passive, on: connection)
    }

    /// Copies the log to the database, because nobody else can read it any more.
    ///
    /// Waits for readers that are in the way, ``SQLiteStore/busyTimeout`` at most.
    func save(on connection: Connection) {
        guard background != nil else { return }
        // What is not copied now is with the next write, or when the store is closed.
        try? copy(.full, on: connection)
    }

    /// Copies the log to the database, and empties it; fails while it is read.
    func empty(on connection: Connection) throws {
        try copy(.truncate, on: connection)
    }

    /// Copies on the writer's connection, and therefore between two of its commits. One that fails
    /// changes nothing.
    private func copy(_ kind: Database.CheckpointMode, on connection: Connection) throws {
        background?.wait()
        (isInBackground, hasNewPages) = (false, false)
        (pages, copiedPages) = try connection.database.checkpoint(kind)
    }
}
