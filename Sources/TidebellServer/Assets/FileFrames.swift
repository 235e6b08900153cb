// SPDX-License-Identifier: Apache-2.0
import Crypto
import TidebellCore

/// How a kept file is encrypted: in frames, each by itself, so that a part of it can be read
/// without the rest (AES-256-GCM).
///
/// The key is the file's own, and is used for nothing else. So the number of a frame is its
/// nonce, together with a mark on the last one: frames can be neither exchanged nor cut off
/// unnoticed.
struct FileFrames: Sendable {
    /// Bytes of every frame's content but the last one's.
    static let contentLength = 64 * 1024
    /// Bytes that a frame is longer than its content.
    static let tagLength = 16

    private let key: SymmetricKey

    /// Bytes that a file of `size` bytes has on the disk.
    static func storedLength(of size: Int64) -> Int64 {
        let frames = max(1, (size + Int64(contentLength) - 1) / Int64(contentLength))
        return size + frames * Int64(tagLength)
    }

    init(key: SymmetricKey) {
        self.key = key
    }

    /// Returns a frame as it stands in the file.
    func seal(_ content: [UInt8], number: Int64, isLast: Bool) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            content, using: key, nonce: try Self.nonce(number, isLast: isLast)
        )
        return Array(box.ciphertext) + box.tag
    }

    /// Returns bytes of a file of `size` bytes, at least one and at most `count`; `read` is
    /// asked for whole frames as they stand in the file.
    func read(
        _ count: Int, at offset: Int64, ofFileWith size: Int64,
        _ read: (_ count: Int, _ offset: Int64) throws -> [UInt8]
    ) throws -> [UInt8] {
        let number = offset / Int64(Self.contentLength)
        let start = number * Int64(Self.contentLength)
        let length = Int(min(Int64(Self.contentLength), size - start))
        let sealed = try read(
            length + Self.tagLength, number * Int64(Self.contentLength + Self.tagLength)
        )
        let content = try open(
            sealed, number: number, isLast: start + Int64(length) == size)
        let skipped = Int(offset - start)
        return Array(content[skipped..<min(length, skipped + count)])
    }

    /// Returns the content of a frame as it stands in the file; one that was changed fails.
    func open(_ sealed: [UInt8], number: Int64, isLast: Bool) throws -> [UInt8] {
        let box = try AES.GCM.SealedBox(
            nonce: try Self.nonce(number, isLast: isLast),
            ciphertext: sealed.dropLast(Self.tagLength), tag: sealed.suffix(Self.tagLength)
        )
        do {
            return Array(try AES.GCM.open(box, using: key))
        } catch {
            throw DamagedFile.changed
        }
    }

    private static func nonce(_ number: Int64, isLast: Bool) throws -> AES.GCM.Nonce {
        let digits = stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> Int64($0))
        }
        return try AES.GCM.Nonce(data: [0, 0, 0, isLast ? 1 : 0] + digits)
    }
}

/// A kept file is not what was written.
enum DamagedFile: Error, CustomStringConvertible {
    /// A frame is not what was written.
    case changed
    /// It ends too early.
    case cutShort
    /// The root key does not open its key.
    case otherKey
    /// The name in the database is not one that is given to files.
    case otherName
    /// Something else stands there, as a folder or a pipe.
    case noFile

    var description: String {
        switch self {
        case .changed: "what is in it is not what was written"
        case .cutShort: "it is shorter than it was"
        case .otherName: "its name in the database is none"
        case .noFile: "what stands there is no file"
        case .otherKey: "its key in the database is not one of the root key's"
        }
    }
}
