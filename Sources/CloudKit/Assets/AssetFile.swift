// SPDX-License-Identifier: Apache-2.0
import Foundation
import Crypto
import TidebellWire

/// A file that is read for an upload, on threads that may wait for a disk.
///
/// Unchecked, because one reader has it, whose calls come one after the other.
final class AssetFile: @unchecked Sendable {
    /// Bytes in memory of one transfer: the largest piece that is read at a time.
    static let pieceSize = 256 * 1024

    private static let disk = DispatchQueue(label: "CloudKit assets", attributes: .concurrent)

    /// What it was when it was opened.
    let stamp: FileStamp
    /// How many bytes were read.
    private(set) var position: Int64 = 0
    private let field: String
    private let path: String
    private let descriptor: Int32
    private var checksum = Insecure.SHA1()

    /// Opens a file.
    ///
    /// Fails with `assetFileNotFound` where there is none, and with `assetNotAvailable`
    /// where it cannot be read (ASSET-5).
    init(_ url: URL, of field: String) throws(CKError) {
        guard url.isFileURL else {
            throw .local(
                .assetNotAvailable, "The asset of \(field) is at \(url), which is not a file.")
        }
        self.field = field
        path = url.path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno != ENOENT, errno != ENOTDIR else { throw .fileNotFound(path, of: field) }
            let why = String(cString: strerror(errno))
            throw .local(
                .assetNotAvailable,
                "The file of the asset of \(field), \(path), cannot be read: \(why)."
            )
        }
        guard let stamp = FileStamp(descriptor: descriptor), stamp.isRegular else {
            close(descriptor)
            throw .local(
                .assetNotAvailable, "The asset of \(field), \(path), is not a regular file."
            )
        }
        self.descriptor = descriptor
        self.stamp = stamp
        checksum.update(data: FileChecksum.salt)
    }

    deinit {
        close(descriptor)
    }

    /// Reads the next piece; nil after the last.
    ///
    /// Fails with `assetFileModified` when the file ends before or after where it did.
    func next() async throws -> [UInt8]? {
        let file = self
        return try await Self.onDisk { try file.readPiece() }
    }

    private func readPiece() throws(CKError) -> [UInt8]? {
        let rest = stamp.size - position
        // One byte more shows whether the file has grown.
        let wanted = Int(min(Int64(Self.pieceSize), rest + 1))
        let start = position
        let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
            repeat {
                count = pread(descriptor, buffer.baseAddress, wanted, off_t(start))
            } while count < 0 && errno == EINTR
            count = max(0, count)
        }
        position += Int64(piece.count)
        guard Int64(piece.count) <= rest, !piece.isEmpty || rest == 0 else { throw modified }
        guard !piece.isEmpty else { return nil }
        checksum.update(data: piece)
        return piece
    }

    /// Returns the checksum of what was read, if the file is still the same.
    func finish() throws(CKError) -> String {
        guard let now = FileStamp(path: path) else { throw .fileNotFound(path, of: field) }
        guard position == stamp.size, FileStamp(descriptor: descriptor) == stamp, now == stamp
        else { throw modified }
        return FileChecksum.text(ofDigest: checksum.finalize())
    }

    private var modified: CKError {
        .local(
            .assetFileModified,
            "The file of the asset of \(field), \(path), changed while it was saved; save it again."
        )
    }

    /// Runs `body` where it may wait for a disk.
    static func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            disk.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension CKError {
    /// Creates the error of a file that is not there (ASSET-5).
    fileprivate static func fileNotFound(_ path: String, of field: String) -> CKError {
        .local(.assetFileNotFound, "The file of the asset of \(field), \(path), does not exist.")
    }
}
