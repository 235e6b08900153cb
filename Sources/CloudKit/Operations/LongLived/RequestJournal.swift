// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// What a long-lived operation has sent and received, kept beyond the process.
///
/// An operation that does its work again under the same journal gets the answers that are
/// here without a request, and sends what was sent before exactly as it was, so that the
/// server knows it. Writing is best effort: what cannot be kept is asked for again.
final class RequestJournal: Sendable {
    /// One request.
    private struct Exchange {
        /// The body as it was sent; nil for none.
        var body: [UInt8]?
        /// When it was sent first.
        var date: Date
        var answer: TransportResponse?
    }

    private let exchanges: Locked<[String: Exchange]>
    private let file: JournalFile

    /// Whose operation it is.
    let owner: OperationOwner
    /// Lets one run of the operation work at a time.
    let running = FairLock()

    /// Creates the journal of a new operation.
    init(_ file: JournalFile, of owner: OperationOwner) {
        self.file = file
        self.owner = owner
        exchanges = Locked([:])
    }

    /// Creates the journal of an operation of an earlier process from the rest of its
    /// file; what is damaged was never sent or never answered.
    init(_ file: JournalFile, of owner: OperationOwner, frames: some Sequence<[UInt8]>) {
        var known: [String: Exchange] = [:]
        for frame in frames {
            if let sent = try? ArchiveBlob.value(SentFrame.self, from: frame) {
                known[sent.name] = Exchange(body: sent.body, date: sent.date, answer: nil)
            } else if let received = try? ArchiveBlob.value(ReceivedFrame.self, from: frame) {
                known[received.name]?.answer = received.answer
            } else {
                break
            }
        }
        self.file = file
        self.owner = owner
        exchanges = Locked(known)
    }

    /// The answer to a request; nil when there is none yet.
    func answer(to name: String) -> TransportResponse? {
        exchanges.withLock { $0[name]?.answer }
    }

    /// The body of a request as it was sent before; nil when it was not.
    func body(of name: String) -> [UInt8]? {
        exchanges.withLock { $0[name]?.body }
    }

    /// When a request was sent first; nil when it was not.
    func sentAt(_ name: String) -> Date? {
        exchanges.withLock { $0[name]?.date }
    }

    /// Notes a request before it is sent.
    func willSend(_ body: [UInt8]?, as name: String, at date: Date) {
        let isNew = exchanges.withLock { exchanges in
            guard exchanges[name] == nil else { return false }
            exchanges[name] = Exchange(body: body, date: date)
            return true
        }
        guard isNew else { return }
        file.append(ArchiveBlob.bytes(of: SentFrame(name: name, body: body, date: date)))
    }

    /// Notes an answer.
    func didReceive(_ answer: TransportResponse, to name: String) {
        exchanges.withLock { exchanges -> Void in exchanges[name]?.answer = answer }
        file.append(ArchiveBlob.bytes(of: ReceivedFrame(name: name, answer: answer)))
    }

    /// Notes an answer to a request of which only the answer matters.
    func keep(_ answer: TransportResponse, as name: String, at date: Date) {
        willSend(nil, as: name, at: date)
        didReceive(answer, to: name)
    }

    /// Notes that the operation needs no further answers: it is collected a day later,
    /// should the app never receive its callbacks.
    func isAnswered() {
        file.markAnswered()
    }

    /// Forgets the operation, whose last callback was called.
    func finish() {
        file.remove()
    }
}

/// A request in a journal.
struct SentFrame: ArchiveValue {
    var name: String
    var body: [UInt8]?
    /// When it was sent first.
    var date: Date

    static var kind: ArchiveKind { .sentRequest }

    init(name: String, body: [UInt8]?, date: Date) {
        self.name = name
        self.body = body
        self.date = date
    }

    init(from reader: inout BlobReader) throws(BlobError) {
        name = try reader.string()
        body = try reader.optional { reader throws(BlobError) in [UInt8](try reader.data()) }
        date = try reader.date()
    }

    func write(to writer: inout BlobWriter) {
        writer.write(name)
        writer.write(body) { $0.write(Data($1)) }
        writer.write(date)
    }
}

/// An answer in a journal; of its header fields only those that errors report.
struct ReceivedFrame: ArchiveValue {
    var name: String
    var answer: TransportResponse

    static var kind: ArchiveKind { .receivedAnswer }

    init(name: String, answer: TransportResponse) {
        self.name = name
        self.answer = answer
    }

    init(from reader: inout BlobReader) throws(BlobError) {
        name = try reader.string()
        let uuid = try reader.optionalString()
        answer = TransportResponse(
            status: 200,
            headers: uuid.map { [(WireProtocol.requestUUIDHeader, $0)] } ?? [],
            body: [UInt8](try reader.data())
        )
    }

    func write(to writer: inout BlobWriter) {
        writer.write(name)
        writer.write(answer.header(WireProtocol.requestUUIDHeader))
        writer.write(Data(answer.body))
    }
}
