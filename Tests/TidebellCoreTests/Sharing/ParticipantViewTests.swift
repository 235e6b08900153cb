// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

/// What answers show to participants of what is shared with them, and not of what is beside it.
@Suite("What participants are shown") struct ParticipantViewTests {
    /// Anna's list with two notes, which Otto may write, and a note beside it.
    private func sharedList() async throws -> SharingBench {
        let bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "list", title: "list"),
            .save(.create, "one", title: "one", parent: "list"),
            .save(.create, "two", title: "two", parent: "list"),
            .save(.create, "secret", title: "secret"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        return bench
    }

    @Test("SAVE-24, SHARE-1: who may not see what needs a record is not told which one that is")
    func needed() async throws {
        let bench = try await sharedList()
        var needing = ModifyRecords.Operation.save(.create, "needing", title: "x")
        needing.fields = FieldChanges([
            "needed": Field(.reference(WireReference(recordName: "one", action: .validate)))
        ])
        #expect(try await bench.modify(needing)[0].error == nil)
        let deletion = ModifyRecords.Operation(.forceDelete, recordName: "one")
        let theirs = try await bench.modify(as: bench.otto, deletion)[0].error
        #expect(theirs?.code == .validatingReferenceError)
        #expect(
            theirs?.reason
                == "record 'one', or what would go with it, is what another record needs")
        let own = try await bench.modify(deletion)[0].error
        #expect(own?.code == .validatingReferenceError)
        #expect(own?.reason.contains("'needing'") == true)
    }

    @Test(
        "TOK-15, TOK-25: a record that goes from one share of a participant to another one is not gone",
        arguments: [false, true])
    func betweenShares(isChangedLater: Bool) async throws {
        let bench = try await sharedList()
        try await bench.modify(.save(.create, "else", title: "else"))
        let other = try await bench.share("else", as: "other", with: [.invited(bench.otto)])
        _ = try await bench.accept(other, as: bench.otto)
        let token = try await bench.changes(as: bench.otto).page?.syncToken
        try await bench.modify(.save(.forceUpdate, "one", title: "1", parent: "else"))
        if isChangedLater { try await bench.modify(.save(.forceUpdate, "one", title: "2")) }
        let title = isChangedLater ? "2" : "1"
        let page = try await bench.changes(as: bench.otto, since: token).page
        #expect(page?.records.map(\.summary) == ["one=\(title)"])
        // Also page by page, where a device may stop in between.
        var records: [String] = []
        var next = token
        var isWhole = false
        while !isWhole {
            let page = try #require(
                try await bench.changes(as: bench.otto, since: next, limit: 1).page)
            records += page.records.map(\.summary)
            next = page.syncToken
            isWhole = !page.moreComing
        }
        #expect(records == ["one=\(title)"])
    }

    @Test("SHARE-1, SHARE-17: what is above a root is found out by no filter, and by no save")
    func aboveRoot() async throws {
        let bench = try await sharedList()
        try await bench.modify(.save(.forceUpdate, "list", title: "list", parent: "secret"))
        func found(by user: StoredUser, _ filter: WireFilter) async throws -> [String] {
            let call = bench.call(user)
            let request = QueryRecords.Request(
                query: WireQuery(recordType: "Note", filters: [filter]), zoneID: bench.zoneID)
            return try await bench.bench.store.read {
                try QueryRecords.run(request, for: call, in: $0)
            }.records.map(\.summary)
        }
        let filters = [
            WireFilter(.beginsWith, .system(.parent), .string("sec")),
            WireFilter(.equals, .system(.parent), .string("secret")),
            WireFilter(.in, .system(.parent), .list(.stringList, [.string("secret")])),
        ]
        for filter in filters {
            #expect(try await found(by: bench.anna, filter) == ["list=list"])
            #expect(try await found(by: bench.otto, filter) == [])
        }
        let below = WireFilter(.equals, .system(.parent), .string("list"))
        #expect(try await found(by: bench.otto, below) == ["one=one", "two=two"])
        // A right guess is answered as a wrong one.
        var errors: [WireError?] = []
        for guess in ["secret", "nothing"] {
            let save = ModifyRecords.Operation.save(
                .forceUpdate, "list", title: "!", parent: .some(guess))
            errors.append(try await bench.modify(as: bench.otto, save)[0].error)
        }
        #expect(errors[0]?.code == .validatingReferenceError && errors[0] == errors[1])
        #expect(try await bench.lookup("list", as: bench.anna)[0].record?.parent == "secret")
    }

    @Test(
        "TOK-22, SHARE-17: a token of before forgotten ends of shares is expired, a newer one is not"
    )
    func forgottenEnds() async throws {
        let bench = try await sharedList()
        try await bench.tellParticipants()
        let before = try await bench.sharedZones(of: bench.otto)
        #expect(before.zones == ["Notes"])
        try await bench.modify(.share(.forceDelete))
        try await bench.tellParticipants()
        let after = try await bench.sharedZones(of: bench.otto, since: before.token)
        #expect(after.zones == ["-Notes"])
        let later = bench.call(bench.otto).now.advanced(by: .seconds(365 * 86400))
        _ = try await bench.bench.store.write(.everything) {
            try $0.removeTombstones(modifiedBefore: later, limit: 100)
        }
        let error = await #expect(throws: WireError.self) {
            _ = try await bench.sharedZones(of: bench.otto, since: before.token)
        }
        #expect(error?.detail?.ckCode == CKErrorCode.changeTokenExpired)
        #expect(try await bench.sharedZones(of: bench.otto, since: after.token).zones == [])
        #expect(try await bench.sharedZones(of: bench.otto).zones == [])
    }
}
