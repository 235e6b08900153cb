// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
package import TidebellWire

/// The writes that wait for a transaction of an engine, within bounds.
///
/// They wait in lanes, which run at once; each has one drain at a time, which takes them out. While a write of a topic
/// waits or is under way, others of that topic come into its lane; otherwise a write comes into the one with the
/// least to do.
package final class WriteQueue: Sendable {
    /// Writes that are done one after the other.
    private struct Lane {
        var waiting = WaitingWrites()
        var isDraining = false
        /// What the lane took out and is not done with is about.
        var underWay: [WriteTopic] = []
        /// Until when it gets no writes, on the clock of those who submit.
        var rests: Duration = .zero

        var load: Int { waiting.count + underWay.count }
    }

    /// Where the writes of a topic are, and how many wait there or are under way.
    private struct Place {
        var lane: Int
        var count: Int
    }

    private struct State {
        var lanes: [Lane]
        var places: [WriteTopic: Place] = [:]
        /// How many wait in all lanes.
        var count = 0
        var isClosed = false

        func count(of caller: AccountID) -> Int {
            lanes.reduce(0) { $0 + $1.waiting.count(of: caller) }
        }

        /// Lets a write wait in a lane; returns which, and whether its drain has to be started.
        mutating func enter(
            _ write: any WaitingWrite, at now: Duration
        ) -> (lane: Int, startsDrain: Bool) {
            var lane = 0
            if lanes.count > 1 {
                // The first of those that have equally much to do, so that few writes keep to one.
                lane =
                    places[write.topic]?.lane
                    ?? lanes.indices.filter { lanes[$0].rests <= now }
                    .min { lanes[$0].load < lanes[$1].load } ?? 0
                note(write.topic, in: lane)
            }
            return (lane, enter(write, in: lane))
        }

        /// Lets a write wait in a lane; returns whether its drain has to be started.
        mutating func enter(_ write: any WaitingWrite, in lane: Int) -> Bool {
            count += 1
            lanes[lane].waiting.enter(write)
            defer { lanes[lane].isDraining = true }
            return !lanes[lane].isDraining
        }

        /// Notes that there is one more about a topic in a lane.
        private mutating func note(_ topic: WriteTopic, in lane: Int) {
            guard topic != .unknown else { return }
            places[topic, default: Place(lane: lane, count: 0)].count += 1
        }

        /// Takes out the write whose turn it is in a lane.
        mutating func next(in lane: Int) -> (any WaitingWrite)? {
            guard let write = lanes[lane].waiting.next() else { return nil }
            count -= 1
            if lanes.count > 1 { lanes[lane].underWay.append(write.topic) }
            return write
        }

        /// Notes that what a lane took out is done, but for some.
        mutating func endUnderWay(in lane: Int, but left: [any WaitingWrite]) {
            guard lanes.count > 1 else { return }
            let ended = lanes[lane].underWay
            lanes[lane].underWay = left.map(\.topic)
            for write in left { note(write.topic, in: lane) }
            for topic in ended where topic != .unknown {
                guard let place = places[topic] else { continue }
                places[topic]?.count -= 1
                if place.count <= 1 { places[topic] = nil }
            }
        }

        /// Gives what waits in a lane and what it took out to the first one, which it rests until then; returns
        /// whether the drain of that has to be started.
        mutating func leave(
            _ lane: Int, with writes: [any WaitingWrite], until end: Duration
        ) -> Bool {
            lanes[lane].rests = end
            lanes[lane].underWay = []
            for (topic, place) in places where place.lane == lane { places[topic]?.lane = 0 }
            var startsDrain = false
            func move(_ write: any WaitingWrite) {
                if enter(write, in: 0) { startsDrain = true }
            }
            for write in writes { move(write) }
            while let write = lanes[lane].waiting.next() {
                count -= 1
                move(write)
            }
            return startsDrain
        }
    }

    private let state: Mutex<State>
    /// Held while something is put on the engine's queue, so that nothing is behind ``close()``. Not
    /// ``state``'s: a drain starts at once, on another thread, and would wait for it.
    private let enqueuing = Mutex(())
    private let bounds: StoreBounds
    private let closedError: any Error

    /// Creates an empty queue; once it is closed, writes fail with `closedError`.
    ///
    /// - Parameter lanes: How many transactions there are at once.
    package init(_ bounds: StoreBounds, lanes: Int = 1, closedError: any Error) {
        state = Mutex(State(lanes: Array(repeating: Lane(), count: max(1, lanes))))
        self.bounds = bounds
        self.closedError = closedError
    }

    /// How many writes wait.
    package var count: Int { state.withLock(\.count) }

    /// Takes a write, which is finished later; at once, with an error, when too many wait or the queue is
    /// closed. Calls `drain` where none is under way in its lane, which puts one on the engine's queue.
    ///
    /// - Parameter now: The moment, where lanes rest (``leave(_:with:until:)``).
    package func submit(
        _ write: any WaitingWrite, at now: Duration = .zero, drain: (_ lane: Int) -> Void
    ) {
        let refusal = enqueuing.withLock { _ -> (any Error)? in
            let (refusal, lane) = enter(write, at: now)
            if let lane { drain(lane) }
            return refusal
        }
        if let refusal { write.finish(refusal) }
    }

    /// Lets a write wait, or tells why it may not, and the lane in which a drain has to be started.
    private func enter(
        _ write: any WaitingWrite, at now: Duration
    ) -> (refusal: (any Error)?, drain: Int?) {
        state.withLock { state in
            guard !state.isClosed else { return (closedError, nil) }
            guard state.count < bounds.waitingWrites else { return (bounds.tooManyWritesWait, nil) }
            if let caller = write.caller,
                state.count(of: caller) >= bounds.waitingWritesPerCaller
            {
                return (bounds.tooManyOfCallerWait, nil)
            }
            let (lane, startsDrain) = state.enter(write, at: now)
            return (nil, startsDrain ? lane : nil)
        }
    }

    /// Calls `body`, which puts something else on the engine's queue, unless this one is closed.
    package func unlessClosed(_ body: () -> Void) -> Bool {
        enqueuing.withLock { _ in
            guard !state.withLock({ $0.isClosed }) else { return false }
            body()
            return true
        }
    }

    /// Refuses further writes; those that wait are still done.
    package func close() { enqueuing.withLock { _ in state.withLock { $0.isClosed = true } } }

    /// Takes the write whose turn it is.
    package func next(in lane: Int = 0) -> (any WaitingWrite)? {
        state.withLock { $0.next(in: lane) }
    }

    /// Notes that what was taken out of a lane is done, but for some that run again.
    package func endUnderWay(in lane: Int, but left: [any WaitingWrite]) {
        state.withLock { $0.endUnderWay(in: lane, but: left) }
    }

    /// Gives what waits in a lane, and writes that it took out, to the first lane, and others none until a moment;
    /// returns whether the drain of the first has to be started.
    package func leave(
        _ lane: Int, with writes: [any WaitingWrite], until end: Duration
    ) -> Bool {
        state.withLock { $0.leave(lane, with: writes, until: end) }
    }

    /// Takes the first write of the next transaction, and counts how many wait then; nil ends the drain.
    package func nextOrEnd(in lane: Int = 0) -> (first: any WaitingWrite, waiting: Int)? {
        state.withLock { state in
            guard let first = state.next(in: lane) else {
                state.lanes[lane].isDraining = false
                return nil
            }
            return (first, state.lanes[lane].waiting.count)
        }
    }
}

extension StoreBounds {
    /// Seconds after which one who was turned away may come back.
    private static let retryAfter = 1.0

    /// What writes get that come when too many wait.
    var tooManyWritesWait: WireError { tooMany(waitingWrites, .waitingWrites) }

    /// What reads get that come when too many wait.
    package var tooManyReadsWait: WireError { tooMany(waitingReads, .waitingReads) }

    private func tooMany(_ count: Int, _ bound: WireError.Bound) -> WireError {
        WireError(
            .tryAgainLater,
            "\(count) requests wait for the store already (\(bound.rawValue)): try again",
            retryAfter: Self.retryAfter
        ).naming(bound)
    }

    /// What a caller gets of whom too many writes wait.
    var tooManyOfCallerWait: WireError {
        WireError(
            .throttled,
            "\(waitingWritesPerCaller) of your requests wait for the store already "
                + "(waitingWritesPerCaller): send fewer at a time",
            retryAfter: Self.retryAfter
        ).naming(.waitingWritesPerCaller)
    }
}
