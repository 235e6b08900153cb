// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Tokens of a life that was lost")
struct LostLifeTests {
    /// Runs an operation and returns why its token was refused.
    private func refusal(_ body: () async throws -> Void) async -> (code: Int?, reason: String)? {
        do {
            try await body()
            return nil
        } catch let error as WireError {
            return (error.ckErrorCode, error.reason)
        } catch {
            return (nil, "\(error)")
        }
    }

    private func history(_ token: String?, _ bench: Bench) async throws -> String {
        let call = bench.call()
        let request = FetchNotificationChanges.Request(serverChangeToken: token)
        return try await bench.store.read {
            try FetchNotificationChanges.page(request, for: call, in: $0)
        }.response.serverChangeToken
    }

    @Test("H6: are expired with the reason; those of the new life go on, from its first day")
    func refused() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a"))
        let zone = try #require(try await bench.changes().page).syncToken
        let database = try await bench.databaseChanges().syncToken
        let reverse = try #require(
            try await bench.changes(options: .init(reverse: true)).page
        ).syncToken
        let log = try await history(nil, bench)
        try await bench.beginNewLife()
        for (token, options) in [
            (zone, FetchZoneChanges.Options()), (reverse, .init(reverse: true)),
        ] {
            let error = try await bench.changes(since: token, options: options).error
            #expect(error?.ckErrorCode == 21)
            #expect(error?.reason.contains("restored from an older moment") == true)
        }
        for body in [
            { _ = try await bench.databaseChanges(since: database) },
            { _ = try await history(log, bench) },
        ] as [() async throws -> Void] {
            let refusal = await self.refusal(body)
            #expect(refusal?.code == 21)
            #expect(refusal?.reason.contains("restored from an older moment") == true)
        }
        try await bench.modify(.save(.create, "b"))
        let page = try #require(try await bench.changes().page)
        #expect(page.records.map(\.summary) == ["a", "b"])
        #expect(page.syncToken.count == 64)
        #expect(try await bench.changes(since: page.syncToken).page?.records == [])
        let zones = try await bench.databaseChanges().syncToken
        #expect(try await bench.databaseChanges(since: zones).zones == [])
        #expect(try await history(history(nil, bench), bench).isEmpty == false)
    }

    @Test("H6: tokens of a store's first life are what they always were")
    func firstLife() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let token = try #require(try await bench.changes().page).syncToken
        // Version 1, a zone.
        #expect(token.count == 52)
        #expect(token.hasPrefix("AQ"))
    }

    @Test("H6: a forward token ahead of its zone or database is refused, by one change too")
    func ahead() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        // The clock stands at 1970, so that the next position is the one behind the newest.
        var call = bench.call()
        call.now = Instant(rawValue: 0)
        // The last commit is lost after its token was given out.
        let lost = try await bench.tokensOfLostCommit(call)
        let error = try await bench.changes(since: lost.zone, call: call).error
        #expect(error?.ckErrorCode == 21)
        #expect(error?.reason.contains("the syncToken is ahead of the zone") == true)
        let refusal = await self.refusal {
            _ = try await bench.databaseChanges(since: lost.database, call: call)
        }
        #expect(refusal?.code == 21)
        #expect(refusal?.reason.contains("the syncToken is ahead of the database") == true)
        #expect(try await bench.changes(options: .init(reverse: true)).page?.records == [])
    }
}

extension Bench {
    /// Has the store come back from the moment it is at.
    fileprivate func beginNewLife() async throws {
        try await store.beginNewIncarnation(at: call().now)
    }

    /// Saves a record, takes tokens after it and undoes it.
    fileprivate func tokensOfLostCommit(
        _ call: Call
    ) async throws -> (zone: String, database: String) {
        struct Lost: Error { var tokens: (String, String) }
        let zoneID = ZoneID(zoneName: "Notes")
        let save = ModifyRecords.Request(zoneID: zoneID, operations: [.save(.create, "lost")])
        do {
            try await store.write(.everything) { transaction throws in
                _ = try ModifyRecords.run(save, for: call, in: transaction)
                let zones = try FetchZoneChanges.run(
                    .init(zones: [.init(zoneID: zoneID, syncToken: nil, options: .init())]),
                    for: call, in: transaction
                )
                let database = try FetchDatabaseChanges.run(
                    .init(syncToken: nil, resultsLimit: nil), for: call, in: transaction)
                throw Lost(tokens: (zones.zones[0].page?.syncToken ?? "", database.syncToken))
            }
            throw TestFailure()
        } catch let lost as Lost {
            return lost.tokens
        }
    }
}

private struct TestFailure: Error {}
