// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// Ends waits on the clock that nobody ends: an operation of a device waits for the clock to move, and in
/// real time nothing happens any more.
///
/// First it says so on standard error, then it ends them: the operations fail with the same sentence.
final class Watchdog: Sendable {
    private struct State {
        /// Grows with whatever happens.
        var activity: UInt64 = 0
        var isRunning = false
        /// How many move the clock to whatever is waited for, so that nobody waits for ever.
        var movers = 0
        var nameOfDevice: @Sendable (String) -> String = { $0 }
        var notices: [String] = []
    }

    /// The wait for nothing to happen, as part of what a whole wait of a test may take.
    static let partOfSafetyLimit = 10
    /// The parts that real time is waited for in: a machine that is too busy to let tasks on does not let
    /// this one on either.
    private static let parts = 100
    /// After how many of them it is said.
    private static let partsUntilNotice = 20

    private let clock: ManualClock
    private let limit: Duration
    private let state = Mutex(State())

    /// Creates a watchdog that waits so long, in real time.
    init(_ clock: ManualClock, limit: Duration) {
        self.clock = clock
        self.limit = limit
    }

    /// Sets what devices are called.
    func name(_ body: @escaping @Sendable (_ deviceID: String) -> String) {
        state.withLock { $0.nameOfDevice = body }
    }

    /// Notes that something happens.
    func noteActivity() {
        state.withLock { $0.activity += 1 }
    }

    /// Leaves waits alone until as many calls of ``moverEnds()`` were made: somebody moves the clock for
    /// them, however long a busy machine takes to let them.
    func moverBegins() {
        state.withLock { $0.movers += 1 }
    }

    /// Looks after waits again.
    func moverEnds() {
        state.withLock { $0.movers -= 1 }
    }

    /// What it has said, oldest first.
    var notices: [String] { state.withLock(\.notices) }

    /// Begins to watch where an operation waits.
    func lookAgain() {
        noteActivity()
        guard !clock.awaited.isEmpty else { return }
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // Without a parent: it ends when nobody waits any more, or with the waits.
        guard begins else { return }
        let dog: @Sendable () -> Watchdog? = { [weak self] in self }
        Task { [limit] in await Self.watch(limit, dog) }
    }

    /// Watches until no operation waits.
    private static func watch(_ limit: Duration, _ dog: @Sendable () -> Watchdog?) async {
        var seen: (activity: UInt64, now: ManualClock.Instant)?
        var quiet = 0
        while true {
            // A cancelled sleep only makes the look come early.
            try? await ContinuousClock().sleep(for: limit / parts)
            guard let dog = dog(), dog.goesOn() else { return }
            let (activity, movers) = dog.state.withLock { ($0.activity, $0.movers) }
            let now = (activity, dog.clock.now)
            if let seen, seen == now, movers == 0 { quiet += 1 } else { quiet = 0 }
            seen = now
            if quiet == partsUntilNotice { dog.say(dog.waits.joined(separator: "\n")) }
            if quiet == parts {
                dog.clock.endAwaited { dog.sentence($0, until: $1) }
                quiet = 0
            }
        }
    }

    /// Whether somebody waits; where nobody does, the next wait begins anew.
    private func goesOn() -> Bool {
        state.withLock { state in
            state.isRunning = !clock.awaited.isEmpty
            return state.isRunning
        }
    }

    /// The operations that wait, as sentences.
    var waits: [String] { clock.awaited.map { sentence($0.awaited, until: $0.deadline) } }

    private func sentence(_ awaited: ManualClock.Awaited, until deadline: ManualClock.Instant)
        -> String
    {
        let name = state.withLock(\.nameOfDevice)
        let who = awaited.device.map { name($0) } ?? "the server"
        let left = clock.now.duration(to: deadline)
        return "TestCloud: \(who) waits until \(deadline.offset) of the cloud's time, "
            + "\(left) from now, \(awaited.purpose). The clock stands still: move it, "
            + "as cloud.passingTime { … } does while your code runs."
    }

    private func say(_ text: String) {
        state.withLock { $0.notices.append(text) }
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
