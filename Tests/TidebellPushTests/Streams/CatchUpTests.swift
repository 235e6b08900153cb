// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellScheduling
import TidebellWire

@testable import TidebellPush

@Suite(.hangs) struct CatchUpTests {
    private static let anna = UserID(rawValue: 1)
    private static let ben = UserID(rawValue: 2)

    @Test("No more devices than so many read what they missed at once, and users take turns")
    func turns() async throws {
        let catchUps = CatchUps(atOnce: 1)
        let gate = Gate()
        let began = Locked<[String]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            let users = [Self.anna, Self.anna, Self.anna, Self.anna, Self.ben]
            for (index, user) in users.enumerated() {
                group.addTask {
                    try await catchUps.read(for: user) {
                        began.withLock { $0.append(user == Self.anna ? "anna" : "ben") }
                        await gate.wait()
                    }
                }
                await eventually {
                    began.withLock { $0.count } == 1 && catchUps.waitingCount == index
                }
            }
            #expect(began.withLock { $0 } == ["anna"])
            gate.open()
            try await group.waitForAll()
        }
        #expect(catchUps.waitingCount == 0)
        #expect(began.withLock { $0.count } == 5)
        #expect(began.withLock { $0.firstIndex(of: "ben") ?? 5 } < 4)
    }

    @Test("A device that goes away leaves the line, and the next one takes its turn")
    func leaving() async throws {
        let catchUps = CatchUps(atOnce: 1)
        let gate = Gate()
        let isReading = Locked(false)
        let first = Task {
            try await catchUps.read(for: Self.anna) {
                isReading.withLock { $0 = true }
                await gate.wait()
            }
        }
        await eventually { isReading.withLock { $0 } }
        let second = Task { try await catchUps.read(for: Self.anna) { Issue.record("it left") } }
        await eventually { catchUps.waitingCount == 1 }
        let third = Task { try await catchUps.read(for: Self.ben) { "third" } }
        await eventually { catchUps.waitingCount == 2 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(catchUps.waitingCount == 1)
        gate.open()
        try await first.value
        #expect(try await third.value == "third")
    }
}
