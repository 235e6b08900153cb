// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer

@Suite("M1: long reads apart from short ones", .hangs)
struct LongReadTests {
    private static let container = ContainerKey(
        container: TestAPI.container, environment: .development
    )
    private let anonymous = LongReads.Caller.anonymous(Self.container)

    private func bounds(_ atOnce: Int, _ atOnceByCaller: Int) -> LongReadBounds {
        var bounds = LongReadBounds()
        (bounds.atOnce, bounds.atOnceByCaller) = (atOnce, atOnceByCaller)
        return bounds
    }

    private func user(_ number: Int64) -> LongReads.Caller {
        .account(AccountID(rawValue: number))
    }

    /// A body that runs until it is let go.
    private struct Held {
        private let entered = AsyncStream.makeStream(of: Void.self)
        private let open = AsyncStream.makeStream(of: Void.self)

        func run() async {
            entered.continuation.yield()
            for await _ in open.stream { return }
        }
        func untilEntered() async { for await _ in entered.stream { return } }
        func end() { open.continuation.yield() }
    }

    @Test("M1: callers take turns at long reads, however many one of them asks for")
    func turns() async throws {
        let reads = LongReads(bounds(1, 1))
        let held = Held()
        let order = AsyncStream.makeStream(of: Int64.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await held.run() } }
            await held.untilEntered()
            var waiting = 0
            for number in [1, 1, 1, 2, 3] as [Int64] {
                group.addTask {
                    try await reads.run(for: user(number)) { _ = order.continuation.yield(number) }
                }
                waiting += 1
                #expect(await eventually { reads.waitingCount == waiting })
            }
            held.end()
            try await group.waitForAll()
        }
        order.continuation.finish()
        var served: [Int64] = []
        for await number in order.stream { served.append(number) }
        #expect(served == [1, 2, 3, 1, 1])
    }

    @Test("M1: a caller has fewer slots than there are, and others get the rest")
    func fewerForOne() async throws {
        let reads = LongReads(bounds(2, 1))
        let (mine, other) = (Held(), Held())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await mine.run() } }
            await mine.untilEntered()
            group.addTask { try await reads.run(for: anonymous) {} }
            #expect(await eventually { reads.waitingCount == 1 })
            group.addTask { try await reads.run(for: user(1)) { await other.run() } }
            await other.untilEntered()
            #expect(reads.waitingCount == 1)
            other.end()
            mine.end()
            try await group.waitForAll()
        }
        #expect(reads.waitingCount == 0)
    }

    @Test("M1: beyond the bounds a long read is refused at once, naming the bound")
    func refusals() async throws {
        var bounds = bounds(1, 1)
        (bounds.waitingOfUser, bounds.waitingOfAnonymous, bounds.waiting) = (1, 1, 2)
        let reads = LongReads(bounds)
        let held = Held()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: user(9)) { await held.run() } }
            await held.untilEntered()
            for (count, caller) in [(1, user(1)), (2, anonymous)] {
                group.addTask { try await reads.run(for: caller) {} }
                #expect(await eventually { reads.waitingCount == count })
            }
            await #expect(
                throws: WireError(
                    .throttled,
                    "1 long reads of this user wait already (longReads.waitingOfUser); "
                        + "wait for their answers, or ask for less at a time",
                    retryAfter: 2
                )
            ) { try await reads.run(for: user(1)) {} }
            await #expect(
                throws: WireError(
                    .throttled,
                    "1 long reads of callers without a user wait already "
                        + "(longReads.waitingOfAnonymous); "
                        + "wait for their answers, or ask for less at a time",
                    retryAfter: 2
                )
            ) { try await reads.run(for: anonymous) {} }
            await #expect(
                throws: WireError(
                    .tryAgainLater, "2 long reads wait already (longReads.waiting)", retryAfter: 2
                )
            ) { try await reads.run(for: user(2)) {} }
            held.end()
            try await group.waitForAll()
        }
    }

    @Test("M1: a caller that gives up while waiting takes nobody's turn")
    func cancellation() async throws {
        let reads = LongReads(bounds(1, 1))
        let held = Held()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await held.run() } }
            await held.untilEntered()
            let waiting = Task { try await reads.run(for: user(1)) {} }
            #expect(await eventually { reads.waitingCount == 1 })
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(reads.waitingCount == 0)
            held.end()
            try await group.waitForAll()
        }
        try await reads.run(for: user(1)) {}
    }

    @Test("A long read whose client goes ends, and its slot is free")
    func clientGoes() async throws {
        let reads = LongReads(bounds(1, 1))
        let presence = ClientPresence()
        let entered = AsyncStream.makeStream(of: Void.self)
        let running = Task {
            try await reads.run(for: user(1), presence: presence) {
                entered.continuation.yield()
                // Ends when the task is cancelled.
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                try Task.checkCancellation()
            }
        }
        for await _ in entered.stream { break }
        presence.leave()
        await #expect(throws: CancellationError.self) { try await running.value }
        try await reads.run(for: user(1)) {}
    }

    @Test("A search in a long text waits for its turn, though it reads one record")
    func searches() async throws {
        var limits = Limits()
        limits.quickQuery.bytes = 16 * 1024
        limits.longReads.atOnce = 1
        let api = try await TestAPI(limits: limits)
        let text = String(repeating: "tide ", count: 1000)
        _ = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"a",\
            "recordType":"Note","fields":{"text":{"value":"\(text)"}}}}]}
            """
        )
        func query(_ filter: String) async throws -> TestAPI.Answer {
            try await api.post(
                "private/records/query",
                #"{"query":{"recordType":"Note","filterBy":[\#(filter)]}}"#
            )
        }
        let held = Held()
        let reads = api.cloud.webServices.cloud.longReads
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await held.run() } }
            await held.untilEntered()
            let search = Task {
                try await query(
                    #"{"comparator":"CONTAINS_ALL_TOKENS","fieldName":"text","#
                        + #""fieldValue":{"value":"tide"}}"#
                )
            }
            #expect(await eventually { reads.waitingCount == 1 })
            #expect(try await query("").recordNames == ["a"])
            held.end()
            try await group.waitForAll()
            #expect(try await search.value.recordNames == ["a"])
        }
    }

    @Test("M1: a query that looks at much waits for its turn, one that looks at little does not")
    func queries() async throws {
        var limits = Limits()
        limits.quickQuery.records = 2
        limits.longReads.atOnce = 1
        let api = try await TestAPI(limits: limits)
        for zone in ["Few", "Many"] { try await api.makeZone(zone) }
        try await api.save("a", in: "Few")
        for name in ["a", "b", "c"] { try await api.save(name, in: "Many") }
        func query(_ zone: String) async throws -> TestAPI.Answer {
            try await api.post(
                "private/records/query",
                """
                {"zoneID":{"zoneName":"\(zone)"},"query":{"recordType":"Note",\
                "sortBy":[{"systemFieldName":"recordName"}]}}
                """
            )
        }
        let held = Held()
        let reads = api.cloud.webServices.cloud.longReads
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await held.run() } }
            await held.untilEntered()
            let many = Task { try await query("Many") }
            #expect(await eventually { reads.waitingCount == 1 })
            #expect(try await query("Few").recordNames == ["a"])
            held.end()
            try await group.waitForAll()
            #expect(try await many.value.recordNames == ["a", "b", "c"])
        }
    }

    @Test("M1: a page of changes beyond its budget waits for its turn and is whole")
    func changes() async throws {
        var limits = Limits()
        limits.quickPage.records = 1
        limits.longReads.atOnce = 1
        let api = try await TestAPI(limits: limits)
        for zone in ["Few", "Many"] { try await api.makeZone(zone) }
        try await api.save("a", in: "Few")
        for name in ["a", "b"] { try await api.save(name, in: "Many") }
        func changes(_ zone: String) async throws -> [String] {
            let answer = try await api.post(
                "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"\#(zone)"}}]}"#
            )
            return answer.text.matches(of: /"recordName":"([a-z])"/).map { String($0.output.1) }
        }
        let held = Held()
        let reads = api.cloud.webServices.cloud.longReads
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await reads.run(for: anonymous) { await held.run() } }
            await held.untilEntered()
            let many = Task { try await changes("Many") }
            #expect(await eventually { reads.waitingCount == 1 })
            #expect(try await changes("Few") == ["a"])
            held.end()
            try await group.waitForAll()
            #expect(try await many.value == ["a", "b"])
        }
    }
}
