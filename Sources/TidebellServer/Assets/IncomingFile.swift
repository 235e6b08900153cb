// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellCore
import TidebellHTTP
import TidebellWire

/// A file while it is written: hashed and encrypted on the way, durable when it is finished.
///
/// Unchecked, because one writer has it, whose calls come one after the other.
final class IncomingFile: @unchecked Sendable {
    private let path: String
    private let limit: Int64
    private let frames: FileFrames?
    private var descriptor: Int32
    private var size: Int64 = 0
    private var content = SHA256()
    /// What is not written yet: the frame that may be the last one.
    private var waiting: [UInt8] = []
    private var frameCount: Int64 = 0
    private var checksum = Insecure.SHA1()
    /// What was written, where somebody needs to know.
    private var stored: SHA256?
    private var storedBytes: Int64 = 0

    /// Creates the file, which must not exist; without `frames` it is not encrypted.
    ///
    /// - Parameter notesDigest: Whether the digest of what is written is needed (``finishDraft(named:)``).
    init(
        path: String, limit: Int64, frames: FileFrames? = nil, notesDigest: Bool = false
    ) throws {
        stored = notesDigest ? SHA256() : nil
        self.frames = frames
        self.path = path
        self.limit = limit
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskError("create") }
        checksum.update(data: FileChecksum.salt)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Appends bytes; more than the limit fail.
    func write(_ bytes: [UInt8]) throws {
        size += Int64(bytes.count)
        guard size <= limit else { throw FileTooLong() }
        content.update(data: bytes)
        checksum.update(data: bytes)
        guard frames != nil else { return try append(bytes) }
        waiting += bytes
        while waiting.count > FileFrames.contentLength {
            try appendFrame(Array(waiting.prefix(FileFrames.contentLength)), isLast: false)
            waiting.removeFirst(FileFrames.contentLength)
        }
    }

    private func appendFrame(_ content: [UInt8], isLast: Bool) throws {
        guard let frames else { return }
        try append(try frames.seal(content, number: frameCount, isLast: isLast))
        frameCount += 1
    }

    private func append(_ bytes: [UInt8]) throws {
        storedBytes += Int64(bytes.count)
        stored?.update(data: bytes)
        try bytes.withUnsafeBytes { try DurableFile.write($0, to: descriptor) }
    }

    /// Ends the file where it is, for somebody who copies it from there; it is not durable. Describes it, and what was
    /// written of it.
    func finishDraft(named name: String) throws -> (StoredAsset, DurableFile.Digest) {
        try appendFrame(waiting, isLast: true)
        try end()
        let digest = (stored ?? SHA256()).finalize()
        return (
            description(named: name),
            DurableFile.Digest(bytes: storedBytes, sha256: Hex.text(Array(digest)))
        )
    }

    private func end() throws {
        let closing = descriptor
        descriptor = -1
        guard close(closing) == 0 else { throw DiskError("close") }
    }

    private func description(named name: String) -> StoredAsset {
        StoredAsset(
            content: AssetContent(rawValue: Hex.text(Array(content.finalize()))),
            file: name, size: size, checksum: FileChecksum.text(ofDigest: checksum.finalize())
        )
    }

    /// Makes the file durable under its final name and describes it.
    ///
    /// A name that is taken fails: a kept file is never replaced.
    func finish(named name: String, movingTo location: URL, in folders: DurableFolders)
        throws -> StoredAsset
    {
        try appendFrame(waiting, isLast: true)
        guard fsync(descriptor) == 0 else { throw DiskError("flush") }
        try end()
        let folder = location.deletingLastPathComponent()
        try folders.make(folder.path)
        try Self.reserve(location.path)
        guard rename(path, location.path) == 0 else {
            let failure = DiskError("rename")
            // It is this file's empty reservation.
            unlink(location.path)
            throw failure
        }
        // The name is durable only with its folder.
        try DurableFile.flush(folder)
        return description(named: name)
    }

    /// Takes the name, which must be free, by an empty file; `rename` alone would replace
    /// what has it. What a crash leaves of it is a file the store does not know.
    ///
    /// Not every file system has hard links or `RENAME_NOREPLACE`; all have this.
    private static func reserve(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskError("take the name of a file") }
        close(descriptor)
    }
}

/// Hands the pieces of a body to a file, on the disk's threads.
struct IncomingFileWriter: BodyWriter {
    let file: IncomingFile
    let disk: DispatchQueue

    mutating func write(_ bytes: [UInt8]) async throws {
        let file = file
        try await disk.run { try file.write(bytes) }
    }
}

/// A kept file that is read and decrypted; stays readable when it is removed meanwhile.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let frames: FileFrames?
    /// Bytes of its content.
    private let size: Int64

    /// Opens a file of `size` bytes; nil if there is none.
    init?(path: String, size: Int64, frames: FileFrames?) throws {
        self.frames = frames
        self.size = size
        // Without waiting: what stands there may be a pipe.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT: return nil
            // A socket.
            case ENXIO: throw DamagedFile.noFile
            default: throw DiskError("open")
            }
        }
        guard let status = FileStatus(descriptor) else { throw DiskError("look at") }
        guard status.kind == .file else { throw DamagedFile.noFile }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Reads bytes, at least one; a file that ends before `offset` fails.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        guard let frames else { return try stored(count, at: offset) }
        return try frames.read(count, at: offset, ofFileWith: size) { count, offset in
            var bytes = try stored(count, at: offset)
            while bytes.count < count {
                bytes += try stored(count - bytes.count, at: offset + Int64(bytes.count))
            }
            return bytes
        }
    }

    private func stored(_ count: Int, at offset: Int64) throws -> [UInt8] {
        var failure: DiskError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = 0
            repeat {
                read = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            } while read < 0 && errno == EINTR
            failure = read < 0 ? DiskError("read") : nil
            read = max(0, read)
        }
        if let failure { throw failure }
        // A file that is too short is no failure to the system, but it is one to us.
        guard !bytes.isEmpty else { throw DamagedFile.cutShort }
        return bytes
    }
}

/// A failure of the disk.
struct DiskError: Error, CustomStringConvertible {
    private let number: Int32
    private let action: String

    /// Takes the failure that a system call just reported.
    init(_ action: String) {
        number = errno
        self.action = action
    }

    /// Whether there is no room, for anybody or for this user.
    var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }

    /// Whether the same may work later: no room, no descriptor, or a disk that fails.
    var mayPass: Bool {
        isOutOfSpace || [EIO, EROFS, EMFILE, ENFILE, ENOMEM].contains(number)
    }

    /// Whether the process has too much open, which is no fault of what was opened.
    var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(number) }

    /// Why, in the system's words.
    var reason: String { String(cString: strerror(number)) }

    var description: String { "cannot \(action): \(reason)" }
}
