// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing
import TidebellScheduling

@Suite(.hangs) struct WakeSignalTests {
    @Test("Signals before a wait count as one")
    func signalsMerge() async {
        let signal = WakeSignal()
        signal.raise()
        signal.raise()
        #expect(await signal.wait())
        let waiting = await withTaskGroup(of: Bool.self) { group in
            group.addTask { await signal.wait() }
            await eventually { signal.isAwaited }
            group.cancelAll()
            return await group.next()
        }
        #expect(waiting == false)
    }

    @Test("A cancelled wait takes no signal")
    func cancelledWait() async {
        let signal = WakeSignal()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await signal.wait() }
            await eventually { signal.isAwaited }
            group.cancelAll()
            for await answer in group { #expect(!answer) }
        }
        signal.raise()
        #expect(await signal.wait())
    }

    @Test("A fair lock lets one through at a time, in the order of arrival; a failure leaves it")
    func fairLock() async {
        struct Stumble: Error {}
        let lock = FairLock()
        await #expect(throws: Stumble.self) { try await lock.withLock { throw Stumble() } }
        let gate = WakeSignal()
        let passed = Passed()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await lock.withLock {
                    _ = await gate.wait()
                    passed.add(0)
                }
            }
            await eventually { gate.isAwaited }
            for number in 1...3 {
                group.addTask {
                    await lock.withLock { passed.add(number) }
                }
                await eventually { lock.waitingCount == number }
            }
            #expect(passed.numbers == [])
            gate.raise()
            await group.waitForAll()
        }
        #expect(passed.numbers == [0, 1, 2, 3])
    }
}

/// The tasks that came through, in order.
private final class Passed: Sendable {
    private let state = Mutex<[Int]>([])

    var numbers: [Int] { state.withLock(\.self) }

    func add(_ number: Int) { state.withLock { $0.append(number) } }
}
