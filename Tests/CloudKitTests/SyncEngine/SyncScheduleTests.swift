// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Schedule of a sync engine")
struct SyncScheduleTests {
    static func error(_ code: CKError.Code, retryAfter: Double? = nil) -> CKError {
        var details: [String: Any] = [:]
        details[CKErrorRetryAfterKey] = retryAfter
        return CKError(code, userInfo: details)
    }

    /// The steps until there is nothing to do, each wait taken for over at once.
    static func steps(
        _ schedule: inout TimedSchedule,
        ending: (SyncSchedule.Work) -> CKError? = { _ in nil },
        atMost limit: Int = 20
    ) -> [SyncSchedule.Step] {
        var steps: [SyncSchedule.Step] = []
        for _ in 0..<limit {
            let step = schedule.next()
            switch step {
            case .idle: return steps
            case .wait: schedule.waited()
            case .run(let work):
                schedule.ended(work, ending(work), isSignedOut: false, jitter: 1)
            }
            steps.append(step)
        }
        return steps
    }

    @Test("What is wanted is done once, fetching before sending")
    func order() {
        var schedule = TimedSchedule()
        for work in [SyncSchedule.Work.send, .fetch, .send] { schedule.want(work) }
        #expect(Self.steps(&schedule) == [.run(.fetch), .run(.send)])
        #expect(schedule.next() == .idle)
    }

