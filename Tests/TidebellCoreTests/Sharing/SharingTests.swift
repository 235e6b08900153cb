// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Sharing") struct SharingTests {
    /// A list with two notes, one of which has a note of its own, and a note beside them.
    private static let tree: [ModifyRecords.Operation] = [
        .save(.create, "list", title: "list"),
        .save(.create, "one", title: "one", parent: "list"),
        .save(.create, "two", title: "two", parent: "list"),
        .save(.create, "deep", title: "deep", parent: "two"),
        .save(.create, "other", title: "other"),
    ]

    private func sharedTree(
        _ permission: SharePermission = .readWrite
    ) async throws -> (SharingBench, WireRecord) {
        let bench = try await SharingBench()
        try await bench.modify(Self.tree)
        let share = try await bench.share("list", with: [.invited(bench.otto, permission)])
        _ = try await bench.accept(share, as: bench.otto)
        return (bench, share)
    }

    @Test("SHARE-1, SHARE-2, SHARE-16 to 18: who accepts sees the root and all below it, no more")
    func acceptance() async throws {
        let bench = try await SharingBench()
        try await bench.modify(Self.tree)
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        #expect(share.participants == ["\(bench.otto.recordName) readWrite privateUser pending"])
        // TOK-25: nothing before.
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
        let metadata = try await bench.accept(share, as: bench.otto)
        #expect(metadata.rootRecordName == "list" && metadata.rootRecord?.recordName == "list")
        #expect(metadata.participantStatus == .accepted && metadata.scope == .shared)
        #expect(
            metadata.zoneID
                == ZoneID(zoneName: "Notes", ownerRecordName: bench.anna.recordName))
        let page = try await bench.changes(as: bench.otto).page
        #expect(
            page?.records.map(\.summary)
                == ["list=list", "one=one", "two=two", "deep=deep", "share"])
        let found = try await bench.lookup(
            "list", "deep", "other", "share", as: bench.otto)
        #expect(
            found.map(\.summary) == ["list=list", "deep=deep", "other NOT_FOUND", "share"])
        #expect(found[0].record?.sharing == .root(share: "share", shortGUID: metadata.shortGUID))
        #expect(
            try await bench.query(as: bench.otto).sorted()
                == ["deep=deep", "list=list", "one=one", "two=two"])
        #expect(
            try await bench.query(as: bench.otto, sorts: [WireSort(.field("title"))])
                == ["deep=deep", "list=list", "one=one", "two=two"])
        // Accepting again changes nothing.
        _ = try await bench.accept(share, as: bench.otto)
        #expect(
            try await bench.changes(as: bench.otto, since: page?.syncToken).page?.records == [])
    }

    @Test("SHARE-17, SUB-57 to 59: the zone comes into the shared database, changes and goes")
    func sharedDatabase() async throws {
        let (bench, _) = try await sharedTree()
        try await bench.bench.subscribe(
            .init(
                subscriptionID: "all", kind: .database,
                notificationInfo: .contentAvailable),
            bench.call(bench.otto))
        let told = try await bench.tellParticipants()
        #expect(told.map(\.event) == [.zoneCreated])
        #expect(told[0].originUser == bench.otto.id)
        var (zones, token) = try await bench.sharedZones(of: bench.otto)
        #expect(zones == ["Notes"])
        #expect(try await bench.tellParticipants() == [])
        // What they cannot read, they do not hear of.
        try await bench.modify(
            .save(.update, "other", title: "x", tag: try await tag("other", bench)))
        #expect(try await bench.tellParticipants() == [])
        (zones, token) = try await bench.sharedZones(of: bench.otto, since: token)
        #expect(zones == [])
        try await bench.modify(.save(.forceUpdate, "deep", title: "deeper"))
        let changed = try await bench.tellParticipants()
        #expect(
            changed.map(\.changes)
                == [[RecordChange(recordName: "deep", recordType: "Note", event: .updated)]])
        (zones, token) = try await bench.sharedZones(of: bench.otto, since: token)
        #expect(zones == ["Notes"])
        // Their own writes come back to their other devices, by their origin.
        try await bench.modify(as: bench.otto, .save(.forceUpdate, "one", title: "1"))
        let own = try await bench.tellParticipants()
        #expect(own.map(\.originUser) == [bench.otto.id] && own[0].originClient == "phone")
        (_, token) = try await bench.sharedZones(of: bench.otto, since: token)
        try await bench.modify(.share(.forceDelete))
        #expect(
            try await bench.tellParticipants().map(\.event)
                == [.zoneDeleted(.deleted, subscriptions: [])])
        #expect(try await bench.sharedZones(of: bench.otto, since: token).zones == ["-Notes"])
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
    }

    @Test("SUB-57: who comes after a change is notified of the one by which they came, not of it")
    func comingAfterChange() async throws {
        let bench = try await SharingBench()
        let all = WireSubscription(
            subscriptionID: "all", kind: .database,
            notificationInfo: WireNotificationInfo.contentAvailable)
        try await bench.bench.subscribe(all, bench.call(bench.otto))
        try await bench.modify(
            .save(.create, "list", title: "list"), .save(.create, "else", title: "else"),
            .save(.create, "note", title: "note", parent: "list"))
        let other = try await bench.share("else", as: "other", with: [.invited(bench.otto)])
        _ = try await bench.accept(other, as: bench.otto)
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        try await bench.tellParticipants()
        try await bench.modify(ModifyRecords.Operation(.forceDelete, recordName: "note"))
        _ = try await bench.accept(share, as: bench.otto)
        let change = RecordChange(
            recordName: "share", recordType: ShareNames.recordType, event: .updated)
        #expect(try await bench.tellParticipants().map(\.event) == [.records([change])])
    }

    @Test("SHARE-4, LIMIT-1: a batch that ends one share and makes two cannot go round for ever")
    func movingShares() async throws {
        let bench = try await SharingBench()
        try await bench.modify([
            .save(.create, "top", title: "top"),
            .save(.create, "root", title: "root", parent: "top"),
            .save(.create, "deep", title: "deep", parent: "root"),
        ])
        try await bench.share("root", as: "first")
        let answer = try await bench.modify(
            .share(.forceDelete, "first"), .share(.create, "second", of: "top"),
            .share(.create, "third", of: "deep"))
        #expect(answer.contains { $0.error?.detail?.ckCode == CKErrorCode.alreadyShared })
        // The share moves up where nothing below it is shared.
        let moved = try await bench.modify(
            .share(.forceDelete, "first"), .share(.create, "second", of: "top"))
        #expect(moved.allSatisfy { $0.error == nil })
    }

    @Test("TOK-22, TOK-25: what is removed from what is not shared expires no participant's token")
    func quietShare() async throws {
        let (bench, _) = try await sharedTree()
        let token = try await bench.changes(as: bench.otto).page?.syncToken
        try await bench.modify(.init(.forceDelete, recordName: "other"))
        let later = bench.call(bench.otto).now.advanced(by: .seconds(365 * 86400))
        _ = try await bench.bench.store.write(.everything) {
            try $0.removeTombstones(modifiedBefore: later, limit: 100)
        }
        let own = try await bench.changes(as: bench.otto, since: token)
        #expect(own.page?.records == [] && own.page?.syncToken == token)
        // What left their hierarchy and is forgotten does.
        try await bench.modify(.init(.forceDelete, recordName: "one"))
        _ = try await bench.bench.store.write(.everything) {
            try $0.removeTombstones(modifiedBefore: later, limit: 100)
        }
        let expired = try await bench.changes(as: bench.otto, since: token).error
        #expect(expired?.detail?.ckCode == CKErrorCode.changeTokenExpired)
        let fresh = try await bench.changes(as: bench.otto).page
        let next = try await bench.changes(as: bench.otto, since: fresh?.syncToken)
        #expect(next.page?.records == [])
    }

    @Test("TOK-25: no token tells a participant of a change that they do not see")
    func tokensOfWhatIsSeen() async throws {
        let (bench, _) = try await sharedTree()
        let otto = bench.otto
        func tokens(since token: String? = nil) async throws -> [String?] {
            let call = bench.call(otto)
            let zones = LookupZones.Request(zones: [bench.zoneID])
            let listed = try await bench.bench.store.read {
                try LookupZones.run(zones, for: call, in: $0)
            }.zones[0]
            guard case .zone(let zone) = listed else { return [] }
            return [
                try await bench.changes(as: otto).page?.syncToken,
                try await bench.changes(as: otto, limit: 1).page?.syncToken,
                try await bench.changes(as: otto, since: token).page?.syncToken, zone.syncToken,
            ]
        }
        let first = try await bench.changes(as: otto).page?.syncToken
        let before = try await tokens(since: first)
        try await bench.modify(.save(.forceUpdate, "other", title: "x"))
        try await bench.modify(.init(.forceDelete, recordName: "other"))
        #expect(try await tokens(since: first) == before)
        try await bench.modify(.save(.forceUpdate, "deep", title: "x"))
        let page = try await bench.changes(as: otto, since: first).page
        #expect(page?.records.map(\.summary) == ["deep=x"])
        #expect(page?.syncToken != first)
        #expect(try await bench.changes(as: otto, since: page?.syncToken).page?.records == [])
    }

    @Test(
        "SHARE-23: what a participant saves counts for the owner, whose use stays unknown to them")
    func quota() async throws {
        let (bench, _) = try await sharedTree()
        var limits = Limits()
        limits.userQuota = 1
        let save = ModifyRecords.Operation.save(.create, "new", title: "new", parent: "list")
        let theirs = try await bench.modify(as: bench.otto, limits: limits, save)[0].error
        let own = try await bench.modify(limits: limits, save)[0].error
        #expect(theirs?.code == .quotaExceeded && own?.code == .quotaExceeded)
        #expect(theirs?.reason.contains("the owner of the zone has no room") == true)
        #expect(theirs?.reason.contains(" hold ") == false)
        #expect(own?.reason.contains("hold ") == true)
        #expect(try await bench.modify(as: bench.otto, save)[0].error == nil)
    }

    private func tag(_ name: String, _ bench: SharingBench) async throws -> String {
        try await bench.lookup(name, as: bench.anna)[0].record?.recordChangeTag ?? ""
    }

    @Test("SHARE-13, SHARE-25, SAVE-27: participants write below the root, as themselves")
    func writing() async throws {
        let (bench, _) = try await sharedTree()
        let otto = bench.otto
        let saved = try await bench.modify(
            as: otto, .save(.create, "new", title: "new", parent: "deep"))
        #expect(saved[0].record?.created.userRecordName == otto.recordName)
        #expect(try await bench.lookup("new", as: bench.anna).map(\.summary) == ["new=new"])
        func refusal(_ operation: ModifyRecords.Operation) async throws -> ServerErrorCode? {
            try await bench.modify(as: otto, operation)[0].error?.code
        }
        #expect(try await refusal(.save(.create, "loose", title: "")) == .accessDenied)
        #expect(
            try await refusal(.save(.create, "hung", title: "", parent: "other"))
                == .validatingReferenceError)
        #expect(try await refusal(.save(.forceUpdate, "other", title: "")) == .accessDenied)
        #expect(try await refusal(.save(.update, "other", title: "", tag: "1")) == .notFound)
        #expect(try await refusal(.save(.forceUpdate, "deep", parent: .some(nil))) == .accessDenied)
        #expect(try await refusal(.forceDelete("list")) == .accessDenied)
        #expect(try await refusal(.share(.update, tag: "1")) == .conflict)
        #expect(
            try await refusal(.share(.update, tag: try await tag("share", bench))) == .accessDenied)
        // What they cannot see is not there, and not deleted either.
        #expect(try await bench.modify(as: otto, .forceDelete("other"))[0].error == nil)
        #expect(try await bench.lookup("other", as: bench.anna).map(\.summary) == ["other=other"])
        #expect(try await bench.modify(as: otto, .forceDelete("new"))[0].error == nil)
    }

    @Test("SHARE-13: who may only read does not write")
    func readOnly() async throws {
        let (bench, _) = try await sharedTree(.readOnly)
        for operation in [
            ModifyRecords.Operation.save(.forceUpdate, "one", title: "x"), .forceDelete("one"),
            .save(.create, "new", title: "", parent: "list"),
        ] {
            let results = try await bench.modify(as: bench.otto, operation)
            #expect(results[0].error?.code == .accessDenied)
        }
        // They leave all the same.
        #expect(try await bench.modify(as: bench.otto, .share(.forceDelete))[0].error == nil)
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
    }

    @Test("SHARE-14, SHARE-15: leaving, removing and stopping; the root changes with its share")
    func endings() async throws {
        let (bench, first) = try await sharedTree()
        let otto = bench.otto
        try await bench.modify(as: otto, .share(.forceDelete))
        let left = try await bench.lookup("share", as: bench.anna)[0].record
        #expect(left?.participants == [])
        #expect(try await bench.changes(as: otto).error?.code == .zoneNotFound)
        // Invited again, by the same URL.
        let again = try await bench.modify(
            .share(
                .update, tag: left?.recordChangeTag,
                participants: [.invited(otto), .invited(bench.mia, .readOnly)]))[0].record
        #expect(again?.share?.shortGUID == first.share?.shortGUID)
        _ = try await bench.accept(first, as: otto)
        #expect(try await bench.changes(as: otto).page?.records.count == 5)
        let tag = try await tag("share", bench)
        let removed = try await bench.modify(.share(.update, tag: tag, participants: []))
        #expect(removed[0].record?.participants == [])
        #expect(try await bench.changes(as: otto).error?.code == .zoneNotFound)
        #expect(try await bench.resolve(first, as: otto).isFailed)
        let before = try await self.tag("list", bench)
        let ended = try await bench.modify(.share(.forceDelete))
        #expect(ended[0].error == nil)
        let root = try await bench.lookup("list", as: bench.anna)[0].record
        #expect(root?.recordChangeTag != before && root?.sharing == nil)
        // SHARE-6: the URL stays when it is shared once more.
        let anew = try await bench.share("list", as: "second")
        #expect(anew.share?.shortGUID == first.share?.shortGUID)
    }

    @Test("SHARE-14: a share ends with its root")
    func rootDeletion() async throws {
        let (bench, _) = try await sharedTree()
        let results = try await bench.modify(
            .forceDelete("deep"), .forceDelete("one"), .forceDelete("two"), .forceDelete("list"))
        #expect(results.allSatisfy { $0.error == nil })
        #expect(try await bench.lookup("share", as: bench.anna)[0].error?.code == .notFound)
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
    }

    @Test("SHARE-4, SHARE-5: a record is in one share, and a zone shares one way")
    func oneShare() async throws {
        let (bench, _) = try await sharedTree()
        func code(_ operations: ModifyRecords.Operation...) async throws -> Int? {
            try await bench.modify(operations).lazy.compactMap(\.error)
                .first { $0.code != .atomicError }?.ckErrorCode
        }
        #expect(try await code(.share(.create, "s2", of: "list")) == CKErrorCode.alreadyShared)
        #expect(try await code(.share(.create, "s2", of: "deep")) == CKErrorCode.alreadyShared)
        try await bench.modify(.save(.create, "top", title: ""))
        #expect(
            try await code(
                .save(.forceUpdate, "list", parent: "top"), .share(.create, "s2", of: "top"))
                == CKErrorCode.alreadyShared)
        try await bench.share("other", as: "s2")
        #expect(
            try await code(.save(.forceUpdate, "other", parent: "deep"))
                == CKErrorCode.alreadyShared)
        #expect(
            try await code(.share(.create, ShareNames.zoneWideShare))
                == CKErrorCode.invalidArguments)
        #expect(
            try await code(.share(.create, "s3", of: "nowhere")) == CKErrorCode.invalidArguments)
        #expect(try await code(.share(.create, "s3")) == CKErrorCode.invalidArguments)
    }

    @Test("SHARE-3, TOK-25: a zone-wide share shows all of the zone")
    func zoneWide() async throws {
        let bench = try await SharingBench()
        try await bench.modify(Self.tree)
        let share = try await bench.share(nil, with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        let page = try await bench.changes(as: bench.otto).page
        #expect(page?.records.count == 6)
        #expect(
            try await bench.modify(as: bench.otto, .save(.create, "loose", title: ""))[0].error
                == nil)
        let next = try await bench.changes(as: bench.otto, since: page?.syncToken).page
        #expect(next?.records.map(\.summary) == ["loose="])
        let refused = try await bench.modify(.share(.create, "s2", of: "list"))
        #expect(refused[0].error?.ckErrorCode == CKErrorCode.serverRejectedRequest)
        let twice = try await bench.modify(.share(.create, ShareNames.zoneWideShare))
        #expect(twice[0].error?.ckErrorCode == CKErrorCode.serverRecordChanged)
    }

    @Test("SHARE-7, SHARE-8, SHARE-12: public permission and its transitions")
    func publicPermission() async throws {
        let (bench, share) = try await sharedTree()
        let (otto, mia) = (bench.otto, bench.mia)
        #expect(try await bench.resolve(share, as: mia).isFailed)
        func save(
            _ permission: SharePermission?, _ participants: [WireParticipant]? = nil
        ) async throws -> RecordResult {
            try await bench.modify(
                .share(
                    .update, tag: try await tag("share", bench), participants: participants,
                    permission: permission))[0]
        }
        _ = try await save(nil, [.invited(otto), .invited(mia)])
        // Who has not answered goes, who accepted stays.
        let opened = try await save(.readOnly).record
        #expect(opened?.participants == ["\(otto.recordName) readWrite privateUser accepted"])
        #expect(try await save(nil, [.invited(otto), .invited(mia)]).error?.code == .badRequest)
        let metadata = try await bench.accept(share, as: mia)
        #expect(metadata.participantRole == .publicUser)
        // Public users see nobody else.
        #expect(
            metadata.share.participants == ["\(mia.recordName) readOnly publicUser accepted"])
        #expect(
            try await bench.modify(as: mia, .save(.forceUpdate, "one", title: ""))[0].error?.code
                == .accessDenied)
        _ = try await save(.readWrite)
        #expect(
            try await bench.modify(as: mia, .save(.forceUpdate, "one", title: ""))[0].error == nil)
        let closed = try await save(SharePermission.none).record
        #expect(closed?.participants == [])
        for user in [otto, mia] {
            #expect(try await bench.changes(as: user).error?.code == .zoneNotFound)
        }
    }

    @Test("SHARE-7: the save that closes a share removes all, and invites anew whom it adds")
    func closing() async throws {
        let (bench, share) = try await sharedTree()
        let (otto, mia) = (bench.otto, bench.mia)
        _ = try await bench.modify(
            .share(.update, tag: try await tag("share", bench), permission: .readOnly))
        _ = try await bench.accept(share, as: mia)
        let shown = try await bench.lookup("share", as: bench.anna)[0].record?.share
        // Who is sent back with the ID that they had goes all the same.
        let before = try #require(shown?.participants.last)
        #expect(before.identity.userRecordName == mia.recordName && before.participantID != nil)
        let closed = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                participants: [before, .invited(otto, .readOnly)],
                permission: SharePermission.none))[0].record
        #expect(closed?.participants == ["\(otto.recordName) readOnly privateUser pending"])
        let ids = closed?.share?.participants.compactMap(\.participantID) ?? []
        let known = Set(shown?.participants.dropFirst().compactMap(\.participantID) ?? [])
        #expect(known.count == 2 && known.isDisjoint(with: ids))
        for user in [otto, mia] {
            #expect(try await bench.changes(as: user).error?.code == .zoneNotFound)
        }
        let again = try await bench.accept(share, as: otto)
        #expect(again.participantPermission == .readOnly && again.participantStatus == .accepted)
    }

    @Test("SHARE-11: limits that are lowered keep nobody from saving a share as it is")
    func loweredLimits() async throws {
        let (bench, share) = try await sharedTree()
        _ = try await bench.modify(
            .share(.update, tag: try await tag("share", bench), permission: .readOnly))
        _ = try await bench.accept(share, as: bench.mia)
        var limits = Limits()
        (limits.participantsPerShare, limits.publicUsersPerShare) = (0, 0)
        let shown = try await bench.lookup("share", as: bench.anna)[0].record?.share
        let saved = try await bench.modify(
            limits: limits,
            .share(
                .update, tag: try await tag("share", bench), participants: shown?.participants,
                fields: [ShareNames.title: .some(Field(.string("Our list")))]))[0]
        #expect(saved.error == nil)
        #expect(saved.record?.participants.count == 2)
    }

    @Test("SHARE-8, SHARE-9, SHARE-11, ERR-38: administrators manage, 100 take part, nobody twice")
    func management() async throws {
        let (bench, share) = try await sharedTree()
        let (otto, mia) = (bench.otto, bench.mia)
        let promoted = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                participants: [.invited(otto, .readWrite, .administrator)]))
        #expect(
            promoted[0].record?.participants
                == ["\(otto.recordName) readWrite administrator accepted"])
        let added = try await bench.modify(
            as: otto,
            .share(
                .update, tag: try await tag("share", bench),
                participants: [
                    .invited(otto, .readWrite, .administrator), .invited(mia),
                    .invited(mia, .readOnly),
                ]))
        #expect(
            added[0].record?.participants == [
                "\(otto.recordName) readWrite administrator accepted",
                "\(mia.recordName) readOnly privateUser pending",
            ])
        _ = try await bench.accept(share, as: mia)
        var limits = Limits()
        limits.participantsPerShare = 1
        let tooMany = try await bench.modify(
            limits: limits,
            .share(
                .update, tag: try await tag("share", bench),
                participants: [
                    .invited(otto), .invited(mia),
                    WireParticipant(
                        identity: UserIdentity(
                            userRecordName: nil, lookup: .emailAddress("eva@example.org"))),
                ]))
        #expect(tooMany[0].error?.ckErrorCode == CKErrorCode.tooManyParticipants)
        let unknown = WireParticipant(
            identity: UserIdentity(userRecordName: "_" + String(repeating: "f", count: 32)))
        let nobody = try await bench.modify(
            .share(.update, tag: try await tag("share", bench), participants: [unknown]))
        #expect(nobody[0].error?.code == .badRequest)
    }

    @Test("SHARE-8, SHARE-22: what cannot be a participant is refused, and nobody is lost")
    func wrongParticipants() async throws {
        let (bench, _) = try await sharedTree()
        let long = String(repeating: "x", count: 300)
        let lookups: [UserLookup] = [
            .emailAddress("\(long)@example.org"), .emailAddress("nobody"), .emailAddress("a@b@c"),
            .emailAddress("a b@c"), .phoneNumber(long), .phoneNumber("call me"), .phoneNumber(""),
        ]
        var wrong = lookups.map {
            WireParticipant(identity: UserIdentity(userRecordName: nil, lookup: $0))
        }
        wrong.append(.invited(bench.mia, .readWrite, .owner))
        for participant in wrong {
            let refused = try await bench.modify(
                .share(
                    .update, tag: try await tag("share", bench),
                    participants: [.invited(bench.otto), participant]))
            #expect(refused[0].error?.code == .badRequest, "\(participant)")
        }
        let fine: [UserLookup] = [
            .emailAddress("mia@example.org"), .phoneNumber("+49 (170) 123-45.67"),
        ]
        let added = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                participants: [.invited(bench.otto)]
                    + fine.map {
                        WireParticipant(identity: UserIdentity(userRecordName: nil, lookup: $0))
                    }))
        #expect(added[0].record?.participants.count == 3)
    }

    @Test("REF-7, TOK-25: what hangs below a record that leaves in the same batch leaves with it")
    func movesInOneBatch() async throws {
        let (bench, _) = try await sharedTree()
        for (name, parent) in [("v", "list"), ("u", "v"), ("t", nil), ("c", "t")] {
            _ = try await bench.modify(.save(.create, name, parent: .some(parent)))
        }
        _ = try await bench.modify(
            .save(.forceUpdate, "v", parent: .some(nil)),
            .save(.forceUpdate, "t", parent: .some("u")))
        let seen = try await bench.lookup("v", "u", "t", "c", as: bench.otto)
        #expect(seen.map(\.error?.code) == Array(repeating: .notFound, count: 4))
    }

    @Test(
        "REF-7, TOK-25: a record that comes below itself is below no root, and leaves with all below it",
        arguments: [["b"], ["b", "d"], ["b", "c"]])
    func circles(saved: [String]) async throws {
        let (bench, _) = try await sharedTree()
        for (name, parent) in [("a", "list"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")] {
            _ = try await bench.modify(.save(.create, name, parent: .some(parent)))
        }
        let operations = saved.map { name in
            ModifyRecords.Operation.save(
                .forceUpdate, name, parent: .some(["b": "d", "c": "b", "d": "c"][name]))
        }
        #expect(try await bench.modify(operations).allSatisfy { $0.error == nil })
        let seen = try await bench.lookup("a", "b", "c", "d", "e", as: bench.otto)
        #expect(seen.map(\.error?.code) == [nil] + Array(repeating: .notFound, count: 4))
        // Where one of them comes back, all do.
        _ = try await bench.modify(.save(.forceUpdate, "c", parent: "a"))
        let back = try await bench.lookup("a", "b", "c", "d", "e", as: bench.otto)
        #expect(back.allSatisfy { $0.error == nil })
    }

    @Test(
        "SUB-57, SHARE-14: whoever loses a zone before the pipeline brought it hears that it is gone"
    )
    func lostBeforeItCame() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        try await bench.tellParticipants()
        var token = try await bench.sharedZones(of: bench.otto).token
        // Also where it was gone once.
        for _ in 0..<2 {
            // A device that accepts a share fetches its zone at once (TOK-26).
            _ = try await bench.accept(share, as: bench.otto)
            #expect(try await bench.changes(as: bench.otto).page != nil)
            try await bench.modify(
                .share(
                    .update, tag: try await tag("share", bench), participants: []))
            try await bench.tellParticipants()
            let gone = try await bench.sharedZones(of: bench.otto, since: token)
            #expect(gone.zones == ["-Notes"])
            token = gone.token
            try await bench.modify(
                .share(
                    .update, tag: try await tag("share", bench),
                    participants: [.invited(bench.otto)]))
            try await bench.tellParticipants()
        }
    }

    @Test(
        "SHARE-1, SHARE-17: what is above the root is seen by its owner only, and a participant keeps it"
    )
    func aboveRoot() async throws {
        let bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "secret", title: "above"),
            .save(.create, "list", title: "list", parent: "secret"))
        let share = try await bench.share("list", with: [.invited(bench.otto, .readWrite)])
        let accepted = try await bench.accept(share, as: bench.otto)
        let page = try await bench.changes(as: bench.otto).page
        let changed = page?.records.compactMap(\.record).first { $0.recordName == "list" }
        let found = try await bench.lookup("list", as: bench.otto)[0].record
        let saved = try await bench.modify(
            as: bench.otto, .save(.forceUpdate, "list", title: "!", parent: .some(nil)))[0].record
        #expect(
            [accepted.rootRecord, changed, found, saved].map { $0?.recordName == "list" }
                == [true, true, true, true])
        #expect([accepted.rootRecord, changed, found, saved].allSatisfy { $0?.parent == nil })
        #expect(try await bench.lookup("list", as: bench.anna)[0].record?.parent == "secret")
    }

    @Test("LIMIT-20: a share that is named many times fills no memory with its answers")
    func manyAnswers() async throws {
        let (bench, share) = try await sharedTree()
        var call = bench.bench.call(bench.otto, scope: .public)
        call.limits.namedRecordBytes = 100
        let guid = ShortGUID(try share.shortGUID(), shouldFetchRootRecord: true)
        let request = ResolveShares.Request(shortGUIDs: Array(repeating: guid, count: 100))
        let results = try await bench.bench.store.read { [call] in
            try ResolveShares.run(request, for: call, in: $0)
        }.results
        let refused = results.filter { result in
            if case .failed(_, let error) = result {
                error.bound == .namedRecordBytes
            } else {
                false
            }
        }
        #expect(results.count == 100 && (50..<100).contains(refused.count))
    }

    @Test("SHARE-10: who may do nothing learns nothing of the root, and accepts nothing")
    func permissionNone() async throws {
        let (bench, share) = try await sharedTree()
        let closed = WireParticipant.invited(bench.mia, .none)
        _ = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                participants: [.invited(bench.otto), closed]))
        await #expect(throws: WireError.self) { try await bench.accept(share, as: bench.mia) }
        #expect(try await bench.resolve(share, as: bench.mia).isFailed)
        #expect(!(try await bench.resolve(share, as: bench.otto).isFailed))
    }

    @Test("SHARE-4, SHARE-5: shares that one batch makes are not inside of each other")
    func nestedInOneBatch() async throws {
        let (bench, _) = try await sharedTree()
        _ = try await bench.modify(.save(.create, "t"))
        _ = try await bench.modify(.save(.create, "tk", parent: .some("t")))
        let nested = try await bench.modify(
            .share(.create, "s1", of: "t"), .share(.create, "s2", of: "tk"))
        #expect(nested.contains { $0.error?.ckErrorCode == CKErrorCode.alreadyShared })
        let own = try await bench.modify(.share(.create, "me", of: "me"))
        #expect(own[0].error?.ckErrorCode == CKErrorCode.invalidArguments)
    }

    @Test("SHARE-14: nothing that participants save keeps the owner from ending a share")
    func endsAlways() async throws {
        let (bench, _) = try await sharedTree()
        let refused = try await bench.modify(
            as: bench.otto, .save(.create, "k", parent: .some("share")))
        #expect(refused[0].error?.ckErrorCode == CKErrorCode.invalidArguments)
        let holding = try await bench.modify(
            as: bench.otto,
            .save(
                .create, "h", parent: .some("list"),
                fields: [
                    "r": .some(
                        Field(.reference(WireReference(recordName: "share", action: .validate))))
                ]))
        #expect(holding[0].error == nil)
        #expect(try await bench.modify(.forceDelete("share"))[0].error == nil)
    }

    @Test("SHARE-14: leaving works where the caller asks for the zone's token beside the answer")
    func leavingWithToken() async throws {
        let (bench, _) = try await sharedTree()
        let call = bench.call(bench.otto)
        let request = ModifyRecords.Request(
            zoneID: bench.zoneID, operations: [.forceDelete("share")])
        let store = bench.bench.store
        let scope = try await store.scope(of: bench.zoneID, for: call)
        let outcome = try await store.write(scope) {
            try ModifyRecords.attempt(request, for: call, in: $0, returnsSyncToken: true)
        }
        guard case .done(let done) = outcome else {
            Issue.record("the schema has to grow: \(outcome)")
            return
        }
        let response = done.response
        #expect(response.records.map(\.error) == [nil])
        #expect(response.syncToken == nil)
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
    }

    @Test("SUB-56, SHARE-17: who may take part only from a save on is told of it")
    func grantBegins() async throws {
        let (bench, _) = try await sharedTree()
        for permission in [SharePermission.none, .readOnly] {
            try await bench.tellParticipants()
            _ = try await bench.modify(
                .share(
                    .update, tag: try await tag("share", bench),
                    participants: [.invited(bench.otto, permission)]))
        }
        let token = try await bench.sharedZones(of: bench.otto).token
        try await bench.tellParticipants()
        #expect(
            try await bench.sharedZones(of: bench.otto, since: token).zones
                == [bench.zoneID.zoneName])
    }

    @Test("SHARE-8: an ID that a client made up makes nobody a second participant")
    func madeUpID() async throws {
        let (bench, _) = try await sharedTree()
        var otto = WireParticipant.invited(bench.otto, .readWrite)
        otto.participantID = "made-up"
        let saved = try await bench.modify(
            .share(.update, tag: try await tag("share", bench), participants: [otto]))
        #expect(saved[0].record?.participants.count == 1)
        #expect(saved[0].record?.participants.first?.hasSuffix("accepted") == true)
    }

    @Test("A share keeps its root: another one is refused")
    func anotherRoot() async throws {
        let (bench, _) = try await sharedTree()
        let refused = try await bench.modify(
            .share(.update, of: "two", tag: try await tag("share", bench)))
        #expect(refused[0].error?.code == .badRequest)
        #expect(refused[0].error?.reason.contains("'forRecord'") == true)
    }

    @Test("SAVE-5, SHARE-24: a share is saved with its tag; it has fields of its own")
    func fields() async throws {
        let (bench, _) = try await sharedTree()
        #expect(try await bench.modify(.share(.forceUpdate))[0].error?.code == .badRequest)
        let saved = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                fields: [
                    ShareNames.title: .some(Field(.string("Our list"))),
                    "colour": .some(Field(.string("blue"))),
                ]))
        #expect(
            try saved[0].record?.fields.decoded().keys.sorted()
                == [ShareNames.title, "colour"].sorted())
        let wrong = try await bench.modify(
            .share(
                .update, tag: try await tag("share", bench),
                fields: [ShareNames.title: .some(Field(.int64(1)))]))
        #expect(wrong[0].error?.code == .badRequest)
        #expect(
            try await bench.modify(.save(.create, "s", title: ""), .share(.create, "t"))[1].error?
                .code == .badRequest)
    }

    @Test("The end of a zone is the end of its shares", arguments: [true, false])
    func zoneDeletion(isZoneWide: Bool) async throws {
        let bench = try await SharingBench()
        try await bench.modify(Self.tree)
        let share = try await bench.share(
            isZoneWide ? nil : "list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        try await bench.tellParticipants()
        let token = try await bench.sharedZones(of: bench.otto).token
        try await bench.bench.deleteZone("Notes")
        try await bench.tellParticipants()
        #expect(try await bench.sharedZones(of: bench.otto, since: token).zones == ["-Notes"])
        #expect(try await bench.resolve(share, as: bench.otto).isFailed)
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
    }
}

extension WireNotificationInfo {
    /// A silent push.
    static var contentAvailable: WireNotificationInfo {
        var info = WireNotificationInfo()
        info.shouldSendContentAvailable = true
        return info
    }
}

extension ShareResult {
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
