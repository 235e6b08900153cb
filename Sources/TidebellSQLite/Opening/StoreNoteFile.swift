// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore
import TidebellSQL

/// The notes of a store's newest state, in the file that is also ``ServerLock``'s.
///
/// Written after every commit without waiting for the disk, which a kill of the process does
/// not lose; once a minute, at the start and at the end it is flushed, so that not much is
/// lost with the power either. A note is never ahead of what is durable.
///
/// A command beside a server writes the ``QuietNote`` only. Of two processes that commit at
/// the same time one may leave the count of the other, which is lower by one: a loss of the
/// last of them then goes unnoticed, and never is one seen where none is.
///
/// `@unchecked Sendable`: all state is only touched while the store is being opened, and then
/// on the queue of the writer connection.
final class StoreNoteFile: @unchecked Sendable {
    /// How long a note may wait to be flushed.
    static let flushInterval = Duration.seconds(60)

    /// Whether it is the server's, which notes everything.
    let isServers: Bool
    /// What is noted.
    private(set) var note: StoreNote?
    private let descriptor: Int32
    private let elapsed: @Sendable () -> Duration
    private var flushed: Duration

    /// Opens the notes of the store at `path`. Nil where that file cannot be opened once
    /// more, or is not there yet: then nothing is noted.
    init?(storeAt path: String, isServers: Bool, elapsed: @escaping @Sendable () -> Duration) {
        self.isServers = isServers
        self.elapsed = elapsed
        flushed = elapsed()
        descriptor = Foundation.open("\(path)-server", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        note = StoreNote(bytes: read(StoreNote.size, at: 0))
        guard var known = note else { return }
        let quiet = QuietNote(bytes: read(QuietNote.size, at: QuietNote.offset))
        // Of another life, or of before it was counted, nothing is known.
        if let quiet, quiet.identity == known.identity,
            quiet.incarnation == known.progress.incarnation
        {
            known.progress.quietChanges = quiet.count
            note = known
        }
    }

    deinit {
        _ = Foundation.close(descriptor)
    }

    /// Writes what the store is, and waits for the disk; for the process that serves it.
    ///
    /// A note that cannot be written makes nothing worse: the store itself reports what is wrong
    /// with the disk.
    func begin(_ note: StoreNote) {
        self.note = note
        guard isServers else { return }
        write(note.bytes, at: 0)
        writeQuiet()
        flush()
    }

    /// Notes what a commit gave out.
    ///
    /// - Parameter quietChanges: Their number after the commit; nil where it made none.
    func noteCommit(
        _ change: LatestChange?, _ notification: NotificationSequence, quietChanges: Int64?
    ) {
        guard var next = note else { return }
        if let change {
            next.progress.latest = change
            next.progress.position = max(next.progress.position, change.position)
        }
        next.progress.notification = max(next.progress.notification, notification)
        let isMoved = next != note
        if let quietChanges { next.progress.quietChanges = quietChanges }
        note = next
        if isMoved, isServers { write(next.bytes, at: 0) }
        if quietChanges != nil { writeQuiet() }
        if elapsed() - flushed > Self.flushInterval { flush() }
    }

    /// Waits until the notes are on the disk.
    func flush() {
        _ = fsync(descriptor)
        flushed = elapsed()
    }

    private func writeQuiet() {
        guard let note else { return }
        let quiet = QuietNote(
            identity: note.identity, incarnation: note.progress.incarnation,
            count: note.progress.quietChanges
        )
        write(quiet.bytes, at: QuietNote.offset)
    }

    private func write(_ bytes: [UInt8], at offset: Int) {
        _ = pwrite(descriptor, bytes, bytes.count, off_t(offset))
    }

    /// Reads so many bytes; none where there are not as many.
    private func read(_ count: Int, at offset: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, off_t(offset)) == count ? bytes : []
    }
}
