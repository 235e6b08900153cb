// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import S3TestServer
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellTestStores

@testable import TidebellServer

/// Which store of files a test uses: the same tests hold for all.
enum FileStoreKind: CaseIterable {
    case folder, bucket

    /// Makes one; a bucket is one that no other test has.
    func make() throws -> FileStore {
        switch self {
        case .folder: .folder
        case .bucket: .bucket(try S3TestServer.shared.get().makeBucket())
        }
    }
}

/// A store of files.
enum FileStore {
    case folder
    case bucket(S3TestBucket)
}

/// A store of files, and what stands in it as another program sees it.
struct TestFiles {
    static let prefix = "clouds/a"
    private let store: FileStore
    /// The data folder.
    private let folder: URL

    init(_ store: FileStore, in folder: URL) {
        self.store = store
        self.folder = folder
    }

    func open(
        _ rootKey: RootKey? = TestAPI.rootKey, orphanAge: Duration = .zero,
        logger: Logger = Logger(label: "test")
    ) throws -> any AssetStore {
        switch store {
        case .folder:
            return try DataFolder(folder, stores: TestStores.factory).openAssets(
                rootKey: rootKey, logger: logger)
        case .bucket(let bucket):
            return try DataFolder(folder).openAssets(
                by: bucket.client(Self.prefix), of: nil, rootKey: rootKey,
                orphanAge: orphanAge, logger: logger)
        }
    }

    private func url(_ file: String) -> URL {
        folder.appendingPathComponent(DataFolder.keptFile(file))
    }

    private func key(_ file: String) -> String { "\(Self.prefix)/\(AssetBucket.name(of: file))" }

    /// The names of all kept files.
    func names() throws -> [String] {
        switch store {
        case .folder:
            let kept = folder.appendingPathComponent("assets/kept").path
            return try FileManager.default.subpathsOfDirectory(atPath: kept)
                .compactMap { $0.contains("/") ? String($0.dropFirst(3)) : nil }.sorted()
        case .bucket(let bucket):
            return try bucket.keys().filter { $0.hasPrefix("\(Self.prefix)/kept/") }
                .map { String($0.dropFirst("\(Self.prefix)/kept/ab/".count)) }.sorted()
        }
    }

    /// What is on the way.
    func incoming() throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: folder.appendingPathComponent("assets/incoming").path)
    }

    /// The bytes that stand there.
    func stored(_ file: String) throws -> [UInt8] {
        switch store {
        case .folder: Array(try Data(contentsOf: url(file)))
        case .bucket(let bucket): try bucket.get(key(file))
        }
    }

    /// Changes what stands there; nil removes it.
    func put(_ bytes: [UInt8]?, as file: String) throws {
        switch (store, bytes) {
        case (.folder, let bytes?): try Data(bytes).write(to: url(file))
        case (.folder, nil): try FileManager.default.removeItem(at: url(file))
        case (.bucket(let bucket), let bytes?): try bucket.put(bytes, at: key(file))
        case (.bucket(let bucket), nil): try bucket.remove(key(file))
        }
    }
}

extension S3TestBucket {
    /// A client of the bucket, by this machine's time.
    func client(
        _ prefix: String = TestFiles.prefix, as keys: S3TestServer.Keys? = nil,
        at endpoint: String? = nil, bucket: String? = nil
    ) throws -> BucketClient {
        BucketClient(
            try BucketPlace(
                "s3://\(bucket ?? name)/\(prefix)",
                at: BucketPlace.Service(endpoint: endpoint ?? server.address, region: nil)),
            credentials: try AWSCredentialsSource(
                environment: (keys ?? server.owner).environment),
            time: .system, randomness: .system)
    }
}
