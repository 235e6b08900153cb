// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

extension SQLiteStore {
    /// What is found out about a store while it is opened, before and after SQLite looks at it.
    struct Arrival {
        /// The note beside the store.
        let note: StoreNoteFile?

        /// Reads the note of the store at `path`.
        init(at path: String, isServers: Bool, elapsed: @escaping @Sendable () -> Duration) {
            note = StoreNoteFile(storeAt: path, isServers: isServers, elapsed: elapsed)
        }

        /// Compares the open store with its note, begins a new life where it came back from an
        /// older moment, and notes how far it is; a command only sees what life it is.
        func settle(
            _ transaction: SQLTransaction, identity: UInt64, at now: () -> Instant
        ) throws -> Bool {
            guard let note else { return false }
            guard note.isServers else {
                var progress = StoreProgress()
                progress.incarnation = try transaction.incarnation()
                note.begin(StoreNote(identity: identity, progress: progress))
                return false
            }
            var progress = try transaction.progress()
            var isOlder = false
            // Another store under the same name has nothing to do with the note.
            if let noted = note.note, noted.identity == identity {
                isOlder = try progress.isBehind(noted.progress) || transaction.lacks(noted.progress)
                // A change of another life proves nothing about this one.
                if noted.progress.incarnation == progress.incarnation {
                    progress.latest = noted.progress.latest
                }
                if isOlder {
                    try transaction.connection.run("BEGIN IMMEDIATE")
                    _ = try transaction.beginNewIncarnation(past: noted.progress, at: now())
                    try transaction.connection.run("COMMIT")
                    progress = try transaction.progress()
                }
            }
            note.begin(StoreNote(identity: identity, progress: progress))
            return isOlder
        }
    }
}
