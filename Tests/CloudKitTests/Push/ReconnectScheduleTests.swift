// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CloudKit

@Suite struct ReconnectScheduleTests {
    @Test("Waits double from 100 milliseconds to 30 seconds")
    func waitsDouble() {
        var schedule = ReconnectSchedule()
        let delays = (0..<12).map { _ in schedule.delay(retryAfter: nil, jitter: 1) }
        #expect(
            delays == [
                .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800),
                .milliseconds(1600), .milliseconds(3200), .milliseconds(6400),
                .milliseconds(12800), .milliseconds(25600), .seconds(30), .seconds(30),
                .seconds(30),
            ]
        )
        for _ in 0..<1000 { _ = schedule.delay(retryAfter: nil, jitter: 1) }
        #expect(schedule.delay(retryAfter: nil, jitter: 1) == .seconds(30))
    }

    @Test("Waits are scattered over their second half, and begin anew after a success")
    func waitsAreScattered() {
        var schedule = ReconnectSchedule()
        #expect(schedule.delay(retryAfter: nil, jitter: 0) == .milliseconds(50))
        #expect(schedule.delay(retryAfter: nil, jitter: 0.5) == .milliseconds(150))
        schedule.reset()
        #expect(schedule.delay(retryAfter: nil, jitter: 7) == .milliseconds(100))
    }

    @Test("ERR-6: what the server asks for is kept to, up to an hour")
    func retryAfterIsKept() {
        var schedule = ReconnectSchedule()
        #expect(schedule.delay(retryAfter: 3, jitter: 0) == .seconds(3))
        #expect(schedule.delay(retryAfter: 1e9, jitter: 0) == .seconds(3600))
        #expect(schedule.delay(retryAfter: -1, jitter: 1) == .milliseconds(400))
        #expect(schedule.delay(retryAfter: 0.001, jitter: 1) == .milliseconds(800))
    }

    @Test("Remembered IDs are bounded, the oldest goes first")
    func rememberedIDs() {
        var ids = RecentIDs()
        for number in 0..<7 { ids.remember("\(number)", atMost: 3) }
        #expect(
            (0..<7).map { ids.contains("\($0)") } == [false, false, false, false, true, true, true])
        ids.remember("5", atMost: 3)
        ids.remember("7", atMost: 3)
        #expect((4..<8).map { ids.contains("\($0)") } == [false, true, true, true])
        ids.removeAll()
        #expect(!ids.contains("7"))
    }
}
