// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
package import TidebellCore
package import TidebellHTTP
import TidebellWire

/// Files of records in a bucket of an S3-compatible service, which all nodes of a cloud share.
///
/// ```
/// PREFIX/kept/ab/abcd…     whole; known to the store, or orphaned
/// PREFIX/tidebell-cloud    whose files these are
/// PREFIX/probe-NODE        written, read and removed when a node starts
/// ```
///
/// A file that comes is first written to the node's data folder, in `incoming-NODE`, hashed and encrypted on the
/// way, and then put into the bucket by one request, which writes it whole or not at all and can be repeated. So what
/// stops a node leaves a file that is thrown away when it starts again, or a file that the store does not know.
package final class AssetBucket: AssetStore {
    /// How old, by the service's clock, a file must be to be removed where the store does not know it: a node may be about to
    /// note it, however long that waits.
    package static let orphanAge = Duration.seconds(24 * 3600)
    /// Requests at a time that remove files.
    private static let removals = 8
    /// Seconds that a client should wait while the service does not answer, or refuses.
    private static let retryAfter = 10.0

    let client: BucketClient
    private let incoming: URL
    private let disk = DispatchQueue(label: "tidebell.assets", attributes: .concurrent)
    private let rootKey: RootKey?
    private let makeName: @Sendable () -> String
    private let orphanAge: Duration
    private let troubles: AssetTroubles

    /// Takes a bucket that was tried (``BucketClient/prepare(for:asNode:)``).
    ///
    /// - Parameter incoming: The folder of files that are on their way, made anew.
    init(
        _ client: BucketClient, incoming: URL, makeName: @escaping @Sendable () -> String,
        rootKey: RootKey?, orphanAge: Duration, logger: Logger
    ) throws {
        self.client = client
        self.incoming = incoming
        self.makeName = makeName
        self.rootKey = rootKey
        self.orphanAge = orphanAge
        troubles = AssetTroubles(
            ["bucket": "\(client.place)", "service": "\(client.place.service.url)"],
            // Only clouds on PostgreSQL have a bucket.
            .toolsOfPostgreSQL,
            remedy: "put back an earlier version of the object, or the one of a copy of the bucket",
            naming: { client.place.key(AssetBucket.name(of: $0)) }, logger: logger)
        try? FileManager.default.removeItem(at: incoming)  // it is often not there
        try FileManager.default.createDirectory(
            at: incoming, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// What the name of an object is after the prefix, as below an ``AssetFolder``.
    static func name(of file: String) -> String { "kept/\(file.prefix(2))/\(file)" }

    private func key(of file: String) -> String { client.place.key(Self.name(of: file)) }

    // MARK: Coming

    package func take(
        upTo limit: Int64,
        from produce: @Sendable (inout any BodyWriter) async throws -> Void,
        keep: @Sendable (StoredAsset) async throws -> StoredAsset?
    ) async throws -> StoredAsset? {
        let name = makeName()
        let path = incoming.appendingPathComponent(name).path
        do {
            let asset = try await put(name, at: path, upTo: limit, from: produce)
            let kept = try await keep(asset)
            // What cannot be removed now is orphaned, and is found as such.
            if kept?.file != name { try? await client.remove(key(of: name)) }
            troubles.end(.storing)
            troubles.end(.reaching)
            return kept
        } catch {
            unlink(path)
            throw refusal(error)
        }
    }

    /// Puts a file into the bucket, by way of the disk.
    private func put(
        _ name: String, at path: String, upTo limit: Int64,
        from produce: @Sendable (inout any BodyWriter) async throws -> Void
    ) async throws -> StoredAsset {
        let key = try rootKey?.makeFileKey(of: name)
        let file = try await disk.run {
            try IncomingFile(
                path: path, limit: limit, frames: (key?.key).map(FileFrames.init),
                notesDigest: true)
        }
        var writer: any BodyWriter = IncomingFileWriter(file: file, disk: disk)
        try await produce(&writer)
        let (draft, digest) = try await disk.run { try file.finishDraft(named: name) }
        var asset = draft
        asset.key = key?.wrapped
        try await client.put(.file(path: path, digest), at: self.key(of: name))
        unlink(path)
        return asset
    }

    /// Returns the error for a client, and logs for the operator what is in the way.
    private func refusal(_ error: any Error) -> any Error {
        guard let failure = error as? BucketFailure else { return troubles.refusal(error) }
        troubles.begin(.reaching, failure)
        return WireError(
            .tryAgainLater, "the server cannot reach its store of files now",
            retryAfter: Self.retryAfter)
    }

    // MARK: Going

    package func contents(
        of asset: StoredAsset, in range: Range<Int64>
    ) async throws -> WebResponse.Body? {
        let file: BucketFile
        let first: [UInt8]?
        do {
            guard StoredAsset.isPlainName(asset.file) else { throw DamagedFile.otherName }
            file = BucketFile(
                client, key(of: asset.file), size: asset.size, range: range,
                frames: try asset.frames(under: rootKey))
            guard try await file.open() else { return nil }
            // Before the answer begins, so that the client gets a reason.
            first = try await file.next()
            troubles.end(.reaching)
        } catch {
            throw failure(error, reading: asset.file)
        }
        return .file(length: range.upperBound - range.lowerBound) { [self] writer in
            var piece = first
            while let bytes = piece {
                try await writer.write(bytes)
                do {
                    piece = try await file.next()
                } catch {
                    // The answer has begun: all that is left is to break it off.
                    throw failure(error, reading: asset.file)
                }
            }
        }
    }

    private func failure(_ error: any Error, reading file: String) -> any Error {
        if error is BucketFailure { return refusal(error) }
        return error is CancellationError ? error : troubles.failure(error, reading: file)
    }

    package func hasFile(of asset: StoredAsset) async -> Bool {
        do {
            return try await client.length(of: key(of: asset.file)) != nil
        } catch {
            // A file that cannot be looked at is not known to be lost.
            return true
        }
    }

    package func reportMissing(_ asset: StoredAsset) {
        troubles.reportDamage(of: asset.file, "it is missing")
    }

    package func remove(_ files: [String]) async throws {
        // A name that leads elsewhere is none that was given here.
        var rest = files.filter(StoredAsset.isPlainName)[...]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0... {
                if number >= Self.removals { try await group.next() }
                guard let file = rest.popFirst() else { break }
                group.addTask { try await self.client.remove(self.key(of: file)) }
            }
            try await group.waitForAll()
        }
    }

    package func removeOrphanedFiles(
        unless known: @Sendable (Set<String>) async throws -> Set<String>
    ) async throws -> Int {
        let prefix = client.place.key("kept/")
        var count = 0
        var token: String?
        var lastKey = ""
        repeat {
            let (page, now) = try await client.page(prefix, after: token, beyond: lastKey)
            lastKey = page.objects.last?.key ?? lastKey
            let limit = now.advanced(by: .zero - orphanAge)
            // Only what has a key as given here: others may have put something else beside it.
            let old = page.objects.compactMap { object -> String? in
                guard let file = object.key.split(separator: "/").last.map({ String($0) }),
                    key(of: file) == object.key, StoredAsset.isPlainName(file),
                    let modified = object.modified, modified <= limit
                else { return nil }
                return file
            }
            let orphans = old.isEmpty ? [] : Set(old).subtracting(try await known(Set(old)))
            try await remove(Array(orphans))
            count += orphans.count
            token = page.next
        } while token != nil
        return count
    }
}

extension StoredAsset {
    /// How the file is encrypted; nil for one that is not. Fails where the root key is another one.
    func frames(under rootKey: RootKey?) throws -> FileFrames? {
        guard let wrapped = key else { return nil }
        guard let key = try? rootKey?.fileKey(wrapped, of: file) else {
            throw DamagedFile.otherKey
        }
        return FileFrames(key: key)
    }
}
