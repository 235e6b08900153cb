// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches subscriptions: all, or those with given IDs.
///
/// A subscription that does not exist fails separately, with `unknownItem`. If the old and the new
/// callback of the same kind are both set, only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchsubscriptionsoperation>.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without IDs.
    public required override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Returns an operation that fetches all subscriptions.
    open class func fetchAllSubscriptionsOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    /// The IDs of the subscriptions.
    open var subscriptionIDs: [CKSubscription.ID]?

    /// Called once for each subscription.
    open var perSubscriptionResultBlock:
        (
            (
                _ subscriptionID: CKSubscription.ID,
                _ subscriptionResult: Result<CKSubscription, any Error>
            ) -> Void
        )?

    /// Called once, with the subscriptions that were found; with `partialFailure` when
    /// some were not (ERR-3).
    @available(*, deprecated, renamed: "fetchSubscriptionsResultBlock")
    open var fetchSubscriptionCompletionBlock:
        (
            (
                _ subscriptionsBySubscriptionID: [CKSubscription.ID: CKSubscription]?,
                _ operationError: (any Error)?
            ) -> Void
        )?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var fetchSubscriptionsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var fetchesAll = false
    private var oldCompletionBlock: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        FetchItemsWork(
            endpoints: SubscriptionEndpoints(database: connection),
            itemIDs: fetchesAll ? nil : subscriptionIDs ?? [],
            callbacks: FetchCallbacks(
                item: perSubscriptionResultBlock,
                result: fetchSubscriptionsResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
