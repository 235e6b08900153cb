// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellTestStores
import TidebellWire

/// Moves that are too large for the save that makes them.
@Suite("Records follow into shares and out of them") struct SettlingTests {
    /// A shared list that Otto sees, and beside it `top` with two levels of notes below.
    private func bench(groups: Int, of count: Int) async throws -> (SharingBench, WireRecord) {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        try await bench.makeTree("top", groups: groups, of: count)
        return (bench, share)
    }

    private func few(_ moved: Int = 0, above: Int? = nil) -> Limits {
        var limits = Limits()
        limits.movedRecords = moved
        if let above { limits.recordsAbove = above }
        return limits
    }

    @Test("TOK-25: 25,000 records come into a share and leave it, 400 with each step")
    func many() async throws {
        let (bench, _) = try await bench(groups: 24, of: 1041)
        let count = 24 * 1042 + 1
        #expect(try await bench.modify(.save(.forceUpdate, "top", parent: "list"))[0].error == nil)
        #expect(try await bench.seen(by: bench.otto) == ["list", "share", "top"])
        var steps = 0
        while try await !bench.isSettled() {
            let before = try await bench.position()
            try await bench.settle(400, steps: 1)
            let followed = try await bench.followed(after: before)
            #expect(followed > 0 && followed <= 400)
            steps += 1
        }
        #expect(steps >= count / 400)
        let all = try await bench.replica(of: bench.otto)
        #expect(all.names.count == count + 2)
        try await bench.modify(.save(.forceUpdate, "top", parent: .some(nil)))
        // What has left is not seen from the first moment on.
        #expect(
            try await bench.lookup("list", "top", "top-3", "top-3-7", as: bench.otto)
                .map(\.summary)
                == ["list=list", "top NOT_FOUND", "top-3 NOT_FOUND", "top-3-7 NOT_FOUND"])
        #expect(try await bench.query(as: bench.otto) == ["list=list"])
        #expect(try await bench.seen(by: bench.otto) == ["list", "share"])
        try await bench.settle()
        #expect(try await bench.replica(of: bench.otto, from: all).names == ["list", "share"])
    }

    @Test("SHARE-4: a root below itself is in no other share, also where records follow later")
    func rootBelowItself() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "top", title: "top"))
        try await bench.modify(
            .save(.create, "list", title: "list", parent: "top"),
            .save(.create, "other", title: "other", parent: "top"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        let moved = try await bench.modify(
            limits: few(), .save(.forceUpdate, "top", parent: "list"))
        #expect(moved[0].error == nil)
        try await bench.settle()
        #expect(try await bench.seen(by: bench.otto) == ["list", "other", "share", "top"])
    }

    @Test("A store that is opened again goes on where it was stopped")
    func reopening() async throws {
        let (bench, _) = try await bench(groups: 5, of: 5)
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        try await bench.settle(4, steps: 2)
        #expect(try await !bench.isSettled())
        try await bench.bench.store.close()
        let call = bench.call(bench.anna)
        let store = try TestStores.open(in: bench.bench.folder)
        var isSettled = false
        while !isSettled {
            isSettled = try await store.write(try .database(of: call)) { transaction in
                try transaction.unsettledZones(from: ZoneKey(rawValue: 0), limit: 1).allSatisfy {
                    try SettleHierarchies.step(
                        $0.zone.key, limit: 4, at: call.now, in: transaction)
                }
            }
        }
        let otto = bench.call(bench.otto)
        let request = LookupRecords.Request(
            zoneID: bench.zoneID,
            records: (0..<5).map { .init(recordName: "top-\($0)-4") })
        let found = try await store.read { try LookupRecords.run(request, for: otto, in: $0) }
        #expect(found.records.allSatisfy { $0.record != nil })
        try await store.close()
    }

    @Test("SHARE-14: what a large share has left is seen in no other share of its name")
    func endedShare() async throws {
        let (bench, share) = try await bench(groups: 3, of: 400)
        try await bench.modify(.save(.forceUpdate, "top", parent: "list"))
        try await bench.settle()
        #expect(try await bench.modify(.share(.forceDelete))[0].error == nil)
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
        #expect(try await bench.resolve(share, as: bench.otto).isFailed)
        try await bench.modify(.save(.create, "else", title: "else"))
        // Not all of the first one is gone.
        #expect(try await !bench.isSettled())
        let next = try await bench.share("else", with: [.invited(bench.otto)])
        _ = try await bench.accept(next, as: bench.otto)
        for limit in [1, 100] {
            #expect(try await bench.seen(by: bench.otto) == ["else", "share"])
            #expect(try await bench.query(as: bench.otto) == ["else=else"])
            try await bench.settle(limit, steps: 1)
        }
        // And again with the first root, before the rest is gone.
        try await bench.modify(.share(.forceDelete))
        let last = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(last, as: bench.otto)
        #expect(try await bench.seen(by: bench.otto) == ["list", "share"])
        try await bench.settle()
        #expect(try await bench.replica(of: bench.otto).names.count == 3 * 401 + 3)
        #expect(try await bench.lookup("else", as: bench.otto)[0].record == nil)
    }

    @Test("PUSH-14, SUB-57: each step is pushed to participants, with what came in and left")
    func pushes() async throws {
        let (bench, _) = try await bench(groups: 2, of: 2)
        let all = WireSubscription(
            subscriptionID: "all", kind: .database,
            notificationInfo: WireNotificationInfo.contentAvailable)
        try await bench.bench.subscribe(all, bench.call(bench.otto))
        try await bench.tellParticipants()
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        func told() async throws -> [OutboxEntry.Event] {
            try await bench.tellParticipants().map(\.event)
        }
        func change(_ name: String, _ event: RecordEvent) -> RecordChange {
            RecordChange(recordName: name, recordType: "Note", event: event)
        }
        #expect(try await told() == [.records([change("top", .created)])])
        try await bench.settle(2, steps: 1)
        #expect(try await told() == [.records([change("top-0", .created)])])
        try await bench.settle()
        #expect(try await told().isEmpty == false)
        #expect(try await told() == [])
        let position = try await bench.sharedZones(of: bench.otto).token
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: .some(nil)))
        #expect(try await told() == [.records([change("top", .deleted)])])
        try await bench.settle(2, steps: 1)
        // It had gone out of sight with the one above it, before some came who are notified, too.
        #expect(try await told() == [.records([change("", .deleted)])])
        #expect(try await bench.sharedZones(of: bench.otto, since: position).zones == ["Notes"])
    }

    @Test("TOK-6, TOK-25: who comes after a record went out of sight never hears of it")
    func comingAfter() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share(
            "list", with: [.invited(bench.otto), .invited(bench.mia)])
        _ = try await bench.accept(share, as: bench.otto)
        try await bench.makeTree("top", groups: 3, of: 2)
        try await bench.modify(.save(.forceUpdate, "top", parent: "list"))
        let all = try await bench.replica(of: bench.otto)
        #expect(all.names.count == 12)
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: .some(nil)))
        _ = try await bench.accept(share, as: bench.mia)
        let fresh = try await bench.replica(of: bench.mia)
        #expect(fresh.names == ["list", "share"])
        try await bench.tellParticipants()
        // One goes by itself, one is taken out from below, the others follow.
        try await bench.modify(
            ModifyRecords.Operation(.forceDelete, recordName: "top-0-0"),
            .save(.forceUpdate, "top-1-0", parent: .some(nil)))
        try await bench.settle(2, steps: 2)
        let events = try await bench.tellParticipants().map(\.event)
        try await bench.settle()
        let page = try await bench.changes(as: bench.mia, since: fresh.token).page
        #expect(page?.records.map(\.summary) == [])
        #expect(page?.moreComing == false)
        #expect(try await bench.replica(of: bench.otto, from: all).names == ["list", "share"])
        for case .records(let changes) in events {
            #expect(changes.allSatisfy { $0.recordName == "" && $0.event == .deleted })
        }
        // What comes and goes from now on is news.
        try await bench.modify(.save(.forceUpdate, "top-2-0", parent: "list"))
        let next = try await bench.replica(of: bench.mia, from: fresh)
        #expect(next.names == ["list", "share", "top-2-0"])
        try await bench.modify(.save(.forceUpdate, "top-2-0", parent: "top"))
        #expect(try await bench.replica(of: bench.mia, from: next).names == fresh.names)
    }

    @Test(
        "TOK-6, TOK-25: who comes between a record's going and its coming back hears of nothing below it that had not followed"
    )
    func comingBetween() async throws {
        let bench = try await SharingBench()
        let zoe = try await bench.user("zoe")
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share(
            "list", with: [.invited(bench.otto), .invited(bench.mia), .invited(zoe)])
        _ = try await bench.accept(share, as: bench.otto)
        try await bench.makeTree("top", groups: 4, of: 2)
        try await bench.modify(.save(.forceUpdate, "top", parent: "list"))
        let all = try await bench.replica(of: bench.otto)
        #expect(all.names.count == 15)
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: .some(nil)))
        _ = try await bench.accept(share, as: bench.mia)
        let between = try await bench.replica(of: bench.mia)
        #expect(between.names == ["list", "share"])
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        // Of what has not followed yet, one goes, one is taken out, and one comes back by itself.
        try await bench.modify(
            ModifyRecords.Operation(.forceDelete, recordName: "top-0-0"),
            .save(.forceUpdate, "top-1-0", parent: .some(nil)),
            .save(.forceUpdate, "top-2", parent: "list"))
        try await bench.modify(.save(.forceUpdate, "top-2-0", parent: .some(nil)))
        #expect(
            try await bench.changes(as: bench.mia, since: between.token).named == ["top", "top-2"])
        // Some have come back when others begin, and all leave again.
        try await bench.settle(2, steps: 3)
        _ = try await bench.accept(share, as: zoe)
        let fresh = try await bench.replica(of: zoe)
        let back = fresh.names.subtracting(["list", "share", "top", "top-2"])
        #expect(!back.isEmpty && back.count < 8, "\(back)")
        try await bench.modify(
            limits: few(), .save(.forceUpdate, "top", parent: .some(nil)),
            .save(.forceUpdate, "top-2", parent: .some(nil)))
        try await bench.settle(2)
        for (user, replica) in [(bench.mia, between), (zoe, fresh)] {
            let named = try await bench.changes(as: user, since: replica.token).named
            // Nobody hears of what they could not see since they began, and of all that they have.
            let seen =
                user.id == zoe.id ? fresh.names : back.union(["share", "top", "top-2"])
            #expect(named.isSubset(of: seen), "\(named)")
        }
        for (user, replica) in [(bench.otto, all), (bench.mia, between), (zoe, fresh)] {
            #expect(try await bench.replica(of: user, from: replica).names == ["list", "share"])
        }
    }

    @Test("LIMIT-20: a step writes no more rows than it may, also where records change shares")
    func rowsOfStep() async throws {
        let (bench, _) = try await bench(groups: 3, of: 7)
        try await bench.modify(.save(.create, "else", title: "else"))
        try await bench.share("else", as: "other")
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        try await bench.settle()
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "else"))
        var rows: [Int] = []
        while try await !bench.isSettled() {
            let before = try await bench.position()
            try await bench.settle(10, steps: 1)
            rows.append(try await bench.followed(after: before, in: ["share", "other"]))
        }
        // Each of the 24 left one share and came into the other.
        #expect(rows.reduce(0, +) == 48)
        #expect(rows.allSatisfy { $0 <= 10 } && rows.count < 12, "\(rows)")
    }

    @Test(
        "PUSH-14, SUB-57: steps that wait together are one write and one push for each participant")
    func steps() async throws {
        let (bench, _) = try await bench(groups: 4, of: 4)
        let all = WireSubscription(
            subscriptionID: "all", kind: .database,
            notificationInfo: WireNotificationInfo.contentAvailable)
        try await bench.bench.subscribe(all, bench.call(bench.otto))
        try await bench.tellParticipants()
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        try await bench.tellParticipants()
        try await bench.settle(4)
        let pending = try await bench.bench.outbox().filter { $0.sharing != nil }
        #expect(pending.count > 3)
        #expect(NotifyParticipants.of(pending).count == 1)
        let token = try await bench.sharedZones(of: bench.otto).token
        #expect(try await bench.tellParticipants().count == 1)
        #expect(try await bench.sharedZones(of: bench.otto, since: token).zones == ["Notes"])
        // The one that is told stands for all of them.
        #expect(try await bench.tellParticipants(again: pending).isEmpty)
        // What somebody does between two steps is told by itself.
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: .some(nil)))
        try await bench.settle(2, steps: 2)
        try await bench.modify(.save(.forceUpdate, "list", title: "!"))
        try await bench.settle(2, steps: 2)
        let mixed = try await bench.bench.outbox().filter { $0.sharing != nil }
        #expect(NotifyParticipants.of(mixed).count == 4)
    }

    @Test(
        "LIMIT-20, TOK-15: a page that has too much above it is shorter; only what is too deep waits"
    )
    func shorterPages() async throws {
        let (bench, _) = try await bench(groups: 8, of: 1)
        try await bench.modify(.save(.forceUpdate, "top", parent: "list"))
        // The one note in folders that are in one another.
        for index in 0..<6 {
            let above = index == 0 ? "list" : "deep\(index - 1)"
            var folder = ModifyRecords.Operation.save(
                .create, "deep\(index)", title: "d", parent: .some(above))
            folder.recordType = index < 5 ? "Folder" : "Note"
            #expect(try await bench.modify(folder)[0].error == nil)
        }
        try await bench.makeTree("next", groups: 1, of: 1)
        try await bench.modify(limits: few(), .save(.forceUpdate, "next", parent: "list"))
        #expect(try await !bench.isSettled())
        let all = try await bench.replica(of: bench.otto)
        try await bench.modify((0..<8).map { .save(.forceUpdate, "top-\($0)-0", title: "!") })
        // Two groups with what is above them, then two more, then four together.
        let pages = try await bench.replica(of: bench.otto, from: all, limits: few(above: 7))
        #expect(pages.pages - all.pages == 3)
        #expect(pages.names == all.names)
        // One that is deeper than that holds up what changed after it, and nothing else.
        try await bench.modify(
            .save(.forceUpdate, "top", title: "!"), .save(.forceUpdate, "deep5", title: "!"),
            .save(.forceUpdate, "list", title: "!"))
        let first = try await bench.changes(
            as: bench.otto, since: pages.token, limits: few(above: 5)
        ).page
        #expect(first?.records.map(\.summary) == ["top=!"] && first?.moreComing == true)
        let second = try await bench.changes(
            as: bench.otto, since: first?.syncToken, limits: few(above: 5))
        #expect(second.error?.code == .tryAgainLater)
        #expect(second.error?.bound == .recordsAbove)
        let found = try await bench.query(as: bench.otto, limits: few(above: 5))
        #expect(found.count == 19 && !found.contains("deep5=!"), "\(found)")
        #expect(try await bench.query(as: bench.otto).count == 20)
        try await bench.settle()
        #expect(try await bench.query(as: bench.otto, limits: few(above: 5)).count == 22)
        let last = try await bench.changes(
            as: bench.otto, since: first?.syncToken, limits: few(above: 5)
        ).page
        #expect(last?.records.map(\.summary).prefix(2) == ["deep5=!", "list=!"])
    }

    @Test("SHARE-4: a large subtree with a shared root comes into no other share")
    func sharedRoots() async throws {
        let (bench, _) = try await bench(groups: 2, of: 2)
        try await bench.share("top-1", as: "other")
        let moved = try await bench.modify(
            limits: few(), .save(.forceUpdate, "top", parent: "list"))
        #expect(moved[0].error?.ckErrorCode == CKErrorCode.alreadyShared)
        let shared = try await bench.modify(limits: few(), .share(.create, "third", of: "top"))
        #expect(shared[0].error?.ckErrorCode == CKErrorCode.alreadyShared)
        #expect(try await bench.isSettled())
        // Also where what is above is still to follow.
        try await bench.modify(.share(.forceDelete, "other"))
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        #expect(try await !bench.isSettled())
        let inner = try await bench.modify(limits: few(), .share(.create, "third", of: "top-1-1"))
        #expect(inner[0].error?.ckErrorCode == CKErrorCode.alreadyShared)
    }

    @Test("LIMIT-20: a large subtree is refused where too much would have to be looked at")
    func bound() async throws {
        let (bench, _) = try await bench(groups: 2, of: 2)
        let refused = try await bench.modify(
            limits: few(above: 1), .save(.forceUpdate, "top", parent: "list"))
        #expect(refused[0].error?.bound == .recordsAbove)
        #expect(try await bench.lookup("top", as: bench.otto).map(\.summary) == ["top NOT_FOUND"])
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        let waiting = await #expect(throws: WireError.self) {
            try await bench.modify(
                limits: few(above: 1), .save(.forceUpdate, "top-1-1", title: "!"))
        }
        #expect(waiting?.code == .tryAgainLater)
    }

    @Test("Records in a circle are settled too, and are in no share")
    func circle() async throws {
        let (bench, _) = try await bench(groups: 2, of: 2)
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        try await bench.settle(2, steps: 1)
        let results = try await bench.modify(
            limits: few(), .save(.forceUpdate, "top", parent: "top-1-1"))
        #expect(results[0].error == nil)
        try await bench.settle(3, steps: 100)
        #expect(try await bench.isSettled())
        #expect(try await bench.seen(by: bench.otto) == ["list", "share"])
    }

    @Test("A zone that is deleted while records follow leaves nothing to do")
    func deletedZone() async throws {
        let (bench, _) = try await bench(groups: 2, of: 2)
        try await bench.modify(limits: few(), .save(.forceUpdate, "top", parent: "list"))
        #expect(try await !bench.isSettled())
        try await bench.bench.deleteZone("Notes")
        #expect(try await bench.isSettled())
        try await bench.bench.makeZone("Notes")
        #expect(try await bench.isSettled())
    }
}

