// SPDX-License-Identifier: Apache-2.0
import TidebellScheduling
import TidebellCore
import TidebellPostgresClient
import TidebellSQL

/// The writes of a store: those of several databases run at once, in lanes; those of one share a transaction
/// (``WriteQueue``).
final class PostgresWrites: Sendable {
    /// How many transactions a server has under way at once.
    static let lanes = 4
    /// The most writes in one transaction: a server keeps track of 64 savepoints without
    /// looking them up.
    static let writesPerCommit = 32
    /// How often a transaction begins anew that met a conflict, or lost its server before it committed.
    static let mostAttempts = 5

    /// What commits signal.
    struct Signals: Sendable {
        let outbox = OutboxSignal()
        let access = OutboxSignal()
        let unsettled = OutboxSignal()
    }

    let signals: Signals
    private let waiting: WriteQueue
    private let lanes: [WriterLane]
    private let guesses: RowGuesses
    private let elapsed: @Sendable () -> Duration

    /// Creates the lanes, of which the first takes over a connection.
    ///
    /// - Parameter writers: What the lanes are called among all that ever write.
    init(
        _ connection: PostgresConnection, named writers: [Int64],
        _ surroundings: WriterLane.Surroundings
    ) {
        waiting = surroundings.waiting
        signals = surroundings.signals
        guesses = surroundings.guesses
        var lanes: [WriterLane] = []
        for (number, writer) in writers.enumerated() {
            lanes.append(
                WriterLane(
                    number, named: writer, beside: lanes.first,
                    on: number == 0 ? connection : nil, surroundings))
        }
        self.lanes = lanes
        elapsed = surroundings.elapsed
    }

    /// What a write is about whose scope is known.
    func topic(of scope: StoreScope?) -> WriteTopic {
        switch scope {
        case .everything, .batch: .everything
        case let scope?:
            ScopeLocks.key(of: scope) { guesses.key(of: $0) }.map { .scope($0) } ?? .unknown
        case nil: .unknown
        }
    }

    /// Takes a write, which is finished later; at once, with an error, when too many wait or the
    /// store is closed.
    func submit(_ write: any WaitingWrite) {
        waiting.submit(write, at: elapsed()) { number in
            let lane = lanes[number]
            lane.thread.async { lane.drain() }
        }
    }

    /// Refuses further writes, does those that wait, and closes the connections.
    func close() async {
        waiting.close()
        // The first keeps other servers out, and does what others leave.
        for lane in lanes.reversed() {
            await withCheckedContinuation { continuation in
                lane.thread.async {
                    lane.close()
                    continuation.resume()
                }
            }
        }
        signals.outbox.finish()
        signals.access.finish()
        signals.unsettled.finish()
    }
}
