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
        for lane in 0..<3 { #expect(queue.nextOrEnd(in: lane) == nil) }
        // All is done, so that the topic begins anew, in the first lane.
        let b3 = submit(.scope(2))
        #expect(drains == [0, 1, 2, 0])
        #expect(queue.nextOrEnd(in: 0)?.first === b3)
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

    func run(in transaction: SQLTransaction) {}
    func finish(_ error: (any Error)?) {}
}
