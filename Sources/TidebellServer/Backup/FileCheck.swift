// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellWire

/// Finds what is wrong with kept files, in words that follow a file's name.
///
/// Of an encrypted file only the length is known without the root key. With it, every frame
/// is authenticated, and the content's digest is held against the database's.
struct FileCheck {
    /// The root key of the store, where it is at hand.
    let rootKey: RootKey?

    /// Whether the content of a file can be read: its key may be under another root key than
    /// the store's, where a change of that was stopped.
    func reads(_ file: StoreFindings.StoredFile) -> Bool {
        guard file.key != nil else { return true }
        guard let rootKey else { return false }
        return file.rootKeyID == nil || file.rootKeyID == rootKey.rootKeyID
    }

    /// What is wrong with a file; nil for nothing.
    func problem(of file: StoreFindings.StoredFile, at url: URL) -> String? {
        do {
            guard let digest = try DurableFile.digest(of: url) else { return "is missing" }
            return try problem(of: file, with: digest, at: url)
        } catch {
            return "cannot be read: \((error as? DiskError)?.reason ?? "\(error)")"
        }
    }

    /// What is wrong with a file that was read already, and had this digest.
    func problem(
        of file: StoreFindings.StoredFile, with digest: DurableFile.Digest, at url: URL
    ) throws -> String? {
        guard StoredAsset.sizes.contains(file.bytes) else {
            return "has a size in the database that no file has: \(file.bytes)"
        }
        let length = file.key == nil ? file.bytes : FileFrames.storedLength(of: file.bytes)
        guard digest.bytes == length else { return "has \(digest.bytes) bytes and not \(length)" }
        guard let wrapped = file.key else {
            return digest.sha256 == file.content ? nil : Self.otherDigest
        }
        guard let rootKey, reads(file) else { return nil }
        guard let key = try? rootKey.fileKey(wrapped, of: file.name) else {
            return "cannot be opened: \(DamagedFile.otherKey)"
        }
        return try contentProblem(of: file, under: FileFrames(key: key), at: url)
    }

    private func contentProblem(
        of file: StoreFindings.StoredFile, under frames: FileFrames, at url: URL
    ) throws -> String? {
        guard let open = try OpenFile(path: url.path, size: file.bytes, frames: frames) else {
            return "is missing"
        }
        var digest = SHA256()
        var offset: Int64 = 0
        repeat {
            do {
                let piece = try open.read(FileFrames.contentLength, at: offset)
                digest.update(data: piece)
                offset += Int64(piece.count)
            } catch let error as DamagedFile {
                return "is damaged at byte \(offset) of its content: \(error)"
            }
        } while offset < file.bytes
        return Hex.text(Array(digest.finalize())) == file.content ? nil : Self.otherDigest
    }

    private static let otherDigest = "is damaged: its digest is another one"
}