    @Test("What fails again and again does not keep the other from being done")
    func noStarving() {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        schedule.want(.send)
        let steps = Self.steps(
            &schedule,
            ending: { $0 == .fetch ? Self.error(.networkFailure) : nil },
            atMost: 5
        )
        #expect(
            steps == [
                .run(.fetch), .wait(.seconds(1)), .run(.send), .run(.fetch), .wait(.seconds(2)),
            ]
        )
    }

    @Test("SYNC-20: an error that passes is waited out, each time for longer, up to 5 minutes")
    func backingOff() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        let steps = Self.steps(&schedule, ending: { _ in Self.error(.networkFailure) }, atMost: 22)
        let waits = steps.filter { $0 != .run(.send) }
        #expect(
            waits
                == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .wait(.seconds($0)) }
        )
        // Success starts anew.
        #expect(Self.steps(&schedule) == [.run(.send)])
        schedule.want(.send)
        _ = schedule.next()
        schedule.ended(.send, Self.error(.zoneBusy), isSignedOut: false, jitter: 0)
        #expect(schedule.next() == .wait(.milliseconds(500)))
    }

    @Test("SYNC-20, ERR-6: the server's retry-after is kept to, whatever happens meanwhile")
    func retryAfter() {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        _ = schedule.next()
        let error = Self.error(.requestRateLimited, retryAfter: 110_207)
        schedule.ended(.fetch, error, isSignedOut: false, jitter: 0)
        schedule.want(.send)
        schedule.networkReturned()
        #expect(schedule.next() == .wait(.seconds(110_207)))
        #expect(Self.steps(&schedule).dropFirst() == [.run(.send), .run(.fetch)])
    }

    @Test("A network that is back ends the wait for it")
    func networkReturns() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        _ = schedule.next()
        schedule.ended(.send, Self.error(.networkUnavailable), isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .wait(.seconds(1)))
        schedule.networkReturned()
        #expect(schedule.next() == .run(.send))
    }

    @Test("Retry-after of a single item counts, and items that stay pending are sent again")
    func items() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        _ = schedule.next()
        let error = CKError.partial([
            "a": Self.error(.batchRequestFailed), "b": Self.error(.zoneBusy, retryAfter: 30),
            "c": Self.error(.serverRecordChanged),
        ])
        schedule.ended(.send, error, isSignedOut: false, jitter: 0)
        #expect(schedule.next() == .wait(.seconds(30)))
        schedule.waited()
        #expect(schedule.next() == .run(.send))
    }

    @Test("SYNC-27: what the app solved is sent at once, but not for ever in a hot loop")
    func solvedByTheApp() {
        var schedule = TimedSchedule()
        var waits: [SyncSchedule.Step] = []
        for _ in 0..<4 {
            schedule.want(.send)
            let step = schedule.next()
            if case .wait = step {
                waits.append(step)
                schedule.waited()
                #expect(schedule.next() == .run(.send))
            }
            let error = CKError.partial(["a": Self.error(.serverRecordChanged)])
            schedule.ended(.send, error, isSignedOut: false, jitter: 1)
        }
        #expect(waits == [.wait(.seconds(2)), .wait(.seconds(4))])
    }

    @Test("ERR-34: a full quota is tried again after minutes, not seconds")
    func quota() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        _ = schedule.next()
        let error = CKError.partial(["a": Self.error(.quotaExceeded)])
        schedule.ended(.send, error, isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .wait(.seconds(300)))
    }

    @Test("SYNC-2: without a user nothing is done until the account changes, then everything")
    func noAccount() {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        _ = schedule.next()
        schedule.ended(.fetch, Self.error(.notAuthenticated), isSignedOut: true, jitter: 1)
        schedule.want(.send)
        #expect(schedule.next() == .idle)
        schedule.accountChanged()
        #expect(Self.steps(&schedule) == [.run(.fetch), .run(.send)])
    }

    @Test("A refused token is waited out, and an error that does not pass is not tried again")
    func otherErrors() {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        _ = schedule.next()
        schedule.ended(.fetch, Self.error(.notAuthenticated), isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .wait(.seconds(1)))
        schedule.waited()
        #expect(schedule.next() == .run(.fetch))
        schedule.ended(.fetch, nil, isSignedOut: false, jitter: 1)
        schedule.want(.fetch)
        _ = schedule.next()
        schedule.ended(.fetch, Self.error(.badContainer), isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .idle)
    }

    @Test("SYNC-8: cancelling drops what waits, and a cancelled attempt is not made up for")
    func cancelling() {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        schedule.want(.send)
        _ = schedule.next()
        schedule.ended(.fetch, Self.error(.networkFailure), isSignedOut: false, jitter: 1)
        schedule.cancel()
        #expect(schedule.next() == .idle)
        schedule.want(.send)
        _ = schedule.next()
        schedule.ended(.send, Self.error(.operationCancelled), isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .idle)
    }

    @Test("What fails by its items lets the other work go on; both end up waiting for the server")
    func oneWaitEach() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        _ = schedule.next()
        let quota = CKError.partial(["a": Self.error(.quotaExceeded)])
        schedule.ended(.send, quota, isSignedOut: false, jitter: 1)
        schedule.want(.fetch)
        #expect(schedule.next() == .run(.fetch))
        schedule.ended(.fetch, nil, isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .wait(.seconds(300)))
        schedule.now += .seconds(100)
        #expect(schedule.next() == .wait(.seconds(200)))
        schedule.want(.fetch)
        _ = schedule.next()
        let busy = Self.error(.zoneBusy, retryAfter: 500)
        schedule.ended(.fetch, busy, isSignedOut: false, jitter: 1)
        #expect(schedule.next() == .wait(.seconds(500)))
        schedule.waited()
        #expect(schedule.next() == .run(.send))
    }

    @Test(
        "A server that fails is asked again, later and later",
        arguments: [
            CKError.Code.internalError, .serverRejectedRequest,
        ])
    func failingServer(code: CKError.Code) {
        var schedule = TimedSchedule()
        schedule.want(.fetch)
        let steps = Self.steps(&schedule, ending: { _ in Self.error(code) }, atMost: 5)
        #expect(
            steps == [
                .run(.fetch), .wait(.seconds(1)), .run(.fetch), .wait(.seconds(2)), .run(.fetch),
            ]
        )
    }

    @Test("SYNC-8, ERR-6: cancelling does not end a wait the server asked for")
    func cancellingKeepsRetryAfter() {
        var schedule = TimedSchedule()
        schedule.want(.send)
        _ = schedule.next()
        let error = Self.error(.requestRateLimited, retryAfter: 3_600)
        schedule.ended(.send, error, isSignedOut: false, jitter: 1)
        schedule.cancel()
        #expect(schedule.next() == .idle)
        schedule.want(.send)
        #expect(schedule.next() == .wait(.seconds(3_600)))
    }
}

/// A schedule and the time.
struct TimedSchedule {
    private var schedule = SyncSchedule()
    private var lastWait = Duration.zero
    var now = Duration.zero

    mutating func want(_ work: SyncSchedule.Work) { schedule.want(work) }
    mutating func networkReturned() { schedule.networkReturned() }
    mutating func accountChanged() { schedule.accountChanged() }
    mutating func cancel() { schedule.cancel() }

    mutating func next() -> SyncSchedule.Step {
        let step = schedule.next(at: now)
        if case .wait(let delay) = step { lastWait = delay }
        return step
    }

    /// Lets the time of the last wait go by.
    mutating func waited() { now += lastWait }

    mutating func ended(
        _ work: SyncSchedule.Work, _ error: CKError?, isSignedOut: Bool, jitter: Double
    ) {
        schedule.ended(work, error, at: now, isSignedOut: isSignedOut, jitter: jitter)
    }
}