extension FetchZoneChanges.ZoneAnswer {
    /// The records that the answer names.
    fileprivate var named: Set<String> {
        let names = (page?.records ?? []).map { result in
            switch result {
            case .record(let record): record.recordName
            case .deleted(let tombstone): tombstone.recordName
            case .failed(let name, _): name
            }
        }
        return Set(names)
    }
}

/// What a participant's device has.
private struct Replica {
    var names: Set<String> = []
    var token: String?
    var pages = 0
}

extension SharingBench {
    /// Fetches all changes, page by page.
    fileprivate func replica(
        of user: StoredUser, from replica: Replica = Replica(), limits: Limits = Limits()
    ) async throws -> Replica {
        var replica = replica
        while true {
            let answer = try await changes(as: user, since: replica.token, limits: limits)
            if let error = answer.error { throw error }
            guard let page = answer.page else { throw WireError(.internalError, "no page") }
            replica.pages += 1
            for result in page.records {
                switch result {
                case .record(let record): replica.names.insert(record.recordName)
                case .deleted(let tombstone): replica.names.remove(tombstone.recordName)
                case .failed(_, let error): throw error
                }
            }
            replica.token = page.syncToken
            guard page.moreComing else { return replica }
        }
    }

    /// What a device that begins anew is shown.
    fileprivate func seen(by user: StoredUser) async throws -> [String] {
        try await replica(of: user).names.sorted()
    }

