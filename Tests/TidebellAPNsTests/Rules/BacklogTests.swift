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

    /// A backlog that has looked through the store and found nothing.
    private static func backlog(
        _ configure: (inout APNsConfiguration) -> Void = { _ in }
    ) -> APNsBacklog {
        var configuration = APNsConfiguration(apps: [])
        configure(&configuration)
        var backlog = APNsBacklog(configuration)
        backlog.looked([], next: nil)
        return backlog
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
        for number in 1...3 { backlog.found(Self.key(number)) }
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
        backlog.found(Self.key(1))
        var now = Self.noon
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(backlog.next(at: now) == Self.key(1))
            backlog.finished(Self.key(1), Self.rests, at: now, jitter: 0)
            #expect(backlog.isIdle(at: now))
            #expect(backlog.deadline == now.advanced(by: .seconds(wait)))
            backlog.found(Self.key(2))
            #expect(backlog.next(at: now) == Self.key(2))
            backlog.finished(Self.key(2), .done, at: now, jitter: 0)
            now = now.advanced(by: .seconds(wait))
        }
    }

    @Test("a rest is as long as asked for, and jitter makes it up to a quarter longer")
    func asked() {
        var backlog = Self.backlog()
        for (number, jitter) in [(1, 0.0), (2, 1.0)] {
            backlog.found(Self.key(number))
            #expect(backlog.next(at: Self.noon) == Self.key(number))
            backlog.finished(
                Self.key(number), .rests(atLeast: .seconds(100), atMost: .seconds(60)),
                at: Self.noon, jitter: jitter
            )
        }
        #expect(backlog.next(at: Self.at(99)) == nil)
        #expect(backlog.next(at: Self.at(100)) == Self.key(1))
        #expect(backlog.next(at: Self.at(124.9)) == nil)
        #expect(backlog.next(at: Self.at(125)) == Self.key(2))
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
        #expect(backlog.deadline == Self.at(1))
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

    @Test("memory is bounded: what does not fit is found again by looking")
    func overflow() {
        var backlog = Self.backlog {
            $0.waitingTargets = 2
            $0.restingTargets = 1
        }
        #expect(backlog.lookNeeded(at: Self.noon) == nil)
        for number in 1...3 { backlog.found(Self.key(number)) }
        #expect(backlog.lookNeeded(at: Self.noon) == nil, "there is no room yet")
        for number in 1...2 {
            #expect(backlog.next(at: Self.noon) == Self.key(number))
            backlog.finished(Self.key(number), .done, at: Self.noon, jitter: 0)
        }
        #expect(backlog.lookNeeded(at: Self.noon) != nil)
        backlog.looked([Self.key(3)], next: nil)
        #expect(backlog.next(at: Self.noon) == Self.key(3))
        backlog.finished(Self.key(3), Self.rests, at: Self.noon, jitter: 0)
        backlog.found(Self.key(4))
        #expect(backlog.next(at: Self.noon) == Self.key(4))
        backlog.finished(Self.key(4), Self.rests, at: Self.noon, jitter: 0)
        #expect(backlog.lookNeeded(at: Self.noon) == nil)
        #expect(backlog.next(at: Self.at(1)) == Self.key(3))
        #expect(backlog.lookNeeded(at: Self.at(1)) != nil)
    }

    @Test("a look that missed something is repeated")
    func repeatedLook() {
        var backlog = Self.backlog { $0.waitingTargets = 1 }
        backlog.found(Self.key(1))
        backlog.found(Self.key(2))
        #expect(backlog.next(at: Self.noon) == Self.key(1))
        backlog.looked([Self.key(5)], next: DeviceKey(rawValue: 5))
        // Found behind the position the scan has come to, and there is no room.
        backlog.found(Self.key(2))
        #expect(backlog.next(at: Self.noon) == Self.key(5))
        #expect(backlog.lookNeeded(at: Self.noon)?.after == DeviceKey(rawValue: 5))
        backlog.looked([], next: nil)
        #expect(backlog.lookNeeded(at: Self.noon) != nil)
        #expect(backlog.lookNeeded(at: Self.noon)?.after == nil)
        backlog.looked([Self.key(2)], next: nil)
        #expect(backlog.next(at: Self.noon) == Self.key(2))
        #expect(backlog.lookNeeded(at: Self.noon) == nil)
    }
}
