// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

@testable import TidebellSQL
@testable import TidebellSQLite

@Suite("Writes that wait for a transaction")
struct WaitingWritesTests {
    @Test("each caller has its turn, whoever had one alone before waits behind the others")
    func turns() {
        let (crowd, other) = (AccountID(rawValue: 1), AccountID(rawValue: 2))
        var waiting = WaitingWrites()
        #expect(waiting.next() == nil)

        let first = Write(of: crowd)
        waiting.enter(first)
        #expect(waiting.count == 1)
        #expect((waiting.count(of: crowd), waiting.count(of: other)) == (1, 0))
        #expect(waiting.next() === first)
        #expect((waiting.count, waiting.count(of: crowd)) == (0, 0))

        let crowds = (0..<3).map { _ in Write(of: crowd) }
        let (others, servers) = (Write(of: other), Write(of: nil))
        for write in crowds + [others, servers] { waiting.enter(write) }
        #expect(waiting.count == 5)
        #expect((waiting.count(of: crowd), waiting.count(of: other)) == (3, 1))
        let order = (0..<5).map { _ in waiting.next().map(ObjectIdentifier.init) }
        #expect(
            order == [others, servers, crowds[0], crowds[1], crowds[2]].map(ObjectIdentifier.init))
        #expect(waiting.count == 0)
        #expect(waiting.next() == nil)
    }

    @Test(
        "writes of a topic keep to one lane while one of them waits or is under way, others get the one with less to do"
    )
    func lanes() {
        let queue = WriteQueue(StoreBounds(), lanes: 3, closedError: CancellationError())
        var drains: [Int] = []
        func submit(_ topic: WriteTopic) -> Write {
            let write = Write(of: nil, about: topic)
            queue.submit(write) { drains.append($0) }
            return write
        }
        let (a1, b1, a2) = (submit(.scope(1)), submit(.scope(2)), submit(.scope(1)))
        let (unknown, b2) = (submit(.unknown), submit(.scope(2)))
        #expect(drains == [0, 1, 2])
        #expect(queue.count == 5)
        #expect(queue.nextOrEnd(in: 0)?.first === a1)
        #expect(queue.next(in: 0) === a2)
        #expect(queue.nextOrEnd(in: 1)?.first === b1)
        #expect(queue.nextOrEnd(in: 2)?.first === unknown)
        // Both of the first topic are under way, none waits.
        let a3 = submit(.scope(1))
        #expect(queue.next(in: 0) === a3)
        // Two are under way in the first lane, one of the second waits: the third has the least.
        let c = submit(.scope(3))
        #expect(queue.next(in: 2) === c)
        #expect(queue.next(in: 1) === b2)
        #expect((queue.next(in: 0) == nil, queue.count) == (true, 0))
        // One that runs again keeps its topic.
        queue.endUnderWay(in: 1, but: [b2])
        for lane in [0, 2] { queue.endUnderWay(in: lane, but: []) }
        for lane in 0..<3 { #expect(queue.nextOrEnd(in: lane) == nil) }
        let (b3, d) = (submit(.scope(2)), submit(.scope(1)))
        #expect(drains == [0, 1, 2, 1, 0])
        #expect(queue.nextOrEnd(in: 1)?.first === b3)
        #expect(queue.nextOrEnd(in: 0)?.first === d)
    }

    @Test(
        "a lane that cannot write gives what it has to the first, and gets nothing until its rest is over"
    )
    func unusableLane() {
        let queue = WriteQueue(StoreBounds(), lanes: 2, closedError: CancellationError())
        var drains: [Int] = []
        func submit(_ topic: WriteTopic, at now: Duration = .zero) -> Write {
            let write = Write(of: nil, about: topic)
            queue.submit(write, at: now) { drains.append($0) }
            return write
        }
        let (a, b1, b2) = (submit(.scope(1)), submit(.scope(2)), submit(.scope(2)))
        #expect(queue.nextOrEnd(in: 0)?.first === a)
        #expect(queue.nextOrEnd(in: 1)?.first === b1)
        #expect(!queue.leave(1, with: [b1], until: .seconds(10)))
        #expect(queue.nextOrEnd(in: 1) == nil)
        let (b3, c) = (submit(.scope(2)), submit(.scope(3), at: .seconds(9)))
        #expect(queue.count == 4)
        let order = (0..<4).map { _ in queue.next(in: 0).map(ObjectIdentifier.init) }
        #expect(order == [b1, b2, b3, c].map(ObjectIdentifier.init))
        let late = submit(.scope(4), at: .seconds(10))
        #expect(drains == [0, 1, 1])
        #expect(queue.nextOrEnd(in: 1)?.first === late)
        queue.endUnderWay(in: 0, but: [])
        #expect(queue.nextOrEnd(in: 0) == nil)
        #expect(queue.leave(1, with: [late], until: .seconds(20)))
        #expect((queue.count, queue.nextOrEnd(in: 0)?.first === late) == (1, true))
    }
}

private final class Write: WaitingWrite {
    let caller: AccountID?
    let topic: WriteTopic
    let runsAlone = false
    let durability = Durability.immediate

    init(of caller: AccountID?, about topic: WriteTopic = .unknown) {
        self.caller = caller
        self.topic = topic
    }

    func run(in steps: any StoreSteps) {}
    func finish(_ error: (any Error)?) {}
}
