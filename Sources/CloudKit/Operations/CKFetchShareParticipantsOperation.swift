// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes participants, to be added to a share, of addresses and of record IDs of users
/// (SHARE-22).
///
/// At most 400 of them (LIMIT-1); each fails by itself. An address without an account makes a
/// participant, too. Of old and new callbacks of the same kind, the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchshareparticipantsoperation>.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation that looks nobody up.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// By what participants are looked up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Called once for each participant; not for one that failed.
    @available(*, deprecated, renamed: "perShareParticipantResultBlock")
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { oldItemBlock }
        set { oldItemBlock = newValue }
    }

    /// Called once for each one who is looked up.
    open var perShareParticipantResultBlock:
        (
            (
                _ lookupInfo: CKUserIdentity.LookupInfo,
                _ shareParticipantResult: Result<CKShare.Participant, any Error>
            ) -> Void
        )?

    /// Called once; with `partialFailure` when some failed (ERR-3).
    @available(*, deprecated, renamed: "fetchShareParticipantsResultBlock")
    open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; fails only when the operation as a whole did.
    open var fetchShareParticipantsResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldItemBlock: ((CKShare.Participant) -> Void)?
    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let lookups = (userIdentityLookupInfos ?? []).uniqued()
        let container = containerConnection
        let item = ItemCallback<CKUserIdentityLookupInfo, CKShareParticipant>(
            perShareParticipantResultBlock
        ) { [oldItemBlock] _, outcome in
            if case .success(let participant) = outcome { oldItemBlock?(participant) }
        }
        let completion = Completion<Void>(fetchShareParticipantsResultBlock) {
            [oldCompletionBlock] _, error in oldCompletionBlock?(error)
        }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            let results = try await container.participants(for: lookups, ledger.options)
            for (lookup, result) in zip(lookups, results) { ledger.settle(lookup, result, item) }
        }.plan
    }
}
