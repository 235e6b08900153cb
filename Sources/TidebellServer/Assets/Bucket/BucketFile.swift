// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TidebellCore

/// A range of the content of a file in a bucket, read piece by piece and decrypted; an answer that breaks off is
/// gone on with by another request.
///
/// Unchecked, because one reader has it, whose calls come one after the other.
final class BucketFile: @unchecked Sendable {
    private let client: BucketClient
    private let key: String
    /// Bytes of the content, of which `offset` is the next one that is read and `end` the first one that is not.
    private let size: Int64
    private var offset: Int64
    private let end: Int64
    private let frames: FileFrames?
    private var answer: HTTPClientResponse.Body.AsyncIterator?
    /// What has come and is no whole frame yet.
    private var waiting = ByteBuffer()
    /// Failures since the last piece.
    private var failures = 0

    init(
        _ client: BucketClient, _ key: String, size: Int64, range: Range<Int64>, frames: FileFrames?
    ) {
        self.client = client
        self.key = key
        self.size = size
        (offset, end) = (range.lowerBound, range.upperBound)
        self.frames = frames
    }

    /// Bytes that a frame has in the bucket.
    private static let frameLength = Int64(FileFrames.contentLength + FileFrames.tagLength)

    /// The number of the frame in which the next byte is.
    private var frame: Int64 { offset / Int64(FileFrames.contentLength) }

    private var storedLength: Int64 { frames == nil ? size : FileFrames.storedLength(of: size) }

    /// The bytes of the object that have to be read for what is left.
    private var storedRange: Range<Int64> {
        guard frames != nil else { return offset..<end }
        let last = (end - 1) / Int64(FileFrames.contentLength)
        return frame * Self.frameLength..<min((last + 1) * Self.frameLength, storedLength)
    }

    /// Asks for the range; false where there is no such file. A range without bytes asks only that.
    func open() async throws -> Bool {
        guard offset < end else {
            guard let length = try await client.length(of: key) else { return false }
            try check(length)
            return true
        }
        let range = storedRange
        let found: HTTPClientResponse?
        do {
            found = try await client.get(key, range)
        } catch let error as BucketFailure {
            // The object ends before the range begins.
            if case .refused(416, _, _) = error.cause { throw DamagedFile.cutShort }
            throw error
        }
        guard let found else { return false }
        let length =
            found.status == .partialContent
            ? found.headers.first(name: "Content-Range")?.split(separator: "/").last
                .flatMap { Int64($0) }
            : found.headers.first(name: "Content-Length").flatMap { Int64($0) }
        try check(length ?? 0)
        guard found.status == .partialContent || range == 0..<storedLength else {
            // The service knows of no ranges.
            throw client.failure(
                of: BucketClient.Call(method: .GET, key: key),
                .strange("it is not the range asked for"))
        }
        waiting.clear()
        answer = found.body.makeAsyncIterator()
        return true
    }

    private func check(_ length: Int64) throws {
        guard length != storedLength else { return }
        throw length < storedLength ? DamagedFile.cutShort : .changed
    }

    /// Returns the next bytes; nil at the end.
    func next() async throws -> [UInt8]? {
        while offset < end {
            // It is tried as often as any request.
            if answer == nil, try await !open() { throw DamagedFile.cutShort }
            do {
                let piece = try await piece()
                offset += Int64(piece.count)
                failures = 0
                return piece
            } catch let error where !(error is DamagedFile) {
                try Task.checkCancellation()
                failures += 1
                guard failures < BucketClient.attempts else { throw error }
                answer = nil
                try await client.pause(after: failures)
            }
        }
        return nil
    }

    private func piece() async throws -> [UInt8] {
        guard let frames else {
            let bytes = Array(buffer: try await part())
            return Array(bytes.prefix(Int(min(end - offset, Int64(bytes.count)))))
        }
        let start = frame * Int64(FileFrames.contentLength)
        let length = min(Int64(FileFrames.contentLength), size - start)
        let stored = Int(length) + FileFrames.tagLength
        while waiting.readableBytes < stored {
            var part = try await part()
            waiting.writeBuffer(&part)
        }
        let sealed = waiting.readBytes(length: stored) ?? []
        waiting.discardReadBytes()
        let content = try frames.open(
            sealed, number: frame, isLast: start + length == size)
        return Array(content[Int(offset - start)..<Int(min(length, end - start))])
    }

    /// Returns bytes of the answer as they come.
    private func part() async throws -> ByteBuffer {
        let call = BucketClient.Call(method: .GET, key: key)
        do {
            // An iterator cannot be used where it is kept.
            var iterator = answer
            answer = nil
            let part = try await iterator?.next()
            answer = iterator
            if let part { return part }
        } catch {
            throw client.failure(of: call, .of(error))
        }
        throw client.failure(of: call, .unreachable("it broke off"))
    }
}
