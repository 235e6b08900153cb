// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

extension SQLiteStore {
    /// What is found out about a store while it is opened, before and after SQLite looks at it.
    struct Arrival {
        /// The note beside the store; nil for who does not hold its lock.
        let note: StoreNoteFile?
        private let isLogGone: Bool

        /// Looks at the files, before SQLite copies the log back and removes it.
        init(at path: String, server: ServerLock?) {
            note = server == nil ? nil : StoreNoteFile(storeAt: path)
            let hasLog = StoreNoteFile.hasLog(storeAt: path)
            isLogGone = note?.note?.hasLog == true && !hasLog
            // From here on a start that is killed may have copied the log back.
            if hasLog { note?.noteLog(false) }
        }

        /// Compares the open store with its note, begins a new life where it came back from an
        /// older moment, and notes how far it is.
        func settle(
            _ transaction: SQLiteTransaction, identity: UInt64, path: String,
            at now: () -> Instant
        ) throws -> LostLife? {
            guard let note else { return nil }
            var progress = try transaction.progress()
            var loss: LostLife?
            // Another store under the same name has nothing to do with the note.
            if let noted = note.note, noted.identity == identity {
                // That the log is gone says nothing by itself: a command that was the last one at
                // the store has copied it back, and may have been killed before it said so.
                if progress.isBehind(noted.progress) {
                    loss = isLogGone ? .logIsGone : .databaseIsOlder
                    try transaction.connection.run("BEGIN IMMEDIATE")
                    _ = try transaction.beginNewIncarnation(past: noted.progress, at: now())
                    try transaction.connection.run("COMMIT")
                    progress = try transaction.progress()
                }
            }
            note.write(
                StoreNote(
                    identity: identity, progress: progress,
                    hasLog: StoreNoteFile.hasLog(storeAt: path)
                ),
                flushing: true
            )
            return loss
        }
    }

    /// Notes that the log is in the database again, where a command was the last one at the
    /// store and no server runs: SQLite copies it back when the last connection closes.
    ///
    /// `hadLog` is whether it was there when the command began: one that was gone already is
    /// for the next server to notice.
    static func noteLogIsCopied(at path: String, hadLog: Bool) {
        guard hadLog, !StoreNoteFile.hasLog(storeAt: path),
            let lock = try? ServerLock(storeAt: path)
        else { return }
        StoreNoteFile(storeAt: path)?.noteLog(false)
        lock.release()
    }
}
