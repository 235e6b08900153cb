// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches participants for addresses and record IDs of users, so that they can be added to a share
/// (SHARE-22).
///
/// Takes at most 400 lookup infos (LIMIT-1); each succeeds or fails separately. An address without
/// an account also gives a participant. If the old and the new callback of the same kind are both
/// set, only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchshareparticipantsoperation>.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without lookup infos.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// The addresses and record IDs to look up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

    /// Called once for each participant; not for a lookup that failed.
    @available(*, deprecated, renamed: "perShareParticipantResultBlock")
    open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
        get { oldItemBlock }
        set { oldItemBlock = newValue }
    }

    /// Called once for each lookup info.
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

    /// Called once; with an error only if the operation as a whole failed.
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
