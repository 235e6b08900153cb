// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellHTTP
import TidebellWire

/// Files that are copied piece by piece, with a digest, and are on the disk when that
/// returns; their names are with ``flush(_:)`` of their folder.
enum DurableFile {
    /// What shows whether a file is unchanged.
    struct Digest: Hashable {
        var bytes: Int64
        var sha256: String
    }

    private static let pieceSize = 1 << 20

    /// Copies a file to a path where none is (mode 0600).
    static func copy(_ source: URL, to target: URL) throws -> Digest {
        try copyIfReadable(source, to: target).get()
    }

    /// Copies a file to a path where none is (mode 0600); a source that cannot be read to its
    /// end is a result, and leaves nothing there.
    static func copyIfReadable(
        _ source: URL, to target: URL
    ) throws -> Result<Digest, DiskError> {
        let descriptor = try create(target)
        defer { close(descriptor) }
        let digest: Digest
        var isWritten = true
        do {
            digest = try read(source) { bytes in
                isWritten = false
                try write(bytes, to: descriptor)
                isWritten = true
            }
        } catch let error as DiskError where isWritten && !error.isShortage {
            guard unlink(target.path) == 0 else { throw DiskError("remove \(target.path)") }
            return .failure(error)
        }
        guard fsync(descriptor) == 0 else { throw DiskError("flush \(target.path)") }
        return .success(digest)
    }

    /// Writes a file where none is (mode 0600).
    static func write(_ bytes: [UInt8], to target: URL) throws {
        let descriptor = try create(target)
        defer { close(descriptor) }
        try bytes.withUnsafeBytes { try write($0, to: descriptor) }
        guard fsync(descriptor) == 0 else { throw DiskError("flush \(target.path)") }
    }

    /// Whether a path is that of a file, or of a link to one: others may have no end, or wait
    /// for the writer.
    static func isFile(_ url: URL) -> Bool {
        FileStatus(url.path)?.kind == .file
    }

    /// Returns the digest of a file; nil if there is none.
    static func digest(of url: URL) throws -> Digest? {
        guard access(url.path, F_OK) == 0 || errno != ENOENT else { return nil }
        return try read(url) { _ in }
    }

    /// Returns the content of a small file, at most `limit` bytes of it.
    static func contents(of url: URL, upTo limit: Int) throws -> [UInt8] {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskError("open \(url.path)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: limit)
        // A pipe gives what there is.
        while bytes.count < limit {
            let count = Foundation.read(descriptor, &piece, limit - bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DiskError("read \(url.path)") }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }

    /// Makes the names in a folder durable.
    static func flush(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DiskError("open \(folder.path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw DiskError("flush \(folder.path)") }
    }

    private static func create(_ target: URL) throws -> Int32 {
        let descriptor = open(target.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DiskError("create \(target.path)") }
        return descriptor
    }

    private static func read(
        _ source: URL, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Digest {
        // Without waiting: it may be a pipe.
        let descriptor = open(source.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw DiskError("open \(source.path)") }
        defer { close(descriptor) }
        guard let status = FileStatus(descriptor) else { throw DiskError("open \(source.path)") }
        guard status.kind == .file else {
            errno = status.kind == .folder ? EISDIR : EINVAL
            throw DiskError("read \(source.path), which is no file")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        var digest = SHA256()
        var bytes: Int64 = 0
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, pieceSize)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DiskError("read \(source.path)") }
            guard count > 0 else { break }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            digest.update(bufferPointer: piece)
            try body(piece)
            bytes += Int64(count)
        }
        return Digest(bytes: bytes, sha256: Hex.text(Array(digest.finalize())))
    }

    /// Writes bytes, all of them, where the file stands.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
            let count = Foundation.write(descriptor, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw DiskError("write") }
            rest = rest.dropFirst(count)
        }
    }
}
