// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TidebellCore
import TidebellScheduling
import TidebellWire

/// Talks to an S3-compatible service about the objects of one bucket: each request signed, bounded in time, and
/// tried again where that may help. Certificates are verified, redirects not followed.
final class BucketClient: Sendable {
    /// How often a request is tried before it has failed.
    static let attempts = 3
    /// Between attempts.
    static let backoff = Backoff(
        first: .milliseconds(200), longest: .seconds(2), spread: .shorter)
    /// How long a connection may take.
    private static let connectTime = TimeAmount.seconds(5)
    /// How long an answer may take to begin once the request is sent.
    private static let answerTime = Duration.seconds(30)
    /// How long an answer may stand still.
    private static let stallTime = TimeAmount.seconds(30)
    /// Bytes a second that a body may be sent with at least, on average.
    private static let leastRate: Int64 = 128 * 1024
    /// Connections to the service: two for each transfer (``Cloud/transferCapacity``) even where the operator allows
    /// more of them than usual; more requests wait.
    private static let mostConnections = 512
    /// Bytes of an answer that states an error.
    private static let mostErrorBytes = 64 * 1024
    /// Objects of a page of a listing, each with a key of at most 1024 bytes.
    static let pageLength = 500
    /// Bytes of a page of a listing.
    private static let mostPageBytes = 4 << 20

    /// What a request sends.
    enum Content {
        case none
        case bytes([UInt8])
        /// A file that does not change meanwhile, with its digest.
        case file(path: String, DurableFile.Digest)

