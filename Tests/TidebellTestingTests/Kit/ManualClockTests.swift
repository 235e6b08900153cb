// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellTesting

@Suite("ManualClock", .hangs)
struct ManualClockTests {
    /// Waits until as many tasks sleep on the clock.
    private func sleepers(_ count: Int, on clock: ManualClock) async {
        await eventually { clock.deadlines.count >= count }
    }

    @Test("stands still until moved, and counts the time of day from its start")
    func standsStill() async {
        let clock = ManualClock(start: Date(timeIntervalSince1970: 1_000))
        #expect(clock.now.offset == .zero)
        await clock.advance(by: .milliseconds(1_500))
        #expect(clock.now.offset == .milliseconds(1_500))
        #expect(clock.date == Date(timeIntervalSince1970: 1_001.5))
    }

    @Test("wakes sleepers in the order of their deadlines, each at its own time")
    func wakesInOrder() async throws {
        let clock = ManualClock()
        let log = Log<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try await clock.sleep(for: .seconds(seconds))
                    log.append(seconds)
                }
            }
            await sleepers(3, on: clock)
            await clock.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        #expect(log.entries == [1, 2, 3])
        #expect(clock.now.offset == .seconds(10))
    }

    @Test("leaves those asleep whose time has not come")
    func leavesLaterSleepers() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(5)) }
        await sleepers(1, on: clock)
        await clock.advance(by: .seconds(4))
        #expect(clock.deadlines == [ManualClock.Instant(offset: .seconds(5))])
        await clock.advance(by: .seconds(1))
        try await sleeper.value
    }

    @Test("lets a sleeper that was woken sleep again within the same advance")
    func repeatedSleeps() async throws {
        let clock = ManualClock()
        let beats = Log<Duration>()
        let heart = Task {
            for _ in 0..<4 {
                try await clock.sleep(for: .seconds(15))
                beats.append(clock.now.offset)
            }
        }
        await sleepers(1, on: clock)
        for beat in 1...4 {
            await clock.advance(by: .seconds(15))
            await eventually { beats.entries.count >= beat }
            if beat < 4 { await sleepers(1, on: clock) }
        }
        try await heart.value
        #expect(beats.entries == [15, 30, 45, 60].map { .seconds($0) })
    }

    @Test("a cancelled sleeper ends with CancellationError, asleep or not")
    func cancellation() async {
        let clock = ManualClock()
        let asleep = Task { try await clock.sleep(for: .seconds(1)) }
        await sleepers(1, on: clock)
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }
        #expect(clock.deadlines == [])

        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test("a deadline that has passed does not sleep")
    func pastDeadline() async throws {
        let clock = ManualClock()
        try await clock.sleep(for: .zero)
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(-1)))
    }

    @Test("a jump wakes every task that is due after it, and repeats nothing")
    func jump() async throws {
        let clock = ManualClock()
        let beats = Log<Duration>()
        let heart = Task {
            while true {
                try await clock.sleep(for: .seconds(15))
                beats.append(clock.now.offset)
            }
        }
        await sleepers(1, on: clock)
        await clock.jump(by: .seconds(3600))
        await sleepers(1, on: clock)
        #expect(beats.entries == [.seconds(3600)])
        #expect(clock.deadlines == [ManualClock.Instant(offset: .seconds(3615))])
        heart.cancel()
    }
}
