// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import Synchronization

/// The body of a request: its connection puts in what comes, its task takes out.
final class SocketBody: PendingBody {
    /// Bytes that wait for the task before the connection is read no further.
    private static let bytesAhead = 64 * 1024

    /// How a body ends.
    enum End: Sendable {
        case whole
        /// The client left, took too long, or sent what is no body.
        case cutShort
    }

    fileprivate struct State {
        var pieces: [ByteBuffer] = []
        var bytes = 0
        var end: End?
        /// Whether the connection waits for room.
        var isFull = false
        /// Whether nobody reads it any more.
        var isDropped = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private let connection: Connection
    private let announced: Int?
    /// Whether it is known to be short, or not there, so that its reader takes no time worth a thread of its own.
    let isShort: Bool
    /// Whether the client waits for `100 Continue`.
    private let isAskedFor: Bool
    private let state = Mutex(State())

    init(_ head: HTTPRequest, on connection: Connection) {
        self.connection = connection
        announced = head.headerFields[.contentLength].flatMap { Int($0) }
        let isKnown =
            announced.map { $0 <= Self.bytesAhead } ?? (head.headerFields[.transferEncoding] == nil)
        // A compressed one is as long as it likes.
        isShort = isKnown && head.headerFields[.contentEncoding] == nil
        isAskedFor = head.headerFields[.expect] != nil
    }

    // MARK: The connection's side

    /// Puts in what has come.
    func append(_ piece: ByteBuffer) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isDropped else { return nil }
            state.pieces.append(piece)
            state.bytes += piece.readableBytes
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Notes that no more comes.
    func end(_ end: End) {
        let reader = state.withLock { state in
            state.end = state.end ?? end
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Whether no more is to be read for now; the connection is read again when there is room.
    func isFull() -> Bool {
        state.withLock { state in
            state.isFull = state.bytes >= Self.bytesAhead
            return state.isFull
        }
    }

    /// Throws away what is there and what still comes.
    func drop() {
        state.withLock { state in
            state.isDropped = true
            (state.pieces, state.bytes) = ([], 0)
        }
    }

    // MARK: The task's side

    func isFromUser() { connection.isFromUser = true }

    func collect(upTo limit: Int, on share: BodyBytes.Share) async throws -> [UInt8]? {
        guard announced ?? 0 <= limit else { return nil }
        var bytes: [UInt8] = []
        // The system gives memory when it is written to, so this costs what comes.
        bytes.reserveCapacity(announced ?? 0)
        askForIt()
        while let pieces = try await next() {
            for piece in pieces {
                guard bytes.count + piece.readableBytes <= limit else { return nil }
                try share.add(piece.readableBytes)
                bytes.append(contentsOf: piece.readableBytesView)
            }
        }
        return bytes
    }

    func stream(to writer: inout any BodyWriter) async throws {
        askForIt()
        while let pieces = try await next() {
            for piece in pieces { try await writer.write(Array(buffer: piece)) }
        }
    }

    private func askForIt() {
        guard isAskedFor else { return }
        connection.channel.triggerUserOutboundEvent(RequestWatch.WantsBody(), promise: nil)
    }

    /// Returns what has come and was not taken, and waits for it; nil at the end.
    private func next() async throws -> [ByteBuffer]? {
        while true {
            let (pieces, end, wasFull) = state.withLock { state in
                defer { (state.pieces, state.bytes, state.isFull) = ([], 0, false) }
                return (state.pieces, state.end, state.isFull)
            }
            if wasFull { connection.channel.read() }
            if !pieces.isEmpty { return pieces }
            switch end {
            case .whole: return nil
            case .cutShort: throw BodyCutShort()
            case nil: await more()
            }
        }
    }

    /// Returns when there is something to take.
    private func more() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.pieces.isEmpty, state.end == nil else { return true }
                state.reader = continuation
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension SocketBody.State {
    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        defer { reader = nil }
        return reader
    }
}
