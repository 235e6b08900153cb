// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
@testable import TidebellPush

@Suite("The journal of deliveries", .hangs)
struct DeliveryJournalTests {
    private func delivery(_ number: Int) -> Delivery {
        Delivery(
            notification: NotificationSequence(rawValue: 1), user: UserID(rawValue: 1),
            clientID: "phone", route: .stream, at: World.noon, answer: "\(number)"
        )
    }

    private func written(in world: World) async throws -> [String] {
        try await world.store.read { reader in
            try reader.deliveries(
                of: NotificationSequence(rawValue: 1), to: UserID(rawValue: 1), limit: .max
            )
        }.map(\.answer)
    }

    @Test("What was recorded is written in order when flushed, once")
    func flush() async throws {
        try await World.run { world in
            let journal = DeliveryJournal(store: world.store, clock: world.clock)
            for number in 0..<2_500 { journal.record(delivery(number)) }
            #expect(journal.waitingCount == 2_500)
            try await journal.flush()
            try await journal.flush()
            #expect(journal.waitingCount == 0)
            #expect(try await written(in: world) == (0..<2_500).map(String.init))
        }
    }

    @Test("When too many wait the oldest are lost, and counted")
    func overflow() async throws {
        try await World.run { world in
            let journal = DeliveryJournal(store: world.store, clock: world.clock)
            let count = DeliveryJournal.capacity + 40_000
            for number in 0..<count { journal.record(delivery(number)) }
            #expect(journal.waitingCount == DeliveryJournal.capacity)
            #expect(journal.lostCount == 40_000)
            try await journal.flush()
            #expect(try await written(in: world) == (40_000..<count).map(String.init))
        }
    }

    @Test("A store that refuses loses nothing")
    func refusal() async throws {
        try await World.run { world in
            let journal = DeliveryJournal(store: world.store, clock: world.clock)
            journal.record(delivery(1))
            journal.record(delivery(2))
            world.store.fail(writes: 1)
            await #expect(throws: ObservedStore.Failure.self) { try await journal.flush() }
            journal.record(delivery(3))
            try await journal.flush()
            #expect(try await written(in: world) == ["1", "2", "3"])
            #expect(journal.lostCount == 0)
        }
    }

    @Test("The service writes a bounded number a second, and the rest at its end")
    func service() async throws {
        try await World.run { world in
            let journal = DeliveryJournal(store: world.store, clock: world.clock)
            let rate = DeliveryJournal.writesPerSecond
            for number in 0..<(rate + 7) { journal.record(delivery(number)) }
            let service = Task { try await journal.run() }
            await world.clock.waitForSleeper(of: DeliveryJournal.interval)
            #expect(try await written(in: world).isEmpty)
            world.clock.advance(by: DeliveryJournal.interval)
            await world.clock.waitForSleeper(of: DeliveryJournal.interval)
            #expect(try await written(in: world).count == rate)
            service.cancel()
            try await service.value
            #expect(try await written(in: world) == (0..<(rate + 7)).map(String.init))
        }
    }

    @Test("Without a store everything is forgotten at once")
    func off() async throws {
        let journal = DeliveryJournal(store: nil, clock: ContinuousClock())
        journal.record(delivery(1))
        #expect(journal.waitingCount == 0)
        try await journal.flush()
    }
}
