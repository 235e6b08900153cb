// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Logging
package import TidebellCore
package import TidebellHTTP
package import TidebellScheduling

/// Where the files of records of a cloud are.
package enum AssetPlace: Sendable {
    /// In its data folder.
    case folder
    /// In a bucket of an S3-compatible service.
    case bucket(BucketPlace, AWSCredentialsSource)

    /// The descriptors that a file has while it comes or goes: it is sent to a bucket from the disk.
    var filesPerTransfer: Int {
        switch self {
        case .folder: 1
        case .bucket: 2
        }
    }
}

/// A cloud whose files of records are in a bucket: its data folder has a note of that, so that nobody serves it or
/// makes a backup of it without them by mistake.
extension DataFolder {
    /// The file that names the bucket.
    package static let bucketNoteName = "asset-store"
    /// Bytes of that file: a longer one is none.
    private static let bucketNoteBytes = 2048

    private var bucketNote: URL { url.appendingPathComponent(Self.bucketNoteName) }

    /// The bucket that has the files of records, as `s3://BUCKET/PREFIX`; nil where the folder has them.
    package var notedBucket: String? {
        // Where there is no such file, the folder has the files.
        guard
            let bytes = try? DurableFile.contents(of: bucketNote, upTo: Self.bucketNoteBytes)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    /// Opens the store of the files of records where it is; only for the one process that serves, or for each node.
    ///
    /// What an operator can put right fails with ``OperatorError``: a bucket that cannot be used, and files that are
    /// elsewhere.
    ///
    /// - Parameters:
    ///   - identity: The store's, whose files these are.
    ///   - limits: Those of one file.
    package func openAssets(
        in place: AssetPlace, of node: String? = nil, identity: UInt64, limits: Limits,
        rootKey: RootKey? = nil, time: Time, randomness: Randomness, logger: Logger
    ) async throws -> any AssetStore {
        guard case .bucket(let bucket, let credentials) = place else {
            try checkHasFiles()
            return try openAssets(of: node, rootKey: rootKey, logger: logger)
        }
        let largest = FileFrames.storedLength(of: limits.assetBytes(forExtendedClient: true))
        guard largest <= BucketClient.mostFileBytes else {
            throw OperatorError(
                "A file in a bucket has at most \(BucketClient.mostFileBytes >> 30) GB: set a lower --max-asset-size."
            )
        }
        try checkFiles(mayBeIn: bucket)
        let client = BucketClient(
            bucket, credentials: credentials, time: time, randomness: randomness)
        try await client.prepare(for: identity, asNode: node)
        let assets = try openAssets(by: client, of: node, rootKey: rootKey, logger: logger)
        if notedBucket == nil { _ = try write("\(bucket)\n", named: Self.bucketNoteName) }
        return assets
    }

    /// Opens the files in a bucket that was tried.
    func openAssets(
        by client: BucketClient, of node: String?,
        makeName: @escaping @Sendable () -> String = AssetFolder.randomName,
        rootKey: RootKey?, orphanAge: Duration = AssetBucket.orphanAge, logger: Logger
    ) throws -> AssetBucket {
        let incoming = assets.appendingPathComponent(
            node.map { "incoming-\($0)" } ?? "incoming")
        do {
            return try AssetBucket(
                client, incoming: incoming, makeName: makeName, rootKey: rootKey,
                orphanAge: orphanAge, logger: logger)
        } catch {
            throw OperatorError(
                "Files of records that are on their way to the bucket cannot be stored in the folder "
                    + "\(incoming.path): \(error.localizedDescription)")
        }
    }

    /// Fails where the files are in a bucket and the server does not know that.
    private func checkHasFiles() throws {
        guard let bucket = notedBucket else { return }
        throw OperatorError(
            "The files of records of this cloud are in \(bucket), as the file \(bucketNote.path) says: give "
                + "--asset-store \(bucket.asShellWord). If you have copied them to \(keptFolder.path), remove that file."
        )
    }

    /// Fails where the files are in the folder, or in another bucket.
    private func checkFiles(mayBeIn bucket: BucketPlace) throws {
        if let noted = notedBucket, noted != "\(bucket)" {
            throw OperatorError(
                "The files of records of this cloud are in \(noted), as the file \(bucketNote.path) says, and not in "
                    + "\(bucket). If you have copied them there, remove that file.")
        }
        // A folder that is not there holds nothing.
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: keptFolder.path)) ?? []
        guard !folders.isEmpty else { return }
        throw OperatorError(
            "The folder \(keptFolder.path) has files of records. Copy them to \(bucket)/kept/ (aws s3 sync "
                + "\(keptFolder.path.asShellWord) \("\(bucket)/kept/".asShellWord)), move the folder away, and start again."
        )
    }

    private var keptFolder: URL { assets.appendingPathComponent("kept") }

    /// Fails for a command that needs all files where they are in a bucket.
    func checkFilesAreInFolder(for command: String) throws {
        guard let bucket = notedBucket else { return }
        throw OperatorError(
            "tidebell \(command) works on the files of a data folder, and the files of records of this cloud are in "
                + "\(bucket), as the file \(bucketNote.path) says. Keep earlier versions of the bucket's objects, or "
                + "copy the bucket after the database; see OPERATING.md. If you have copied the files to "
                + "\(keptFolder.path), remove that file.")
    }
}
