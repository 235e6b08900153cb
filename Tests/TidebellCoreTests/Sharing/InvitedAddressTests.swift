// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Addresses that are invited") struct InvitedAddressTests {
    private func bench() async throws -> SharingBench {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        return bench
    }

    private func invited(_ address: UserLookup) -> WireParticipant {
        WireParticipant(
            identity: UserIdentity(userRecordName: nil, lookup: address), permission: .readWrite)
    }

    private func refusal(
        of share: WireRecord, as user: StoredUser, in bench: SharingBench
    ) async throws -> Int? {
        do {
            _ = try await bench.accept(share, as: user)
            return nil
        } catch let error as WireError {
            return error.detail?.ckCode ?? 0
        }
    }

    @Test(
        "SHARE-8, SHARE-22: whoever is invited by an address is its user, however it is written",
        arguments: [
            UserLookup.emailAddress("MIA@Example.org"), .phoneNumber("+49 (170) 123-45.67"),
        ])
    func known(address: UserLookup) async throws {
        let bench = try await bench()
        try await bench.give("mia@example.org", to: bench.mia)
        try await bench.give("+49 170 1234567", to: bench.mia)
        let share = try await bench.share("list", with: [invited(address)])
        #expect(share.participants == ["\(bench.mia.recordName) readWrite privateUser pending"])
        // The same person once more is the same participant.
        let again = try await bench.modify(
            .share(
                .update, tag: share.recordChangeTag,
                participants: [invited(address), .invited(bench.mia, .readOnly)]))
        #expect(
            again[0].record?.participants
                == ["\(bench.mia.recordName) readOnly privateUser pending"])
        _ = try await bench.accept(share, as: bench.mia)
        #expect(try await bench.lookup("list", as: bench.mia).map(\.summary) == ["list=list"])
    }

    @Test("SHARE-19, ERR-42: an address without an account is told to be added; then it is invited")
    func later() async throws {
        let bench = try await bench()
        let share = try await bench.share("list", with: [invited(.emailAddress("mia@example.org"))])
        #expect(share.participants == ["- readWrite privateUser pending"])
        let verify = CKErrorCode.participantMayNeedVerification
        #expect(try await refusal(of: share, as: bench.mia, in: bench) == verify)
        try await bench.give("mia@example.org", to: bench.mia, isVerified: false)
        #expect(try await refusal(of: share, as: bench.mia, in: bench) == verify)
        try await bench.give("mia@example.org", to: bench.mia)
        // Now it is hers, and nobody else may be meant.
        #expect(try await refusal(of: share, as: bench.otto, in: bench) == 0)
        guard case .share(let metadata) = try await bench.resolve(share, as: bench.mia) else {
            Issue.record("not resolved")
            return
        }
        #expect(metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        let accepted = try await bench.accept(share, as: bench.mia)
        #expect(
            accepted.share.participants
                == ["\(bench.mia.recordName) readWrite privateUser accepted"])
        #expect(try await bench.lookup("list", as: bench.mia).map(\.summary) == ["list=list"])
    }

    @Test("An address is of one user, and what is none is refused")
    func operatorRules() async throws {
        let bench = try await bench()
        try await bench.give("mia@example.org", to: bench.mia)
        let taken = await #expect(throws: OperatorError.self) {
            try await bench.give("Mia@example.org", to: bench.otto)
        }
        #expect(taken?.code == .taken && taken?.field == .address)
        for wrong in ["mia", "a@b@c", "", "a b@c", "++"] {
            let refused = await #expect(throws: OperatorError.self) {
                try await bench.give(wrong, to: bench.otto)
            }
            #expect(refused?.code == .invalid, "\(wrong)")
        }
    }
}
