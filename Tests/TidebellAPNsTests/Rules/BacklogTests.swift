// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

@testable import TidebellAPNs

@Suite("The backlog of a lane")
struct BacklogTests {
    private static let noon = Instant(rawValue: 1_767_268_800_000)

    private static func at(_ seconds: Double) -> Instant {
        noon.advanced(by: .milliseconds(Int64(seconds * 1000)))
    }

    private static func key(_ number: Int) -> PushTargetKey {
        PushTargetKey(token: "a\(number)", device: DeviceKey(rawValue: Int64(number)))
    }

    /// A backlog without targets.
    private static func backlog(
        _ configure: (inout APNsConfiguration) -> Void = { _ in }
    ) -> APNsBacklog {
        var configuration = APNsConfiguration(apps: [])
        configure(&configuration)
        return APNsBacklog(configuration)
    }

    private static let rests = APNsBacklog.Outcome.rests(atLeast: .zero, atMost: .seconds(60))

    @Test("a target has one turn at a time, and another for what came meanwhile")
    func turns() {
        var backlog = Self.backlog()
        backlog.found(Self.key(1))
        backlog.found(Self.key(1))
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        #expect(backlog.next(at: Self.noon) == nil)
        backlog.found(Self.key(1))
        #expect(backlog.next(at: Self.noon) == nil)
        backlog.finished(Self.key(1), .done, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        backlog.finished(Self.key(1), .done, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == nil)
        #expect(backlog.isIdle(at: Self.noon))
    }

    @Test("turns go round: who has more queues behind the others")
    func fairness() {
        var backlog = Self.backlog { $0.requestsInFlight = 1 }
        for number in 1...2 { backlog.found(Self.key(number)) }
        var turns: [PushTargetKey] = []
        for _ in 0..<4 {
            guard let key = backlog.next(at: Self.noon) else { break }
            turns.append(key)
            backlog.finished(key, .more, at: Self.noon, jitter: 0)
        }
        #expect(turns == [1, 2, 1, 2].map(Self.key))
    }

    @Test("no more turns at a time than configured")
    func bound() {
        var backlog = Self.backlog { $0.requestsInFlight = 2 }
        for number in 1...3 { backlog.found(Self.key(number)) }
        #expect(backlog.next(at: Self.noon) != nil)
        #expect(backlog.next(at: Self.noon) != nil)
        #expect(backlog.next(at: Self.noon) == nil)
        backlog.finished(Self.key(1), .gone, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == Self.key(3))
    }

    @Test("a target that is found again while it turns out to be gone has another turn")
    func goneAndBack() {
        var backlog = Self.backlog()
        backlog.found(Self.key(1))
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        backlog.found(Self.key(1))
        backlog.finished(Self.key(1), .gone, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        backlog.finished(Self.key(1), .gone, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == nil && backlog.isIdle(at: Self.noon))
    }

    @Test("there is room for as many targets as may wait, and for none during a pause")
    func room() {
        var backlog = Self.backlog { $0.waitingTargets = 2 }
        #expect(backlog.room(at: Self.noon) == 2)
        for number in 1...2 { backlog.found(Self.key(number)) }
        #expect(backlog.room(at: Self.noon) == 0)
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        #expect(backlog.room(at: Self.noon) == 1)
        _ = backlog.pause(
            atLeast: .seconds(5), atMost: .seconds(5), at: Self.noon, jitter: 0)
        #expect(backlog.room(at: Self.noon) == 0)
        #expect(backlog.room(at: Self.noon.advanced(by: .seconds(10))) == 1)
    }

    @Test("a target that fails rests for longer each time, the others go on")
    func resting() {
        var backlog = Self.backlog()
        for (failures, wait) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            backlog.found(Self.key(1), failures: failures)
            #expect(backlog.next(at: Self.noon) == Self.key(1))
            let rest = backlog.finished(Self.key(1), Self.rests, at: Self.noon, jitter: 0)
            #expect(rest == .init(end: Self.at(Double(wait)), failuresBefore: failures))
            #expect(backlog.isIdle(at: Self.noon) && !backlog.holds(Self.key(1)))
            backlog.found(Self.key(2))
            #expect(backlog.next(at: Self.noon) == Self.key(2))
            backlog.finished(Self.key(2), .done, at: Self.noon, jitter: 0)
        }
    }

    @Test("a turn that brought something ends a row of failures")
    func failuresAfterProgress() {
        var backlog = Self.backlog()
        backlog.found(Self.key(1), failures: 5)
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        backlog.finished(Self.key(1), .more, at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        let rest = backlog.finished(Self.key(1), Self.rests, at: Self.noon, jitter: 0)
        #expect(rest == .init(end: Self.at(1), failuresBefore: 0))
    }

    @Test("a rest is as long as asked for, and jitter makes it up to a quarter longer")
    func asked() {
        var backlog = Self.backlog()
        for (number, jitter, wait) in [(1, 0.0, 100.0), (2, 1.0, 125.0)] {
            backlog.found(Self.key(number))
            #expect(backlog.next(at: Self.noon) == Self.key(number))
            let rest = backlog.finished(
                Self.key(number), .rests(atLeast: .seconds(100), atMost: .seconds(60)),
                at: Self.noon, jitter: jitter
            )
            #expect(rest?.end == Self.at(wait))
        }
    }

    @Test("failures in a row pause everything; then one goes ahead, and its success ends it")
    func pausing() {
        var backlog = Self.backlog { $0.failuresBeforePause = 3 }
        for number in 1...4 { backlog.found(Self.key(number)) }
        #expect(backlog.failed(atLeast: .zero, at: Self.noon, jitter: 0) == false)
        #expect(backlog.failed(atLeast: .zero, at: Self.noon, jitter: 0) == false)
        #expect(backlog.failed(atLeast: .zero, at: Self.noon, jitter: 0) == true)
        #expect(backlog.next(at: Self.at(0.9)) == nil)
        #expect(backlog.isIdle(at: Self.at(0.9)))
        #expect(backlog.deadline(at: Self.at(0.9)) == Self.at(1))
        #expect(backlog.next(at: Self.at(1)) == Self.key(1))
        #expect(backlog.next(at: Self.at(1)) == nil)
        #expect(backlog.failed(atLeast: .zero, at: Self.at(1), jitter: 0) == false)
        backlog.finished(Self.key(1), Self.rests, at: Self.at(1), jitter: 0)
        #expect(backlog.next(at: Self.at(2.9)) == nil)
        #expect(backlog.next(at: Self.at(3)) == Self.key(2))
        #expect(backlog.worked() == true)
        #expect(backlog.worked() == false)
        #expect(backlog.next(at: Self.at(3)) == Self.key(3))
    }

    @Test("M5: a pause ends where the time of day is set back, instead of lasting longer")
    func clockSetBack() {
        var backlog = Self.backlog()
        backlog.found(Self.key(1))
        _ = backlog.pause(
            atLeast: .seconds(10), atMost: .seconds(60), at: Self.noon, jitter: 0)
        #expect(backlog.next(at: Self.at(9)) == nil)
        let before = Self.at(-3600)
        #expect(backlog.room(at: before) > 0 && backlog.deadline(at: before) == nil)
        #expect(backlog.next(at: before) == Self.key(1))
    }
}
