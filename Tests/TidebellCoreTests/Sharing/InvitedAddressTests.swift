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

    private func give(
        _ address: String, to user: StoredUser, isVerified: Bool = true, in bench: SharingBench
    ) async throws {
        try await bench.bench.store.write(.everything) { transaction in
            let name = try transaction.accountNames([user.account])[user.account] ?? ""
            _ = try AddAddress.run(address, of: name, isVerified: isVerified, in: transaction)
        }
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
        try await give("mia@example.org", to: bench.mia, in: bench)
        try await give("+49 170 1234567", to: bench.mia, in: bench)
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

    @Test("SHARE-19: an address without an account is told to be added; then it is invited")
    func later() async throws {
        let bench = try await bench()
        let share = try await bench.share("list", with: [invited(.emailAddress("mia@example.org"))])
        #expect(share.participants == ["- readWrite privateUser pending"])
        let verify = CKErrorCode.participantMayNeedVerification
        #expect(try await refusal(of: share, as: bench.mia, in: bench) == verify)
        try await give("mia@example.org", to: bench.mia, isVerified: false, in: bench)
        #expect(try await refusal(of: share, as: bench.mia, in: bench) == verify)
        try await give("mia@example.org", to: bench.mia, in: bench)
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
        try await give("mia@example.org", to: bench.mia, in: bench)
        let taken = await #expect(throws: OperatorError.self) {
            try await give("Mia@example.org", to: bench.otto, in: bench)
        }
        #expect(taken?.code == .taken && taken?.field == .address)
        for wrong in ["mia", "a@b@c", "", "a b@c", "++"] {
            let refused = await #expect(throws: OperatorError.self) {
                try await give(wrong, to: bench.otto, in: bench)
            }
            #expect(refused?.code == .invalid, "\(wrong)")
        }
    }
}
