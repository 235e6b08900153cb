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
}

private final class Write: WaitingWrite {
    let caller: AccountID?
    let runsAlone = false
    let durability = Durability.immediate

    init(of caller: AccountID?) { self.caller = caller }

    func run(in transaction: SQLTransaction) {}
    func finish(_ error: (any Error)?) {}
}
