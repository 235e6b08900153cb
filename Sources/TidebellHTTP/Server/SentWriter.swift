// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import TidebellScheduling

/// Writes the pieces of a body to the connection, at most two ahead of what the system took.
///
/// Hummingbird's writer returns when a piece is on its way to the connection, which may keep many of
/// a client that reads slowly; what counts a body until it is sent needs to know when it is.
///
/// Unchecked, because Hummingbird's writer is not marked Sendable: one task has it at a time.
final class SentWriter: BodyWriter, @unchecked Sendable {
    private var writer: any ResponseBodyWriter
    private let channel: any Channel
    /// Done when the piece before the last one was taken.
    private var previous: EventLoopFuture<Void>?

    init(writer: any ResponseBodyWriter, channel: any Channel) {
        self.writer = writer
        self.channel = channel
    }

    func write(_ bytes: [UInt8]) async throws {
        try await write(ByteBuffer(bytes: bytes))
    }

    /// Writes one piece; returns when the system has taken the one before it.
    func write(_ piece: ByteBuffer) async throws {
        try await writer.write(piece)
        let taken = channel.takenSoFar()
        try await previous?.get()
        previous = taken
    }

    /// Ends the body, and returns when the system has taken all of it.
    func finish() async throws {
        try await previous?.get()
        try await writer.finish(nil)
    }
}

/// Writes the pieces of a body that has no end, each as soon as it comes.
///
/// Hummingbird's writer returns when a piece is on its way to the connection: of a client that reads
/// slowly pieces would pile up there. So after a number of bytes it waits until the system has taken all.
///
/// Unchecked, because Hummingbird's writer is not marked Sendable: one task has it at a time, the
/// producer's, and then the one that waited for its end.
struct StreamWriter: BodyWriter, @unchecked Sendable {
    /// Bytes on their way to the connection before the system has to take them.
    private static let bytesAhead = 32 * 1024

    private var writer: any ResponseBodyWriter
    private let channel: any Channel
    private var ahead = 0

    init(writer: any ResponseBodyWriter, channel: any Channel) {
        self.writer = writer
        self.channel = channel
    }

    mutating func write(_ bytes: [UInt8]) async throws {
        try await writer.write(ByteBuffer(bytes: bytes))
        ahead += bytes.count
        guard ahead >= Self.bytesAhead else { return }
        let taken = channel.takenSoFar()
        let isTaken = WakeSignal()
        taken.whenComplete { _ in isTaken.raise() }
        // A future cannot be left by a task that is cancelled, and a client that reads nothing would
        // hold up the end of the server.
        guard await isTaken.wait() else { throw CancellationError() }
        try await taken.get()
        ahead = 0
    }
}

extension Channel {
    /// Done when the system has taken what was written so far. It follows the last piece, and nothing
    /// of it is sent.
    fileprivate func takenSoFar() -> EventLoopFuture<Void> {
        writeAndFlush(HTTPResponsePart.body(ByteBuffer()))
    }
}
