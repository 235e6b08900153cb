// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the write-ahead log to the database on a thread and a connection of its own, while the writer
/// commits.
///
/// When one may begin decides ``WriteAheadLog``; see DESIGN.md, "Who checkpoints".
final class BackgroundCheckpoint: Sendable {
    private enum State {
        case ended(Result<Int, any Error>)
        case running
    }

    let queue: DatabaseQueue
    /// Held as long as one may run: only who serves copies the log.
    private let server: ServerLock
    private let flush: @Sendable (Database) -> Int32
    private let state = Mutex(State.ended(.success(0)))

    /// Opens the connection; `flush` has the pages of the database written to the disk, and returns
    /// SQLite's code for how that went.
    init(
        ofStoreAt path: String, holding server: ServerLock,
        flush: @escaping @Sendable (Database) -> Int32 = flushDatabase
    ) throws {
        var configuration = Configuration()
        configuration.label = "tidebell.checkpoint"
        configuration.busyMode = .timeout(SQLiteStore.busyTimeout)
        queue = try DatabaseQueue(path: path, configuration: configuration)
        self.server = server
        self.flush = flush
    }

    /// Whether one has begun and not ended.
    var isRunning: Bool {
        state.withLock { if case .running = $0 { true } else { false } }
    }

    /// How many pages of the log the database had behind the last one, which has ended; throws why that
    /// failed. One that fails changes nothing.
    func copiedPages() throws -> Int {
        guard case .ended(let result) = state.withLock(\.self) else { return 0 }
        return try result.get()
    }

    /// Begins one; readers that are in the way leave a part for the next.
    func begin() {
        state.withLock { $0 = .running }
        queue.asyncWriteWithoutTransaction { [self] database in
            let result = Result { try copy(database) }
            state.withLock { $0 = .ended(result) }
        }
    }

    private func copy(_ database: Database) throws -> Int {
        let (pages, copied) = try database.checkpoint(.passive)
        // SQLite leaves that to whoever copies the last page, which would be the writer.
        if copied < pages {
            let code = flush(database)
            // What the system has given up counts as copied until the index of the log is made anew.
            guard code == SQLITE_OK else {
                fatalError(
                    """
                    The disk did not take pages of the database (SQLite's error \(code)). They are in the \
                    write-ahead log, from which the next start copies them again: look at the disk, and \
                    start the server again.
                    """)
            }
        }
        return copied
    }

    /// Returns when none runs.
    func wait() {
        guard isRunning else { return }
        queue.inDatabase { _ in }
    }

    /// Closes the connection, behind one that runs.
    func close() {
        try? queue.close()
    }

    /// Flushes the file by SQLite's own descriptor: to close another one would end the locks of the
    /// process.
    @Sendable private static func flushDatabase(_ database: Database) -> Int32 {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(
            database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let sync = file.pointee.pMethods?.pointee.xSync else {
            return code
        }
        return sync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
    }
}
