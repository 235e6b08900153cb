// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import CloudKit

@Suite("Handing values from task to task", .hangs)
struct HandoverTests {
    @Test("Values come in order, and who gives one waits until the next is asked for")
    func oneAtATime() async {
        let handover = Handover<Int>()
        let log = CallbackLog()
        async let given: Void = {
            for number in 0..<3 {
                await handover.give(number)
                log.add("\(number) was dealt with")
            }
            handover.end()
        }()
        while let number = await handover.next() {
            log.add("\(number)")
            // Time for a giver that does not wait.
            await Task.yield()
        }
        await given
        #expect(
            log.lines == [
                "0", "0 was dealt with", "1", "1 was dealt with", "2", "2 was dealt with",
            ]
        )
    }

    @Test("A task that was cancelled still takes what is given, so that nobody waits for ever")
    func cancelledTaker() async {
        let handover = Handover<Int>()
        let taker = Task {
            var taken: [Int] = []
            while let number = await handover.next() { taken.append(number) }
            return taken
        }
        taker.cancel()
        await handover.give(1)
        await handover.give(2)
        handover.end()
        #expect(await taker.value == [1, 2])
    }

    @Test("After the end there is nothing, however often it is asked for")
    func afterTheEnd() async {
        let handover = Handover<Int>()
        handover.end()
        #expect(await handover.next() == nil)
        #expect(await handover.next() == nil)
    }
}
