// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Saves and deletes subscriptions; each succeeds or fails separately.
///
/// Saving a subscription whose ID exists replaces that subscription (SUB-30). If the old and the
/// new callback of the same kind are both set, only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckmodifysubscriptionsoperation>.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without subscriptions.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil,
        subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    /// The subscriptions to save.
    ///
    /// A query subscription with a predicate that CloudKit does not support, such as one with OR,
    /// fails with `invalidArguments` (QUERY-2 to 7).
    open var subscriptionsToSave: [CKSubscription]?

    /// The IDs of the subscriptions to delete.
    open var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Called once for each subscription to save.
    open var perSubscriptionSaveBlock:
        (
            (
                _ subscriptionID: CKSubscription.ID,
                _ saveResult: Result<CKSubscription, any Error>
            ) -> Void
        )?

    /// Called once for each subscription to delete.
    open var perSubscriptionDeleteBlock:
        ((_ subscriptionID: CKSubscription.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// Called once, with what was saved and deleted; with `partialFailure` when
    /// subscriptions failed (ERR-3).
    @available(*, deprecated, renamed: "modifySubscriptionsResultBlock")
    open var modifySubscriptionsCompletionBlock:
        (
            (
                _ savedSubscriptions: [CKSubscription]?,
                _ deletedSubscriptionIDs: [CKSubscription.ID]?,
                _ operationError: (any Error)?
            ) -> Void
        )?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var modifySubscriptionsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldCompletionBlock:
        (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        ModifyItemsWork(
            endpoints: SubscriptionEndpoints(database: connection),
            saves: subscriptionsToSave ?? [],
            deletions: subscriptionIDsToDelete ?? [],
            callbacks: ModifyCallbacks(
                save: perSubscriptionSaveBlock,
                delete: perSubscriptionDeleteBlock,
                result: modifySubscriptionsResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
