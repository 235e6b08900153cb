// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling

@testable import TidebellSQLite

@Suite("How much a read may do", .hangs)
struct ReadWorkTests {
    private func withStore(_ body: (SQLiteStore) async throws -> Void) async throws {
        let engine = SQLiteEngine()
        // No read takes long here, however busy the machine is.
        let time = Time(now: { .noon }, clock: ContinuousClock(), elapsed: { .zero })
        let store = try SQLiteStore.open(at: SQLiteEngine.newPath(), time: time)
        try await body(store)
        try await engine.remove(store)
    }

    @Test("What costs more than a little goes on elsewhere, and ends with its budget")
    func budget() async throws {
        try await withStore { store in
            let budget = ReadBudget(records: 1000, bytes: 1024 * 1024)
            let runs = Atomic(0)
            func work(_ bytes: Int) async throws -> Int {
                runs.store(0, ordering: .relaxed)
                return try await store.read(.within(budget)) { reader in
                    runs.add(1, ordering: .relaxed)
                    try reader.noteWork(bytes)
                    return bytes
                }
            }
            let little = try await work(1000)
            #expect(little == 1000)
            #expect(runs.load(ordering: .relaxed) == 1)
            let more = SQLiteStore.budgetInPlace.bytes + 1
            let done = try await work(more)
            #expect(done == more)
            #expect(runs.load(ordering: .relaxed) == 2)
            await #expect(throws: ReadBudgetPassed.self) { try await work(budget.bytes + 1) }
            #expect(runs.load(ordering: .relaxed) == 2)
        }
    }

    @Test("While a read takes long, and for a while after it, reads go to threads of their own")
    func slowDisk() {
        let now = Mutex(Duration.zero)
        let reads = ReadsInPlace { now.withLock(\.self) }
        func wait(_ time: Duration) { now.withLock { $0 += time } }
        func isInPlace(_ short: Int = 1) -> Bool { reads.run(short) { _ in true } ?? false }
        func isPaused(for pause: Duration) -> Bool {
            wait(pause - .milliseconds(1))
            let isPaused = !isInPlace()
            wait(.milliseconds(1))
            return isPaused && isInPlace()
        }
        #expect(isInPlace(ReadsInPlace.atOnce) && !isInPlace(ReadsInPlace.atOnce + 1))
        let short = ReadsInPlace.long - .milliseconds(1)
        let others: Void? = reads.run(1) { place in
            wait(short)
            let other = reads.run(1) { $0 }
            #expect((other != nil) == (ReadsInPlace.atOnce > 1) && other != place)
            wait(.milliseconds(1))
            #expect(!isInPlace())
        }
        #expect(others != nil)
        #expect(isPaused(for: ReadsInPlace.long * ReadsInPlace.pause))
        reads.measure { wait(short) }
        #expect(isInPlace())
        reads.measure { wait(.seconds(60)) }
        #expect(isPaused(for: ReadsInPlace.longestPause))
    }

    @Test("A long read that is cancelled ends at the next work it counts")
    func cancelled() async throws {
        try await withStore { store in
            let entered = AsyncStream.makeStream(of: Void.self)
            let goOn = DispatchSemaphore(value: 0)
            let counted = Atomic(0)
            let read = Task {
                try await store.read(.long) { reader in
                    entered.continuation.yield()
                    goOn.wait()
                    for _ in 0..<10 {
                        try reader.noteWork(1)
                        counted.add(1, ordering: .relaxed)
                    }
                }
            }
            for await _ in entered.stream { break }
            read.cancel()
            goOn.signal()
            await #expect(throws: CancellationError.self) { try await read.value }
            #expect(counted.load(ordering: .relaxed) == 0)
        }
    }
}
