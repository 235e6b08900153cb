// SPDX-License-Identifier: Apache-2.0
import Foundation

// Subscriptions. Forms for several items report each item's result by its ID and fail as
// a whole only when the request does (OP-13).
extension CKDatabase {
    /// Fetches all subscriptions of the signed-in user.
    @preconcurrency
    public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        operation.collectAll { result in result.hand(to: completionHandler) }
        run(operation)
    }

    /// Returns all subscriptions of the signed-in user.
    public func allSubscriptions() async throws -> [CKSubscription] {
        let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        return try await value(of: operation) { operation.collectAll($0) }
    }

    /// Returns the signed-in user's subscriptions but for those that the server cannot read.
    func readableSubscriptions() async throws -> [CKSubscription] {
        let operation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        return try await value(of: operation) { operation.collectReadable($0) }
    }

    /// Fetches a subscription.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        fetch(withSubscriptionIDs: [subscriptionID]) { results in
            results.hand(subscriptionID, to: completionHandler)
        }
    }

    /// Returns a subscription; fails with `unknownItem` when it does not exist.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await subscriptions(for: [subscriptionID]).only(subscriptionID)
    }

    /// Fetches subscriptions.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
            ) -> Void
    ) {
        let operation = CKFetchSubscriptionsOperation(subscriptionIDs: subscriptionIDs)
        operation.collect(completionHandler)
        run(operation)
    }

    /// Returns subscriptions by their IDs.
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ids)
        return try await value(of: operation) { operation.collect($0) }
    }

    /// Saves a subscription.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        modifySubscriptions(saving: [subscription], deleting: []) { results in
            results.map(\.saveResults).hand(subscription.subscriptionID, to: completionHandler)
        }
    }

    /// Saves a subscription; it replaces an existing one with the same ID (SUB-30).
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await modifySubscriptions(saving: [subscription], deleting: [])
            .saveResults.only(subscription.subscriptionID)
    }

    /// Deletes a subscription.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        modifySubscriptions(saving: [], deleting: [subscriptionID]) { results in
            results.map(\.deleteResults).handID(subscriptionID, to: completionHandler)
        }
    }

    /// Deletes a subscription.
    @discardableResult
    public func deleteSubscription(
        withID subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription.ID {
        let results = try await modifySubscriptions(saving: [], deleting: [subscriptionID])
            .deleteResults
        try results.only(subscriptionID)
        return subscriptionID
    }

    /// Saves and deletes subscriptions.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: subscriptionsToSave,
            subscriptionIDsToDelete: subscriptionIDsToDelete
        )
        operation.collect(completionHandler)
        run(operation)
    }

    /// Saves and deletes subscriptions.
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: subscriptionsToSave,
            subscriptionIDsToDelete: subscriptionIDsToDelete
        )
        return try await value(of: operation) { operation.collect($0) }
    }
}

extension CKFetchSubscriptionsOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ItemResults<CKSubscription>>) {
        var results: ItemResults<CKSubscription> = [:]
        perSubscriptionResultBlock = { results[$0] = $1 }
        fetchSubscriptionsResultBlock = { result in done(result.map { results }) }
    }

    /// Sets the callbacks to hand over those that did not fail.
    fileprivate func collectReadable(_ done: @escaping ResultHandler<[CKSubscription]>) {
        var found: [CKSubscription] = []
        perSubscriptionResultBlock = { _, result in
            if case .success(let subscription) = result { found.append(subscription) }
        }
        fetchSubscriptionsResultBlock = { result in done(result.map { found }) }
    }

    /// Sets the callbacks to hand over all subscriptions, in the server's order.
    fileprivate func collectAll(_ done: @escaping ResultHandler<[CKSubscription]>) {
        var results: [Result<CKSubscription, any Error>] = []
        perSubscriptionResultBlock = { results.append($1) }
        fetchSubscriptionsResultBlock = { result in
            done(result.flatMap { results.allOrError() })
        }
    }
}

extension CKModifySubscriptionsOperation {
    /// Sets the callbacks to hand over all results at once.
    fileprivate func collect(_ done: @escaping ResultHandler<ModifyResults<CKSubscription>>) {
        var saved: ItemResults<CKSubscription> = [:]
        var deleted: [CKSubscription.ID: Result<Void, any Error>] = [:]
        perSubscriptionSaveBlock = { saved[$0] = $1 }
        perSubscriptionDeleteBlock = { deleted[$0] = $1 }
        modifySubscriptionsResultBlock = { result in
            done(result.map { (saveResults: saved, deleteResults: deleted) })
        }
    }
}
