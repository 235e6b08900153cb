// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Which reads run on the threads of their callers, from which the way to another thread and back takes longer than
/// most reads.
///
/// Connections of others wait for those threads. So while a read takes long there, since the disk is slow or the system has
/// too little memory for the file, and for a while after one that did, wherever that was, all others go to threads of
/// their own.
final class ReadsInPlace: Sendable {
    /// The most at the same time.
    static let atOnce = max(1, ProcessInfo.processInfo.activeProcessorCount)
    /// What is long: several times the longest page from memory.
    static let long = Duration.milliseconds(10)
    /// For how long none runs in place then: several times as long as the read took, within bounds.
    static let pause = 10.0
    static let longestPause = Duration.seconds(30)

    private struct State {
        /// When those that run in place began.
        var begun: [Duration?] = Array(repeating: nil, count: ReadsInPlace.atOnce)
        /// When the pause ends.
        var end = Duration.zero
    }

    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    init(elapsed: @escaping @Sendable () -> Duration) { self.elapsed = elapsed }

    /// Runs a read, one of so many short ones that are under way, in a place that nobody else has meanwhile, whose number it
    /// gets; nil where it has to go elsewhere.
    func run<Result>(_ short: Int, _ read: (_ place: Int) throws -> Result?) rethrows -> Result? {
        guard short <= Self.atOnce else { return nil }
        let start = elapsed()
        let place = state.withLock { state -> Int? in
            guard start >= state.end,
                state.begun.allSatisfy({ $0.map { start - $0 < Self.long } ?? true }),
                let place = state.begun.firstIndex(of: nil)
            else { return nil }
            state.begun[place] = start
            return place
        }
        guard let place else { return nil }
        defer {
            state.withLock { state in
                state.begun[place] = nil
                note(elapsed(), since: start, in: &state)
            }
        }
        return try read(place)
    }

    /// Runs a read elsewhere.
    func measure<Result>(_ read: () throws -> Result) rethrows -> Result {
        let start = elapsed()
        defer { state.withLock { note(elapsed(), since: start, in: &$0) } }
        return try read()
    }

    private func note(_ now: Duration, since start: Duration, in state: inout State) {
        let time = now - start
        guard time >= Self.long else { return }
        state.end = max(state.end, now + min(time * Self.pause, Self.longestPause))
    }
}
