// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellCore

/// The note of a store's newest state, in the file that is also ``ServerLock``'s.
///
/// Written after every commit without waiting for the disk, which a kill of the process does
/// not lose; once a minute, at the start and at the end it is flushed, so that not much is
/// lost with the power either. A note is never ahead of what is durable.
///
/// `@unchecked Sendable`: all state is only touched while the store is being opened, and then
/// on the queue of the writer connection.
final class StoreNoteFile: @unchecked Sendable {
    /// How long a note may wait to be flushed.
    static let flushInterval = Duration.seconds(60)

    /// What is noted.
    private(set) var note: StoreNote?
    private let descriptor: Int32
    private var flushed = ContinuousClock.now

    /// Opens the note of the store at `path`; only for who holds its ``ServerLock``. Nil where
    /// that file cannot be opened once more: then nothing is noted.
    init?(storeAt path: String) {
        descriptor = Foundation.open("\(path)-server", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: StoreNote.size)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        note = count == bytes.count ? StoreNote(bytes: bytes) : nil
    }

    deinit {
        _ = Foundation.close(descriptor)
    }

    /// Writes a note, and waits for the disk if asked to.
    ///
    /// A note that cannot be written makes nothing worse: the store itself says what is wrong
    /// with the disk.
    func write(_ note: StoreNote, flushing: Bool) {
        self.note = note
        let bytes = note.bytes
        _ = pwrite(descriptor, bytes, bytes.count, 0)
        if flushing { flush() }
    }

    /// Notes what a commit gave out.
    func noteCommit(_ change: LatestChange?, _ notification: NotificationSequence) {
        guard var next = note else { return }
        if let change {
            next.progress.latest = change
            next.progress.position = max(next.progress.position, change.position)
        }
        next.progress.notification = max(next.progress.notification, notification)
        if next != note { write(next, flushing: false) }
        if ContinuousClock.now - flushed > Self.flushInterval { flush() }
    }

    /// Waits until the note is on the disk.
    func flush() {
        _ = fsync(descriptor)
        flushed = .now
    }
}
