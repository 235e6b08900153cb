// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("One-time URLs") struct OneTimeURLTests {
    /// Whoever opens the URL first, under the ID that an app gave them.
    private static func anyone(
        _ id: String = "first", _ permission: SharePermission = .readWrite
    ) -> WireParticipant {
        var participant = WireParticipant(
            participantID: id, identity: UserIdentity(userRecordName: nil), permission: permission)
        participant.usesOneTimeURL = true
        return participant
    }

    /// A list that is shared with some.
    private func shared(
        with participants: (SharingBench) -> [WireParticipant] = { _ in [anyone()] }
    ) async throws -> (bench: SharingBench, share: WireRecord) {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        return (bench, try await bench.share("list", with: participants(bench)))
    }

    /// Why somebody may not accept; nil where they did.
    private func refusal(
        of shortGUID: String, as user: StoredUser, in bench: SharingBench
    ) async throws -> WireError? {
        do {
            _ = try await bench.accept(shortGUID, as: user)
            return nil
        } catch let error as WireError {
            return error
        }
    }

    @Test("SHARE-20: whoever accepts by a one-time URL first becomes its participant, for good")
    func story() async throws {
        let (bench, share) = try await shared()
        #expect(share.participants == ["- readWrite privateUser pending"])
        let participant = try #require(share.share?.participants.last)
        #expect(participant.participantID == "first" && participant.usesOneTimeURL)
        let url = try #require(participant.oneTimeShortGUID)
        // The share's own URL is nobody's invitation.
        #expect(try await bench.resolve(share, as: bench.otto).isFailed)
        for user in [bench.otto, bench.mia] {
            guard case .share(let metadata) = try await bench.resolve(url, as: user) else {
                Issue.record("not resolved")
                continue
            }
            #expect(metadata.shortGUID == url && metadata.participantStatus == .pending)
            #expect(metadata.participantPermission == .readWrite)
            #expect(metadata.share.share?.currentUserParticipantID == "first")
        }
        // To look is not to accept.
        #expect(
            try await bench.lookup("share", as: bench.anna)[0].record?.participants
                == share.participants)
        let accepted = try await bench.accept(url, as: bench.otto)
        #expect(
            accepted.share.participants
                == ["\(bench.otto.recordName) readWrite privateUser accepted"])
        #expect(
            try await bench.modify(as: bench.otto, .save(.forceUpdate, "list", title: "o"))[0]
                .error == nil)
        // For Otto both URLs are the same now, for everybody else the URL is spent.
        for url in [url, try #require(share.share?.shortGUID)] {
            #expect(try await refusal(of: url, as: bench.otto, in: bench) == nil)
            #expect(try await refusal(of: url, as: bench.mia, in: bench)?.code == .notFound)
        }
        let known = try await bench.lookup("share", as: bench.anna)[0].record?.share
        #expect(known?.participants.last?.participantID == "first")
        #expect(known?.participants.last?.oneTimeShortGUID == url)
        #expect(known?.participants.count == 2)
    }

    @Test("SHARE-20: the URL goes with its participant, and never comes back")
    func removed() async throws {
        let (bench, share) = try await shared { _ in [Self.anyone("a"), Self.anyone("b")] }
        let urls = share.share?.participants.compactMap(\.oneTimeShortGUID) ?? []
        #expect(Set(urls).count == 2)
        // Saved once more as it is, everything stays.
        let same = try await bench.change(ShareChanges(participants: share.share?.participants))
        #expect(same.record?.share?.participants.compactMap(\.oneTimeShortGUID) == urls)
        _ = try await bench.accept(urls[1], as: bench.otto)
        try await bench.change(ShareChanges(participants: []))
        let again = try await bench.change(
            ShareChanges(participants: [Self.anyone("a"), Self.anyone("b")]))
        let anew = again.record?.share?.participants.compactMap(\.oneTimeShortGUID) ?? []
        #expect(Set(anew + urls).count == 4)
        for url in urls {
            #expect(try await bench.resolve(url, as: bench.otto).isFailed)
            #expect(try await refusal(of: url, as: bench.otto, in: bench)?.code == .notFound)
        }
        #expect(try await refusal(of: anew[0], as: bench.otto, in: bench) == nil)
        // SHARE-7: a share that is opened loses who has not accepted.
        try await bench.change(ShareChanges(publicPermission: .readOnly))
        #expect(try await refusal(of: anew[1], as: bench.mia, in: bench)?.code == .notFound)
        #expect(
            try await refusal(of: share.share?.shortGUID ?? "", as: bench.mia, in: bench) == nil)
        try await bench.modify(.share(.forceDelete))
        #expect(try await refusal(of: anew[0], as: bench.otto, in: bench)?.code == .notFound)
    }

    @Test("SHARE-19, SHARE-20, ERR-46: who is invited already accepts that, and the URL stays good")
    func invited() async throws {
        let (bench, share) = try await shared {
            [.invited($0.otto, .readOnly), Self.anyone()]
        }
        let url = try #require(share.share?.participants.last?.oneTimeShortGUID)
        let refused = try await refusal(of: url, as: bench.otto, in: bench)
        #expect(refused?.ckErrorCode == CKErrorCode.participantAlreadyInvited)
        #expect(refused?.reason.contains("the share's own URL") == true)
        guard case .failed(let named, let error) = try await bench.resolve(url, as: bench.otto)
        else {
            Issue.record("resolved")
            return
        }
        #expect(named == url)
        #expect(error.ckErrorCode == CKErrorCode.participantAlreadyInvited)
        _ = try await bench.accept(share, as: bench.otto)
        // Now it takes nobody's place.
        let opened = try await bench.accept(url, as: bench.otto)
        #expect(opened.participantPermission == .readOnly)
        // Nor does the owner's look.
        #expect(try await bench.accept(url, as: bench.anna).participantRole == .owner)
        let joined = try await bench.accept(url, as: bench.mia)
        #expect(joined.participantPermission == .readWrite)
        #expect(joined.share.share?.participants.count == 3)
    }

    @Test("SHARE-20: of two who accept at the same time, one becomes the participant")
    func race() async throws {
        for _ in 0..<10 {
            let (bench, share) = try await shared()
            let url = try #require(share.share?.participants.last?.oneTimeShortGUID)
            async let otto = refusal(of: url, as: bench.otto, in: bench)
            async let mia = refusal(of: url, as: bench.mia, in: bench)
            let codes = try await [otto, mia].compactMap { $0?.code }
            #expect(codes == [.notFound])
            let left = try await bench.lookup("share", as: bench.anna)[0].record
            #expect(left?.share?.participants.count == 2)
        }
    }

    @Test("SHARE-20: nobody guesses a URL, and only who manages participants sees it")
    func secrets() async throws {
        let (bench, share) = try await shared {
            [
                Self.anyone("one"), Self.anyone("two"),
                .invited($0.mia, .readWrite, .administrator), .invited($0.otto),
            ]
        }
        let urls = share.share?.participants.compactMap(\.oneTimeShortGUID) ?? []
        let own = try #require(share.share?.shortGUID)
        #expect(urls.count == 2 && urls.allSatisfy { $0.hasPrefix("\(own).") })
        let stranger = try await bench.user("eva")
        let parts = urls.map { String($0.dropFirst(own.count + 1)) }
        for wrong in [
            own + ".", own + ".one", own + "." + own, "." + parts[0], parts[0], urls[0] + "A",
            String(urls[0].dropLast()), urls[0] + "." + parts[1], own + ".." + parts[0],
        ] {
            #expect(try await bench.resolve(wrong, as: stranger).isFailed, "\(wrong)")
            #expect(
                try await refusal(of: wrong, as: stranger, in: bench)?.code == .notFound, "\(wrong)"
            )
            await #expect(throws: WireError.self) {
                try await bench.requestAccess(wrong, as: stranger)
            }
        }
        func seen(by user: StoredUser) async throws -> [String] {
            let shown = try await bench.lookup("share", as: user)[0].record?.share
            #expect(shown?.participants.filter(\.usesOneTimeURL).count == 2)
            return shown?.participants.compactMap(\.oneTimeShortGUID) ?? []
        }
        guard case .share(let before) = try await bench.resolve(share, as: bench.mia) else {
            Issue.record("not resolved")
            return
        }
        #expect(before.share.share?.participants.compactMap(\.oneTimeShortGUID) == [])
        for user in [bench.mia, bench.otto] { _ = try await bench.accept(share, as: user) }
        #expect(try await seen(by: bench.anna) == urls)
        #expect(try await seen(by: bench.mia) == urls)
        #expect(try await seen(by: bench.otto) == [])
    }

    @Test("SHARE-8, SHARE-11, SHARE-20: they are participants like others, and name nobody")
    func rules() async throws {
        let (bench, _) = try await shared { _ in [] }
        var named = Self.anyone()
        named.identity.userRecordName = bench.otto.recordName
        let refused = try await bench.change(ShareChanges(participants: [named]))
        #expect(refused.error?.code == .badRequest)
        var limits = Limits()
        limits.participantsPerShare = 1
        let many = try await bench.change(
            limits: limits, ShareChanges(participants: [Self.anyone("a"), Self.anyone("b")]))
        #expect(many.error?.ckErrorCode == CKErrorCode.tooManyParticipants)
        // An ID is one participant's, and may be no secret of another length.
        let same = try await bench.change(
            ShareChanges(participants: [
                Self.anyone("a"), Self.anyone("a", .readOnly),
                Self.anyone(String(repeating: "x", count: 256)), Self.anyone(""),
            ]))
        let made = same.record?.share?.participants.dropFirst() ?? []
        #expect(made.map(\.permission) == [.readOnly, .readWrite, .readWrite])
        #expect(made.first?.participantID == "a")
        #expect(made.dropFirst().allSatisfy { $0.participantID?.count == 36 })
        try await bench.change(ShareChanges(publicPermission: .readOnly))
        let open = try await bench.change(ShareChanges(participants: [Self.anyone()]))
        #expect(open.error?.code == .badRequest)
    }
}
