// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import TidebellTesting

@Suite("Limits of waits", .hangs)
struct WaitLimitTests {
    @Test("a limit of real time counts from when the test's clock was moved last")
    func clockIsMoved() async {
        let realTime = RealTime()
        let lastMove = 250
        let changes = Changes(
            at: { ManualClock.Instant(offset: .seconds(min(realTime.sleeps, lastMove))) },
            realTime: realTime)
        let error = await #expect(throws: TestCloudError.self) {
            try await changes.first(within: .seconds(600)) {
                "no push came"
            } _: { () -> Bool? in
                nil
            }
        }
        #expect(
            error?.description == "Nothing happened for 600 seconds of real time: no push came")
        #expect(realTime.sleeps == lastMove + Changes.parts)
        #expect(realTime.now.offset == .seconds(6) * realTime.sleeps)
    }
}

/// Real time that passes at once when somebody sleeps.
private final class RealTime: Clock {
    private struct State {
        var now = ManualClock.Instant(offset: .zero)
        var sleeps = 0
    }

    private let state = Mutex(State())

    /// How often somebody slept.
    var sleeps: Int { state.withLock(\.sleeps) }
    var now: ManualClock.Instant { state.withLock(\.now) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.sleeps += 1
            state.now = deadline
        }
    }
}
