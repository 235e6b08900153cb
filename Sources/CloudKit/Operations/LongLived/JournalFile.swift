// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The file of one long-lived operation: checked frames, one after the other, which is
/// only ever appended to.
///
/// A process that is killed while it writes leaves half a frame at the end, which reading
/// passes over, and which is cut off before more is appended. Several processes of an app
/// may have the file open: whoever changes its length holds its lock.
final class JournalFile: Sendable {
    /// The longest file: an operation with all its requests and answers.
    static let maximumSize = 64 << 20
    /// The name's end while answers are missing.
    static let runningSuffix = ".running"
    /// The name's end when all answers are there, but not all callbacks were called.
    static let answeredSuffix = ".answered"

    private struct State {
        /// Where the file is; nil when it was removed.
        var url: URL?
        /// Whether the end of the file may be half a frame, which would hide others.
        var isBroken = false
    }

    private let state: Locked<State>
    /// The device's date, which the file gets with each frame: it shows how old the file is.
    private let date: @Sendable () -> Date

    /// Takes over a file that exists, and cuts off half a frame at its end: what comes after
    /// it would never be read.
    init(at url: URL, date: @escaping @Sendable () -> Date) {
        self.date = date
        let isWhole = (try? Self.cutOffHalfAFrame(of: url.path)) != nil
        state = Locked(State(url: url, isBroken: !isWhole))
    }

    /// Creates a file whose first frame is `first`; nil when it cannot be written.
    init?(at url: URL, first: [UInt8], date: @escaping @Sendable () -> Date) {
        self.date = date
        guard first.count <= Self.maximumSize else { return nil }
        let draft = url.appendingPathExtension("draft")
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            try Self.write(first, to: draft.path, flags: O_CREAT | O_TRUNC, at: date())
        } catch {
            return nil  // without a folder there is no long-lived operation
        }
        guard rename(draft.path, url.path) == 0 else { return nil }
        state = Locked(State(url: url))
    }

    /// Adds a frame; one that does not fit or cannot be written is left out.
    func append(_ frame: [UInt8]) {
        state.withLock { state in
            guard let path = state.url?.path, !state.isBroken else { return }
            do {
                try Self.write(frame, to: path, flags: O_APPEND, at: date())
            } catch {
                state.isBroken = true
            }
        }
    }

    /// Renames the file: nothing more is asked of the server.
    func markAnswered() {
        state.withLock { state in
            guard let old = state.url, old.path.hasSuffix(Self.runningSuffix) else { return }
            let new = old.deletingPathExtension().appendingPathExtension(
                String(Self.answeredSuffix.dropFirst())
            )
            if rename(old.path, new.path) == 0 { state.url = new }
        }
    }

    /// Removes the file.
    func remove() {
        state.withLock { state in
            if let path = state.url?.path { unlink(path) }
            state.url = nil
        }
    }

    /// Returns the frames of a file up to the first that is damaged or cut off.
    static func frames(of url: URL) -> [[UInt8]] {
        guard let file = try? FileHandle(forReadingFrom: url) else { return [] }
        return (try? frames(of: file)) ?? []  // as good as empty
    }

    private static func frames(of file: FileHandle) throws -> [[UInt8]] {
        let bytes = [UInt8](try file.read(upToCount: maximumSize) ?? Data())
        var frames: [[UInt8]] = []
        var start = 0
        while let length = ArchiveBlob.length(of: bytes[start...]) {
            frames.append(Array(bytes[start..<start + length]))
            start += length
        }
        return frames
    }

    /// Leaves whole frames only, of which there may be more than were read before: another
    /// process may have appended some.
    private static func cutOffHalfAFrame(of path: String) throws {
        let file = try openLocked(path, flags: O_RDWR)
        let length = try frames(of: file).reduce(0) { $0 + UInt64($1.count) }
        if try file.seekToEnd() > length { try file.truncate(atOffset: length) }
        try file.close()
    }

    /// Opens the file, which is this process's alone until it is closed.
    private static func openLocked(_ path: String, flags: Int32) throws -> FileHandle {
        let descriptor = open(path, O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw POSIXError(.EIO) }
        }
        return file
    }

    /// Writes all bytes and waits until they are on the disk.
    private static func write(
        _ bytes: [UInt8], to path: String, flags: Int32, at date: Date
    ) throws {
        let file = try openLocked(path, flags: O_WRONLY | flags)
        guard try file.seekToEnd() + UInt64(bytes.count) <= UInt64(maximumSize) else {
            throw POSIXError(.EFBIG)
        }
        try file.write(contentsOf: Data(bytes))
        setModificationDate(date, of: file.fileDescriptor)
        try file.synchronize()
        try file.close()
    }
}