        var length: Int64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, let digest): digest.bytes
            }
        }
    }

    /// A request.
    struct Call {
        var method: HTTPMethod
        /// The object's; nil for the bucket.
        var key: String?
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var content = Content.none
    }

    // One client for the process: it owns connections and is never shut down.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: connectTime, read: stallTime, write: stallTime))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = mostConnections
        // Requests are tried again as a whole.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    let place: BucketPlace
    let credentials: AWSCredentialsSource
    let time: Time
    private let randomness: Randomness
    private let disk = DispatchQueue(label: "tidebell.bucket", attributes: .concurrent)

    init(
        _ place: BucketPlace, credentials: AWSCredentialsSource, time: Time,
        randomness: Randomness
    ) {
        self.place = place
        self.credentials = credentials
        self.time = time
        self.randomness = randomness
    }

    // MARK: Objects

    /// Writes an object, whole or not at all.
    ///
    /// - Parameter onlyIfAbsent: Fails with status 412 where there is one, if the service knows of such conditions.
    func put(_ content: Content, at key: String, onlyIfAbsent: Bool = false) async throws {
        var call = Call(method: .PUT, key: key, content: content)
        if onlyIfAbsent { call.headers.append(("if-none-match", "*")) }
        let answer = try await send(call)
        // What else answers in the service's place, such as a proxy, has written nothing.
        guard answer?.headers.contains(name: "ETag") == true else {
            throw failure(of: call, .strange("it does not say that the object was written"))
        }
        await finish(answer)
    }

    /// Returns a part of an object, or all of it; nil where there is none.
    func get(_ key: String, _ range: Range<Int64>? = nil) async throws -> HTTPClientResponse? {
        var call = Call(method: .GET, key: key)
        if let range {
            call.headers.append(("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)"))
        }
        return try await send(call)
    }

    /// Returns a small object; nil where there is none.
    func contents(of key: String, upTo limit: Int) async throws -> [UInt8]? {
        guard let answer = try await get(key) else { return nil }
        let call = Call(method: .GET, key: key)
        return try await collect(answer, upTo: limit, of: call)
    }

    /// Returns how many bytes an object has; nil where a listing has none of that key. Not by HEAD: its answer has no
    /// body, and so does not tell whether it is the service that finds nothing or a proxy.
    func length(of key: String) async throws -> Int64? {
        let (page, _) = try await page(key, limit: 1)
        guard let object = page.objects.first(where: { $0.key == key }) else { return nil }
        guard let bytes = object.bytes else {
            throw failure(of: Call(method: .GET, key: key), .strange("it has no length"))
        }
        return bytes
    }

    /// Removes an object, also one that is not there.
    func remove(_ key: String) async throws {
        await finish(try await send(Call(method: .DELETE, key: key)))
    }

    /// Returns a page of the objects whose keys begin with a prefix, and the moment by the service's clock.
    ///
    /// - Parameter lastKey: The last key of the page before. A page that does not end beyond it, and is not the last, is
    ///   refused: otherwise there would be no end.
    func page(
        _ prefix: String, after token: String? = nil, beyond lastKey: String = "",
        limit: Int = pageLength
    ) async throws -> (page: BucketPage, now: Instant) {
        var call = Call(method: .GET)
        call.query = [
            ("list-type", "2"), ("prefix", prefix), ("max-keys", String(limit)),
        ]
        if let token { call.query.append(("continuation-token", token)) }
        guard let answer = try await send(call) else {
            throw failure(of: call, .refused(status: 404, code: "NoSuchBucket", message: nil))
        }
        let now = answer.headers.first(name: "Date").flatMap(BucketPage.headerMoment)
        let text = String(
            decoding: try await collect(answer, upTo: Self.mostPageBytes, of: call), as: UTF8.self)
        guard let page = BucketPage(text), page.next != "",
            page.next == nil
                || lastKey.utf8.lexicographicallyPrecedes((page.objects.last?.key ?? "").utf8)
        else { throw failure(of: call, .strange("it is no page of a listing")) }
        guard let now else { throw failure(of: call, .strange("it has no date")) }
        return (page, now)
    }

    // MARK: Requests

    /// Returns the failure of a request.
    func failure(of call: Call, _ cause: BucketFailure.Cause) -> BucketFailure {
        let object = call.key.map { "/\($0)" } ?? ""
        return BucketFailure(
            action: "\(call.method.rawValue) s3://\(place.bucket)\(object) at \(place.service.url)",
            cause: cause)
    }

    /// Sends a request as often as it may help, and returns an answer that is a success; nil where the object is not
    /// there.
    private func send(_ call: Call) async throws -> HTTPClientResponse? {
        var failures = 0
        while true {
            let used = credentials.current
            do {
                return try await attempt(call, with: used)
            } catch let failure as BucketFailure {
                failures += 1
                let mayHelp =
                    failure.mayPass || failure.isOfCredentials && credentials.lookAgain(after: used)
                guard failures < Self.attempts, mayHelp else { throw failure }
                try await pause(after: failures)
            }
        }
    }

    /// Waits before another attempt.
    func pause(after failures: Int) async throws {
        let wait = Self.backoff.wait(after: failures, jitter: randomness.makeFraction())
        try await time.clock.sleep(for: wait)
    }

    private func attempt(
        _ call: Call, with credentials: AWSCredentials
    ) async throws -> HTTPClientResponse? {
        let limit =
            Self.answerTime
            + .milliseconds(call.content.length * 1000 / Self.leastRate)
        let answer: HTTPClientResponse
        do {
            answer = try await Self.client.execute(
                signed(call, with: credentials), timeout: TimeAmount(limit))
        } catch let error as DiskError {
            // The file that is sent cannot be read.
            throw error
        } catch {
            try Task.checkCancellation()
            throw failure(of: call, .of(error))
        }
        if (200..<300).contains(answer.status.code) { return answer }
        let body = try await collect(answer, upTo: Self.mostErrorBytes, of: call)
        let cause = BucketFailure.Cause.refusal(
            status: Int(answer.status.code), body: String(decoding: body, as: UTF8.self))
        // A 404 without that code may be that of a proxy, and what is to be written is not there to be missing.
        if call.method != .PUT, case .refused(404, "NoSuchKey", _) = cause { return nil }
        throw failure(of: call, cause)
    }

    private func signed(_ call: Call, with credentials: AWSCredentials) -> HTTPClientRequest {
        let moment = AWSSignature.text(of: time.now())
        let payload =
            switch call.content {
            case .none: AWSSignature.digest([])
            case .bytes(let bytes): AWSSignature.digest(bytes)
            case .file(_, let digest): digest.sha256
            }
        let path = place.path(of: call.key)
        var headers = [
            "host": place.host, "x-amz-date": moment, "x-amz-content-sha256": payload,
        ]
        if let token = credentials.sessionToken { headers["x-amz-security-token"] = token }
        for (name, value) in call.headers { headers[name] = value }
        let query = AWSSignature.queryText(call.query)
        var request = HTTPClientRequest(
            url: "\(place.service.scheme)://\(place.host)"
                + AWSSignature.encoded(path, keepsSlashes: true)
                + (query.isEmpty ? "" : "?\(query)"))
        request.method = call.method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.headers.add(
            name: "authorization",
            value: AWSSignature(credentials: credentials, region: place.service.region)
                .authorization(
                    of: .init(
                        method: call.method.rawValue, path: path, query: call.query,
                        headers: headers, payload: payload),
                    at: moment))
        switch call.content {
        case .none: break
        case .bytes(let bytes): request.body = .bytes(ByteBuffer(bytes: bytes))
        case .file(let path, let digest):
            request.body = .stream(
                FilePieces(path: path, disk: disk), length: .known(digest.bytes))
        }
        return request
    }

    private func collect(
        _ answer: HTTPClientResponse, upTo limit: Int, of call: Call
    ) async throws -> [UInt8] {
        do {
            return Array(buffer: try await answer.body.collect(upTo: limit))
        } catch {
            try Task.checkCancellation()
            throw failure(of: call, .of(error))
        }
    }

    /// Reads the body of an answer that says nothing, so that its connection can be kept.
    private func finish(_ answer: HTTPClientResponse?) async {
        // Whether it comes to its end does not matter: the status has come.
        _ = try? await answer?.body.collect(upTo: Self.mostErrorBytes)
    }
}

/// The bytes of a file that does not change, read while they are sent.
private struct FilePieces: AsyncSequence, Sendable {
    let path: String
    let disk: DispatchQueue

    func makeAsyncIterator() -> Iterator { Iterator(path: path, disk: disk) }

    struct Iterator: AsyncIteratorProtocol {
        let path: String
        let disk: DispatchQueue
        var file: OpenFile?
        var offset: Int64 = 0
        var size: Int64 = 0

        mutating func next() async throws -> ByteBuffer? {
            if file == nil {
                size = FileStatus(path)?.size ?? 0
                guard size > 0 else { return nil }
                file = try await disk.run { [path, size] in
                    try OpenFile(path: path, size: size, frames: nil)
                }
            }
            guard let file, offset < size else { return nil }
            let piece = try await disk.run { [offset] in
                try file.read(AssetFolder.pieceSize, at: offset)
            }
            offset += Int64(piece.count)
            return ByteBuffer(bytes: piece)
        }
    }
}
