// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes

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
        // Follows the piece, and completes when that has gone; nothing of it is sent.
        let nothing = HTTPResponsePart.body(ByteBuffer())
        let taken: EventLoopFuture<Void> = channel.writeAndFlush(nothing)
        try await previous?.get()
        previous = taken
    }

    /// Ends the body, and returns when the system has taken all of it.
    func finish() async throws {
        try await previous?.get()
        try await writer.finish(nil)
    }
}
