// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellScheduling

@Suite("Threads of one's own", .hangs)
struct SerialThreadTests {
    @Test(
        "What is given to one runs in order, also where more of them wait than dispatch queues have threads"
    )
    func manyWait() async {
        let threads = (0..<400).map { SerialThread("test-\($0)") }
        let gate = DispatchSemaphore(value: 0)
        let order = Locked<[Int: [Int]]>([:])
        await withTaskGroup(of: Void.self) { group in
            for (number, thread) in threads.enumerated() {
                for step in 0..<3 {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            thread.async {
                                // All but the last one wait for that.
                                if number < threads.count - 1 { gate.wait() }
                                order.withLock { $0[number, default: []].append(step) }
                                if number == threads.count - 1 {
                                    for _ in threads { gate.signal() }
                                }
                                continuation.resume()
                            }
                        }
                    }
                }
            }
        }
        #expect(
            order.current.mapValues { $0.sorted() }
                == Dictionary(
                    uniqueKeysWithValues: threads.indices.map { ($0, [0, 1, 2]) }))
    }

    @Test("Bodies run in the order in which they were given, one at a time")
    func inOrder() async {
        let (thread, order) = (SerialThread("test"), Locked<[Int]>([]))
        await withCheckedContinuation { continuation in
            for number in 0..<1000 {
                thread.async { order.withLock { $0.append(number) } }
            }
            thread.async { continuation.resume() }
        }
        #expect(order.current == Array(0..<1000))
    }
}