    fileprivate func position() async throws -> Position {
        let call = call(anna)
        return try await bench.store.read {
            try call.access(to: zoneID, in: $0).zone?.position ?? .start
        }
    }

    /// How many records came into shares after a position of the zone, or left them.
    fileprivate func followed(
        after position: Position, in shares: Set<String> = ["share"]
    ) async throws -> Int {
        let call = call(anna)
        return try await bench.store.read { reader in
            guard let zone = try call.access(to: zoneID, in: reader).zone else { return 0 }
            return try reader.sharedRecordChanges(
                in: zone.key, of: shares, after: position, limit: 1000, byteLimit: .max,
                reverse: false
            ).changes.count
        }
    }

    /// Makes `top`, `count` groups below it and notes in each of them.
    fileprivate func makeTree(_ top: String, groups: Int, of count: Int) async throws {
        let call = call(anna)
        let stamp = RecordStamp(timestamp: 1, userRecordName: anna.recordName, deviceID: "")
        var parents: [(name: String, parent: String?)] = [(top, nil)]
        for group in 0..<groups {
            parents.append(("\(top)-\(group)", top))
            for note in 0..<count { parents.append(("\(top)-\(group)-\(note)", "\(top)-\(group)")) }
        }
        let rows = parents
        try await bench.store.write(try .database(of: call)) { transaction in
            guard let stored = try call.access(to: zoneID, in: transaction).stored else { return }
            let zone = stored.zone
            let first = try transaction.advance(zone.database, by: rows.count, at: call.now)
            let fields = RecordFields(["title": Field(.string("note"))])
            try transaction.putRecords(
                rows.enumerated().map { index, row in
                    StoredRecord(
                        name: row.name, type: "Note", position: first.advanced(by: index),
                        created: stamp, modified: stamp, parent: row.parent, fields: fields)
                }, in: zone.key)
            try transaction.putReferences(
                rows.compactMap { row in
                    row.parent.map {
                        StoredReference(source: row.name, target: $0, kind: .parent)
                    }
                }, from: Set(rows.map(\.name)), in: zone.key)
            try transaction.touchZone(
                zone.key, position: first.advanced(by: rows.count - 1), clientChangeToken: nil)
        }
    }
}
