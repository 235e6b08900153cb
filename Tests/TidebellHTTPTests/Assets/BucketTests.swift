// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import S3TestServer
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellWire

@testable import TidebellServer

/// How a bucket is used where its service, the network or the operator makes it difficult.
@Suite("Files in a bucket", .hangs)
final class BucketTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-bucket-\(UUID().uuidString)")
    private let bucket: S3TestBucket
    private let place: TestFiles
    private let log = TestLog(level: .warning)

    init() throws {
        bucket = try S3TestServer.shared.get().makeBucket()
        place = TestFiles(.bucket(bucket), in: folder)
    }

    deinit {
        // Not every test makes one.
        try? FileManager.default.removeItem(at: folder)
    }

    private func take(_ bytes: [UInt8], in files: any AssetStore) async throws -> StoredAsset {
        let kept = try await files.take(upTo: .max) {
            try await $0.write(bytes)
        } keep: {
            $0
        }
        return try #require(kept)
    }

    @Test("A service that is busy is asked again, as often as it may help")
    func retries() async throws {
        let files = try place.open(logger: log.logger)
        try bucket.refuse(BucketClient.attempts - 1, "PUT")
        let asset = try await take([1, 2, 3], in: files)
        try bucket.refuse(1, "GET", status: 500, code: "InternalError")
        let body = try await files.contents(of: asset, in: 0..<3)
        #expect(try await body?.collect() == [1, 2, 3])
        #expect(log.entries.isEmpty)
        let before = try bucket.requests()
        try bucket.refuse(BucketClient.attempts, "PUT")
        let error = await #expect(throws: WireError.self) {
            _ = try await self.take([4], in: files)
        }
        #expect(error?.code == .tryAgainLater && error?.retryAfter != nil)
        #expect(try bucket.requests() == before + BucketClient.attempts)
        #expect(try place.names() == [asset.file])
        #expect(try place.incoming().isEmpty)
        #expect(
            log.entries.map(\.metadata["error"]).first??.hasSuffix(
                "was refused with status 503 (SlowDown: Please reduce your request rate.)") == true,
            "\(log.entries)")
        // What is over and begins again is logged again, and nothing else.
        _ = try await take([5], in: files)
        try bucket.refuse(2 * BucketClient.attempts, "PUT")
        for _ in 1...2 {
            await #expect(throws: WireError.self) { _ = try await self.take([6], in: files) }
        }
        #expect(log.entries.count == 2)
    }

    @Test(
        "A download whose connection breaks off goes on where it was, and no more often than may help"
    )
    func brokenDownload() async throws {
        let files = try place.open(logger: log.logger)
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
        let asset = try await take(bytes, in: files)
        try bucket.breakOff(2, after: 100_000)
        let body = try await files.contents(of: asset, in: 70_000..<500_000)
        #expect(try await body?.collect() == Array(bytes[70_000...]))
        #expect(log.entries.isEmpty)
        try bucket.breakOff(1, after: 100_000)
        try bucket.breakOff(BucketClient.attempts - 1, after: 10)
        let error = await #expect(throws: WireError.self) {
            _ = try await files.contents(of: asset, in: 0..<500_000)?.collect()
        }
        #expect(error?.code == .tryAgainLater)
        #expect(log.entries.count == 1)
    }

    @Test(
        "A service that nobody reaches is TRY_AGAIN_LATER for clients, and named for the operator")
    func unreachable() async throws {
        let address = try RawServer(answering: nil).close()
        let client = try bucket.client(at: address)
        let files = try DataFolder(folder).openAssets(
            by: client, of: nil, rootKey: TestAPI.rootKey, logger: log.logger)
        var asset = try await take([1], in: try place.open())
        let error = await #expect(throws: WireError.self) {
            _ = try await self.take([1], in: files)
        }
        #expect(error?.code == .tryAgainLater)
        let other = await #expect(throws: WireError.self) {
            _ = try await files.contents(of: asset, in: 0..<1)
        }
        #expect(other?.code == .tryAgainLater)
        // It is not known to be lost.
        #expect(await files.hasFile(of: asset))
        asset.file = "none"
        let reached = try place.open()
        #expect(await !reached.hasFile(of: asset))
        #expect(log.lines == ["warning: the bucket with the files of records cannot be used"])
        #expect(log.entries.first?.metadata["error"]?.contains("Connection refused") == true)
        #expect(log.entries.first?.metadata["advice"]?.contains("--s3-endpoint") == true)
    }

    @Test("A web server that is no service of S3 is named as such")
    func strangers() async throws {
        let web = try RawServer(answering: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        let client = try bucket.client(at: try web.url().absoluteString)
        let error = await #expect(throws: BucketFailure.self) {
            _ = try await client.page("clouds/a/kept/")
        }
        #expect(error?.cause == .strange("it is no page of a listing"))
    }

    @Test(
        "What a proxy answers in the service's place neither writes a file nor loses one",
        arguments: [
            "HTTP/1.1 404 Not Found\r\nContent-Length: 18\r\n\r\n404 page not found",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ])
    func proxy(answer: String) async throws {
        let asset = try await take([1], in: try place.open())
        let web = try RawServer(answering: answer)
        let files = try DataFolder(folder).openAssets(
            by: try bucket.client(at: web.url().absoluteString), of: nil, rootKey: TestAPI.rootKey,
            logger: log.logger)
        let error = await #expect(throws: WireError.self) {
            _ = try await self.take([2], in: files)
        }
        #expect(error?.code == .tryAgainLater)
        #expect(await files.hasFile(of: asset))
        guard answer.contains("404") else { return }
        let other = await #expect(throws: WireError.self) {
            _ = try await files.contents(of: asset, in: 0..<1)
        }
        #expect(other?.code == .tryAgainLater)
    }

    /// A start that is refused.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var keys: @Sendable (S3TestServer) -> S3TestServer.Keys = { $0.owner }
        var bucket: String?
        var words: [String]
    }

    private static let refusals = [
        Refused(
            testDescription: "a bucket that is not there", bucket: "no-such-files",
            words: [
                "PUT s3://no-such-files/clouds/a/probe-n", "404", "NoSuchBucket", "Make the bucket",
            ]),
        Refused(
            testDescription: "a user who may only read", keys: { $0.reader },
            words: ["403", "AccessDenied", "s3:PutObject", "AWS_ACCESS_KEY_ID"]),
        Refused(
            testDescription: "a secret that is another one",
            keys: { .init(id: $0.owner.id, secret: "none") },
            words: ["403", "SignatureDoesNotMatch", "Check the credentials"]),
        Refused(
            testDescription: "a key that nobody has",
            keys: { .init(id: "AKIANONE", secret: $0.owner.secret) },
            words: ["403", "InvalidAccessKeyId", "Check the credentials"]),
    ]

    @Test(
        "A start on a bucket that cannot be used is refused with why, and with what to do",
        arguments: refusals)
    func refused(_ row: Refused) async throws {
        let keys = row.keys(bucket.server)
        let client = try bucket.client(as: keys, bucket: row.bucket)
        let error = await #expect(throws: OperatorError.self) {
            try await client.prepare(for: 1, asNode: "n")
        }
        let text = error?.description ?? ""
        for word in row.words { #expect(text.contains(word), "\(text)") }
        #expect(!text.contains(keys.secret))
    }

    @Test("A prefix is one cloud's, and a start leaves nothing of its trial")
    func owner() async throws {
        try await bucket.client().prepare(for: 17, asNode: "a")
        try await bucket.client().prepare(for: 17, asNode: "b")
        #expect(try bucket.keys() == ["clouds/a/tidebell-cloud"])
        let error = await #expect(throws: OperatorError.self) {
            try await self.bucket.client().prepare(for: 18, asNode: "a")
        }
        #expect(error?.description.contains("the files of another cloud") == true)
        try await bucket.client("clouds/b").prepare(for: 18, asNode: "a")
    }

    @Test("ASSET-4: a file that came lately is not orphaned, nor what somebody else put there")
    func lateOrphans() async throws {
        let asset = try await take([1], in: try place.open())
        try bucket.put([1], at: "clouds/a/kept/readme.txt")
        try bucket.put([1], at: "clouds/a/kept/ab/cdef")
        try bucket.put([1], at: "clouds/b/kept/ab/abcd")
        let files = try place.open(orphanAge: AssetBucket.orphanAge)
        #expect(try await files.removeOrphanedFiles { _ in [] } == 0)
        #expect(try place.names().contains(asset.file))
        #expect(try await place.open().removeOrphanedFiles { _ in [] } == 1)
        #expect(
            try bucket.keys() == [
                "clouds/a/kept/ab/cdef", "clouds/a/kept/readme.txt", "clouds/b/kept/ab/abcd",
            ])
    }

    @Test("A bucket is listed page by page")
    func pages() async throws {
        for number in 0..<5 { try bucket.put([], at: "clouds/a/kept/ab/ab\(number)") }
        let client = try bucket.client()
        var (keys, token, pages): ([String], String?, Int) = ([], nil, 0)
        repeat {
            let (page, _) = try await client.page("clouds/a/kept/", after: token, limit: 2)
            keys += page.objects.map(\.key)
            token = page.next
            pages += 1
        } while token != nil
        #expect(keys == (0..<5).map { "clouds/a/kept/ab/ab\($0)" })
        #expect(pages == 3)
    }

    @Test("Credentials that were renewed in their file are used at once")
    func renewedCredentials() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("credentials")
        func write(_ keys: S3TestServer.Keys) throws {
            try Data(
                "[default]\naws_access_key_id=\(keys.id)\naws_secret_access_key=\(keys.secret)".utf8
            ).write(to: file)
        }
        try write(bucket.server.reader)
        let client = BucketClient(
            try bucket.client().place,
            credentials: try AWSCredentialsSource(
                environment: ["AWS_SHARED_CREDENTIALS_FILE": file.path]),
            time: .system, randomness: .system)
        try write(bucket.server.owner)
        try await client.prepare(for: 1, asNode: nil)
    }

    // MARK: The data folder

    private func start(_ bucket: S3TestBucket?, _ limits: Limits = Limits()) async throws {
        var place = AssetPlace.folder
        if let bucket {
            let client = try bucket.client()
            place = .bucket(client.place, client.credentials)
        }
        _ = try await DataFolder(folder).openAssets(
            in: place, identity: 1, limits: limits, time: .system, randomness: .system,
            logger: log.logger)
    }

    private func refusal(_ bucket: S3TestBucket?, _ limits: Limits = Limits()) async -> String {
        let error = await #expect(throws: OperatorError.self) {
            try await self.start(bucket, limits)
        }
        return error?.description ?? ""
    }

    @Test(
        "A cloud whose files are in a bucket is not served without it, and has no backup without them"
    )
    func noted() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await start(bucket)
        try await start(bucket)
        let name = "s3://\(bucket.name)/clouds/a"
        #expect(await refusal(nil).contains("give --asset-store \(name)."))
        let other = try bucket.server.makeBucket()
        #expect(await refusal(other).contains("are in \(name)"))
        for command in ["backup", "check"] {
            let error = #expect(throws: OperatorError.self) {
                switch command {
                case "backup":
                    _ = try Backup.make(
                        of: DataFolder(folder), to: folder.appendingPathExtension("backup"),
                        at: TestAPI.start)
                default: _ = try CloudCheck.run(DataFolder(folder), at: TestAPI.start)
                }
            }
            let text = error?.description ?? ""
            #expect(text.contains("tidebell \(command) works on") && text.contains(name), "\(text)")
        }
        try FileManager.default.removeItem(at: folder.appendingPathComponent("asset-store"))
        try await start(other)
    }

    @Test("Files that are still in the folder are to be copied before a bucket has them")
    func filesInFolder() async throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("assets/kept/ab"), withIntermediateDirectories: true)
        #expect(await refusal(bucket).contains("aws s3 sync \(folder.path)/assets/kept s3://"))
        #expect(try bucket.keys().isEmpty)
    }

    @Test("Files that one request could not write are refused at the start")
    func tooLarge() async throws {
        var limits = Limits()
        limits.assetBytes = 5 << 30
        #expect(await refusal(bucket, limits).contains("set a lower --max-asset-size"))
    }
}
