// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Access requests") struct AccessRequestTests {
    /// A list that is shared with some, for which everybody may ask.
    private func asked(
        _ participants: [(SharingBench) -> WireParticipant] = [], allowed: Bool = true
    ) async throws -> (bench: SharingBench, url: String) {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share("list", with: participants.map { $0(bench) })
        if allowed { try await bench.change(ShareChanges(allowsAccessRequests: true)) }
        return (bench, try #require(share.share?.shortGUID))
    }

    /// Why somebody may not ask; nil where they did.
    private func refusal(
        _ url: String, as user: StoredUser, in bench: SharingBench, limits: Limits = Limits()
    ) async throws -> WireError? {
        do {
            try await bench.requestAccess(url, as: user, limits: limits)
            return nil
        } catch let error as WireError {
            return error
        }
    }

    private func requests(
        seenBy user: StoredUser, in bench: SharingBench
    ) async throws -> WireAccessRequests? {
        try await bench.lookup("share", as: user)[0].record?.share?.accessRequests
    }

    private func identity(_ user: StoredUser, _ lookup: UserLookup? = nil) -> UserIdentity {
        UserIdentity(userRecordName: user.recordName, lookup: lookup)
    }

    @Test(
        "SHARE-21: where nobody may ask, there is no share: not asked for, nor for who asked before"
    )
    func forbidden() async throws {
        let (bench, url) = try await asked(allowed: false)
        #expect(try await requests(seenBy: bench.anna, in: bench) == WireAccessRequests())
        let unknown = "AAAAAAAAAAAAAAAAAAAAAA"
        let refused = try await refusal(url, as: bench.otto, in: bench)
        let nowhere = try await refusal(unknown, as: bench.otto, in: bench)
        #expect(refused?.code == .notFound)
        #expect(
            refused?.reason.replacing(url, with: "") == nowhere?.reason.replacing(unknown, with: "")
        )
        #expect(try await requests(seenBy: bench.anna, in: bench) == WireAccessRequests())
        try await bench.change(ShareChanges(allowsAccessRequests: true))
        #expect(try await refusal(url, as: bench.otto, in: bench) == nil)
        let off = try await bench.change(ShareChanges(allowsAccessRequests: false))
        #expect(off.record?.share?.accessRequests?.requesters == [identity(bench.otto)])
        #expect(try await refusal(url, as: bench.otto, in: bench)?.code == .notFound)
        #expect(try await refusal(url, as: bench.mia, in: bench)?.code == .notFound)
    }

    @Test("SHARE-21: the owner sees who asks, adds them, and they are let in")
    func approved() async throws {
        let (bench, url) = try await asked()
        let tag = try await bench.lookup("share", as: bench.anna)[0].record?.recordChangeTag
        for user in [bench.otto, bench.mia, bench.otto] {
            #expect(try await refusal(url, as: user, in: bench) == nil)
        }
        let share = try #require(try await bench.lookup("share", as: bench.anna)[0].record)
        #expect(share.recordChangeTag != tag)
        // Who asked is not who changed the record: that everybody sees.
        #expect(share.modified.userRecordName == bench.anna.recordName)
        #expect(
            share.share?.accessRequests
                == WireAccessRequests(
                    areAllowed: true, requesters: [identity(bench.otto), identity(bench.mia)]))
        // To ask gives nothing.
        #expect(try await bench.resolve(share, as: bench.otto).isFailed)
        let added = try await bench.change(
            ShareChanges(participants: [.invited(bench.otto, .readOnly)]))
        #expect(added.record?.share?.accessRequests?.requesters == [identity(bench.mia)])
        #expect(added.record?.share?.participants.last?.isApprovedRequester == true)
        let accepted = try await bench.accept(share, as: bench.otto)
        #expect(
            accepted.share.participants == [
                "\(bench.otto.recordName) readOnly privateUser accepted"
            ])
        #expect(accepted.share.share?.participants.last?.isApprovedRequester == true)
        // Who takes part has nothing to ask for, the owner neither.
        for user in [bench.otto, bench.anna] {
            #expect(try await refusal(url, as: user, in: bench) == nil)
        }
        #expect(
            try await requests(seenBy: bench.anna, in: bench)?.requesters == [identity(bench.mia)])
        // Whoever was invited without asking is no approved requester.
        let others = try await bench.user("eva")
        let both = try await bench.change(
            ShareChanges(participants: [.invited(bench.otto), .invited(others)]))
        #expect(
            both.record?.share?.participants.map(\.isApprovedRequester) == [false, true, false])
    }

    @Test("SHARE-21: a participant without permission who asks waits until they get one, or none")
    func withoutPermission() async throws {
        let (bench, url) = try await asked([{ .invited($0.otto, .none) }])
        func saved(_ changes: ShareChanges) async throws -> (asking: [UserIdentity], isIn: [Bool]) {
            let share = try await bench.change(changes).record?.share
            return (
                share?.accessRequests?.requesters ?? [],
                share?.participants.map(\.isApprovedRequester) ?? []
            )
        }
        try await bench.requestAccess(url, as: bench.otto)
        let unrelated = try await saved(ShareChanges(allowsAccessRequests: true))
        #expect(unrelated.asking == [identity(bench.otto)] && unrelated.isIn == [false, false])
        let same = try await saved(ShareChanges(participants: [.invited(bench.otto, .none)]))
        #expect(same.asking == [identity(bench.otto)] && same.isIn == [false, false])
        let denied = try await saved(ShareChanges(requesters: []))
        #expect(denied.asking == [] && denied.isIn == [false, false])
        try await bench.requestAccess(url, as: bench.otto)
        let given = try await saved(ShareChanges(participants: [.invited(bench.otto, .readOnly)]))
        #expect(given.asking == [] && given.isIn == [false, true])
        _ = try await bench.accept(url, as: bench.otto)
        #expect(try await bench.lookup("list", as: bench.otto).map(\.summary) == ["list=list"])
    }

    @Test("SHARE-21: who is denied may ask again, who is blocked may not and is not told")
    func deniedAndBlocked() async throws {
        let (bench, url) = try await asked()
        for user in [bench.otto, bench.mia] { try await bench.requestAccess(url, as: user) }
        let denied = try await bench.change(ShareChanges(requesters: [identity(bench.mia)]))
        #expect(denied.record?.share?.accessRequests?.requesters == [identity(bench.mia)])
        #expect(denied.record?.share?.accessRequests?.blocked == [])
        #expect(try await refusal(url, as: bench.otto, in: bench) == nil)
        #expect(
            try await requests(seenBy: bench.anna, in: bench)?.requesters
                == [identity(bench.mia), identity(bench.otto)])
        let blocked = try await bench.change(ShareChanges(blocked: [identity(bench.otto)]))
        let left = WireAccessRequests(
            areAllowed: true, requesters: [identity(bench.mia)], blocked: [identity(bench.otto)])
        #expect(blocked.record?.share?.accessRequests == left)
        let tag = blocked.record?.recordChangeTag
        #expect(try await refusal(url, as: bench.otto, in: bench) == nil)
        let after = try await bench.lookup("share", as: bench.anna)[0].record
        #expect(after?.share?.accessRequests == left && after?.recordChangeTag == tag)
        // A save that says nothing of it keeps all; who is unblocked may ask again.
        let kept = try await bench.change(ShareChanges(participants: []))
        #expect(kept.record?.share?.accessRequests == left)
        let unblocked = try await bench.change(ShareChanges(requesters: [], blocked: []))
        #expect(
            unblocked.record?.share?.accessRequests == WireAccessRequests(areAllowed: true))
        #expect(try await refusal(url, as: bench.otto, in: bench) == nil)
        #expect(
            try await requests(seenBy: bench.anna, in: bench)?.requesters == [identity(bench.otto)])
    }

    @Test(
        "SHARE-21: who is blocked loses what they had, and comes back by no URL and no invitation")
    func blockedParticipants() async throws {
        let (bench, url) = try await asked([{ .invited($0.otto) }])
        _ = try await bench.accept(url, as: bench.otto)
        let blocked = try await bench.change(ShareChanges(blocked: [identity(bench.otto)]))
        #expect(blocked.record?.participants == [])
        #expect(try await bench.changes(as: bench.otto).error?.code == .zoneNotFound)
        let invited = try await bench.change(ShareChanges(participants: [.invited(bench.otto)]))
        #expect(invited.error?.code == .badRequest)
        #expect(invited.error?.reason.contains(bench.otto.recordName) == true)
        var anyone = WireParticipant(identity: UserIdentity(userRecordName: nil))
        anyone.usesOneTimeURL = true
        let open = try await bench.change(ShareChanges(participants: [anyone]))
        let once = try #require(open.record?.share?.participants.last?.oneTimeShortGUID)
        for url in [url, once] {
            #expect(try await bench.resolve(url, as: bench.otto).isFailed)
            let refused = await #expect(throws: WireError.self) {
                _ = try await bench.accept(url, as: bench.otto)
            }
            #expect(refused?.code == .notFound)
        }
        // The URL is still somebody else's.
        _ = try await bench.accept(once, as: bench.mia)
        try await bench.change(ShareChanges(publicPermission: .readWrite))
        let refused = await #expect(throws: WireError.self) {
            _ = try await bench.accept(url, as: bench.otto)
        }
        #expect(refused?.code == .notFound)
        #expect(try await refusal(url, as: bench.otto, in: bench)?.code == .notFound)
        let owner = try await bench.change(ShareChanges(blocked: [identity(bench.anna)]))
        #expect(owner.error?.code == .badRequest)
        // Who is no user is left out.
        let nobody = try await bench.change(
            ShareChanges(blocked: [UserIdentity(userRecordName: "_nobody")]))
        #expect(nobody.record?.share?.accessRequests?.blocked == [])
    }

    @Test("SHARE-8, SHARE-21: who is blocked leaves an open share, too, in which others stay")
    func blockedInOpenShare() async throws {
        let (bench, url) = try await asked([{ .invited($0.otto) }])
        _ = try await bench.accept(url, as: bench.otto)
        try await bench.change(ShareChanges(publicPermission: .readOnly))
        _ = try await bench.accept(url, as: bench.mia)
        let eva = try await bench.user("eva")
        _ = try await bench.accept(url, as: eva)
        let kept = try await bench.change(ShareChanges(participants: []))
        #expect(kept.error?.code == .badRequest)
        let blocked = try await bench.change(
            ShareChanges(participants: [], blocked: [identity(bench.otto), identity(eva)]))
        #expect(
            blocked.record?.participants == ["\(bench.mia.recordName) readOnly publicUser accepted"]
        )
        #expect(try await bench.changes(as: eva).error?.code == .zoneNotFound)
        #expect(try await bench.changes(as: bench.mia).error == nil)
    }

    @Test("SHARE-9, SHARE-21: administrators answer requests, other participants do not see them")
    func roles() async throws {
        let (bench, url) = try await asked([
            { .invited($0.mia, .readWrite, .administrator) }, { .invited($0.otto) },
        ])
        let eva = try await bench.user("eva")
        try await bench.requestAccess(url, as: eva)
        // An administrator is one as soon as they accepted.
        guard case .share(let before) = try await bench.resolve(url, as: bench.mia) else {
            Issue.record("not resolved")
            return
        }
        #expect(before.share.share?.accessRequests == nil)
        for user in [bench.mia, bench.otto] { _ = try await bench.accept(url, as: user) }
        #expect(try await requests(seenBy: bench.otto, in: bench) == nil)
        let page = try await bench.changes(as: bench.otto).page
        #expect(page?.records.compactMap(\.record?.share?.accessRequests) == [])
        #expect(
            try await requests(seenBy: bench.mia, in: bench)
                == WireAccessRequests(areAllowed: true, requesters: [identity(eva)]))
        for changes in [
            ShareChanges(allowsAccessRequests: false), ShareChanges(requesters: []),
            ShareChanges(blocked: [identity(eva)]), ShareChanges(blocked: []),
        ] {
            let refused = try await bench.change(as: bench.otto, changes)
            #expect(refused.error?.code == .accessDenied)
        }
        let blocked = try await bench.change(
            as: bench.mia, ShareChanges(requesters: [], blocked: [identity(eva)]))
        #expect(
            blocked.record?.share?.accessRequests
                == WireAccessRequests(areAllowed: true, blocked: [identity(eva)]))
    }

    @Test(
        "SHARE-21: of a request for access, participants are notified only where one of them is an administrator"
    )
    func participantsNotified() async throws {
        let (bench, url) = try await asked([{ .invited($0.otto) }, { .invited($0.mia) }])
        for user in [bench.otto, bench.mia] { _ = try await bench.accept(url, as: user) }
        try await bench.tellParticipants()
        let token = try await bench.sharedZones(of: bench.otto).token
        let seen = try await bench.changes(as: bench.otto).page?.syncToken
        let pending = try await bench.bench.outbox().count
        try await bench.requestAccess(url, as: try await bench.user("eva"))
        // The owner's devices are notified by this one.
        #expect(try await bench.bench.outbox().count == pending + 1)
        try await bench.tellParticipants()
        #expect(try await bench.sharedZones(of: bench.otto, since: token).zones == [])
        // Who fetches all the same has the change tag that the share has.
        let page = try await bench.changes(as: bench.otto, since: seen).page
        let stored = try await bench.lookup("share", as: bench.anna)[0].record
        #expect(page?.records.map(\.record?.recordChangeTag) == [stored?.recordChangeTag])

        var administrator = WireParticipant.invited(bench.mia)
        administrator.role = .administrator
        try await bench.change(
            ShareChanges(participants: [.invited(bench.otto), administrator]))
        try await bench.tellParticipants()
        let promoted = try await bench.sharedZones(of: bench.mia).token
        try await bench.requestAccess(url, as: try await bench.user("fritz"))
        try await bench.tellParticipants()
        #expect(try await bench.sharedZones(of: bench.mia, since: promoted).zones == ["Notes"])
    }

    @Test("SHARE-21, ERR-46: who is invited accepts; what is open is not asked for")
    func invited() async throws {
        let (bench, url) = try await asked([{ .invited($0.otto) }])
        let refused = try await refusal(url, as: bench.otto, in: bench)
        #expect(refused?.ckErrorCode == CKErrorCode.participantAlreadyInvited)
        // Also by an address that became theirs.
        try await bench.change(
            ShareChanges(participants: [
                WireParticipant(
                    identity: UserIdentity(
                        userRecordName: nil, lookup: .emailAddress("mia@example.org")))
            ]))
        #expect(try await refusal(url, as: bench.mia, in: bench) == nil)
        try await bench.give("mia@example.org", to: bench.mia)
        #expect(
            try await refusal(url, as: bench.mia, in: bench)?.ckErrorCode
                == CKErrorCode.participantAlreadyInvited)
        // Who accepts has no request any more.
        let accepted = try await bench.accept(url, as: bench.mia)
        #expect(accepted.participantStatus == .accepted)
        #expect(try await requests(seenBy: bench.anna, in: bench)?.requesters == [])
        try await bench.requestAccess(url, as: bench.otto)
        let opened = try await bench.change(ShareChanges(publicPermission: .readOnly))
        #expect(opened.record?.share?.accessRequests == WireAccessRequests(areAllowed: true))
        let open = try await refusal(url, as: bench.otto, in: bench)
        #expect(open?.code == .badRequest && open?.reason.contains("accept it") == true)
    }

    @Test("SHARE-21: who asks is seen with a verified address of theirs")
    func addresses() async throws {
        let (bench, url) = try await asked()
        try await bench.give("+49 170 1234567", to: bench.otto)
        try await bench.give("otto@example.org", to: bench.otto)
        try await bench.give("mia@example.org", to: bench.mia, isVerified: false)
        for user in [bench.otto, bench.mia] { try await bench.requestAccess(url, as: user) }
        #expect(
            try await requests(seenBy: bench.anna, in: bench)?.requesters
                == [identity(bench.otto, .emailAddress("otto@example.org")), identity(bench.mia)])
    }

    @Test("SHARE-21: a flood of requests, or of blocks, ends at a bound that is named")
    func floods() async throws {
        let (bench, url) = try await asked()
        var limits = Limits()
        (limits.requestersPerShare, limits.blockedPerShare) = (2, 1)
        var users: [StoredUser] = []
        for index in 0..<4 { users.append(try await bench.user("u\(index)")) }
        for user in users.prefix(2) {
            #expect(try await refusal(url, as: user, in: bench, limits: limits) == nil)
        }
        let full = try await refusal(url, as: users[2], in: bench, limits: limits)
        #expect(full?.bound == .requestersPerShare)
        #expect(full?.ckErrorCode == CKErrorCode.limitExceeded)
        // Who waits may ask again; who is denied makes room.
        #expect(try await refusal(url, as: users[0], in: bench, limits: limits) == nil)
        try await bench.change(ShareChanges(requesters: [identity(users[0])]))
        #expect(try await refusal(url, as: users[2], in: bench, limits: limits) == nil)
        let many = try await bench.change(
            limits: limits, ShareChanges(blocked: users.prefix(2).map { identity($0) }))
        #expect(many.error?.bound == .blockedPerShare)
        #expect(many.error?.ckErrorCode == CKErrorCode.limitExceeded)
        // A limit that is lowered keeps nobody from saving a share as it is.
        try await bench.change(ShareChanges(blocked: users.suffix(2).map { identity($0) }))
        let same = try await bench.change(
            limits: limits, ShareChanges(blocked: users.suffix(2).map { identity($0) }))
        #expect(
            same.record?.share?.accessRequests?.blocked.map(\.userRecordName)
                == [users[2].recordName, users[3].recordName])
    }

    @Test(
        "SHARE-21: requests and blocks end with their share, and are not there when it begins anew")
    func ended() async throws {
        let (bench, url) = try await asked()
        for user in [bench.otto, bench.mia] { try await bench.requestAccess(url, as: user) }
        try await bench.change(ShareChanges(blocked: [identity(bench.mia)]))
        try await bench.modify(.share(.forceDelete))
        #expect(try await refusal(url, as: bench.otto, in: bench)?.code == .notFound)
        // SHARE-6: it has the same URL.
        let anew = try await bench.share("list")
        #expect(anew.share?.shortGUID == url)
        #expect(anew.share?.accessRequests == WireAccessRequests())
    }

    @Test(
        "SHARE-3, SHARE-20, SHARE-21: a zone that is shared is asked for, and has one-time URLs, too"
    )
    func zoneWide() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share(nil)
        let url = try #require(share.share?.shortGUID)
        let name = ShareNames.zoneWideShare
        try await bench.change(of: name, ShareChanges(allowsAccessRequests: true))
        try await bench.requestAccess(url, as: bench.otto)
        var anyone = WireParticipant(identity: UserIdentity(userRecordName: nil))
        anyone.usesOneTimeURL = true
        let added = try await bench.change(
            of: name, ShareChanges(participants: [.invited(bench.otto), anyone]))
        #expect(
            added.record?.share?.participants.map(\.isApprovedRequester) == [false, true, false])
        let once = try #require(added.record?.share?.participants.last?.oneTimeShortGUID)
        _ = try await bench.accept(url, as: bench.otto)
        _ = try await bench.accept(once, as: bench.mia)
        for user in [bench.otto, bench.mia] {
            #expect(try await bench.lookup("list", as: user).map(\.summary) == ["list=list"])
        }
    }

    @Test("SUB-56, SHARE-21: the owner's devices are notified of a request, not the one who asks")
    func notified() async throws {
        let (bench, url) = try await asked()
        let before = try await bench.bench.outbox().count
        try await bench.requestAccess(url, as: bench.otto)
        let entries = try await bench.bench.outbox().dropFirst(before)
        #expect(entries.map(\.changes.count) == [1])
        #expect(entries.first?.changes.first?.recordName == "share")
        #expect(entries.first?.changes.first?.event == .updated)
        // Nothing crosses to who asked.
        #expect(try await bench.tellParticipants() == [])
        #expect(try await bench.sharedZones(of: bench.otto).zones == [])
    }
}
