// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import TidebellPush

@Suite(.hangs) struct WakeSignalTests {
    @Test("Rings before a wait count as one")
    func ringsMerge() async {
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

    @Test("A cancelled wait takes no ring")
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

    @Test("A turnstile lets one through at a time, in the order of arrival; a failure leaves it")
    func turnstile() async throws {
        struct Stumble: Error {}
        let turnstile = Turnstile()
        await #expect(throws: Stumble.self) { try await turnstile.run { throw Stumble() } }
        let gate = WakeSignal()
        let passed = Passed()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await turnstile.run {
                    _ = await gate.wait()
                    passed.add(0)
                }
            }
            await eventually { gate.isAwaited }
            for number in 1...3 {
                group.addTask {
                    try await turnstile.run { passed.add(number) }
                }
                await eventually { turnstile.waitingCount == number }
            }
            #expect(passed.numbers == [])
            gate.raise()
            try await group.waitForAll()
        }
        #expect(passed.numbers == [0, 1, 2, 3])
    }
}

/// Who came through, in order.
private final class Passed: Sendable {
    private let state = Mutex<[Int]>([])

    var numbers: [Int] { state.withLock(\.self) }

    func add(_ number: Int) { state.withLock { $0.append(number) } }
}
