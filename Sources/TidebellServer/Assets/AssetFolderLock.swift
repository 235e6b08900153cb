// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Keeps files of records where they are while somebody copies them, from any process.
///
/// A backup holds the lock with others from before it reads the store until it has copied
/// the files that are named there; whoever removes files needs it alone. Files are never
/// changed and names never used twice, so that nothing else has to wait.
final class AssetFolderLock: Sendable {
    /// The file beside the kept ones.
    static let name = "lock"

    private let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // Closing would not be enough while a child process has a copy of the descriptor.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Makes the file, for processes that may write in the folder: one that only reads makes
    /// none, which would be another user's.
    static func make(in folder: URL) throws {
        close(try open(in: folder, O_RDWR | O_CREAT))
    }

    /// Waits until nobody removes files, which takes moments, and keeps it so; nil where
    /// no server was yet, and nothing is removed.
    static func toCopy(in folder: URL) throws -> AssetFolderLock? {
        guard access(folder.appendingPathComponent(name).path, F_OK) == 0 || errno != ENOENT
        else { return nil }
        let descriptor = try open(in: folder, O_RDONLY)
        while flock(descriptor, LOCK_SH) != 0 {
            guard errno == EINTR else {
                defer { close(descriptor) }
                throw DiskError("lock")
            }
        }
        return AssetFolderLock(descriptor: descriptor)
    }

    /// Returns the right to remove files; nil while somebody copies.
    static func toRemove(in folder: URL) throws -> AssetFolderLock? {
        let descriptor = try open(in: folder, O_RDWR | O_CREAT)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(descriptor) }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw DiskError("lock") }
            return nil
        }
        return AssetFolderLock(descriptor: descriptor)
    }

    private static func open(in folder: URL, _ flags: Int32) throws -> Int32 {
        let path = folder.appendingPathComponent(name).path
        let descriptor = Foundation.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskError("open \(path)") }
        return descriptor
    }
}
