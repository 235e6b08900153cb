// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches which custom zones of a private or shared database changed since a token.
///
/// ```swift
/// let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: store.token)
/// operation.recordZoneWithIDChangedBlock = { zoneID in store.fetchLater(zoneID) }
/// operation.recordZoneWithIDWasDeletedBlock = { zoneID in store.remove(zoneID) }
/// operation.fetchDatabaseChangesResultBlock = { result in
///     switch result {
///     case .success(let end): store.token = end.serverChangeToken
///     case .failure(let error as CKError) where error.code == .changeTokenExpired: store.empty()
///     case .failure(let error): report(error)
///     }
/// }
/// database.add(operation)
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchdatabasechangesoperation>.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation that fetches the complete state.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(previousServerChangeToken: CKServerChangeToken?) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// The token of the last fetch; nil fetches the complete state (TOK-6).
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of zones per request; with 0, the default, the server decides (TOK-12).
    open var resultsLimit = 0

    /// Whether the operation continues until it has fetched all changes (TOK-11); true by default.
    open var fetchAllChanges = true

    /// Called for each zone that is new or has changes, once per fetch (TOK-7).
    open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?

    /// Called for each zone that was deleted.
    open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?

    /// Called for each zone that the user purged in the system settings; if it is not set, the
    /// block for deleted zones is called (TOK-8, TOK-9).
    open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?

    /// Called for each zone that was deleted because the user reset their encrypted data; if it is
    /// not set, the block for deleted zones is called (TOK-8, TOK-10).
    open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock:
        ((CKRecordZone.ID) -> Void)?

    /// Called between requests, with a token for the changes that were reported so far (TOK-11).
    open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?

    /// Called once, with the token or the error (TOK-20).
    @available(*, deprecated, renamed: "fetchDatabaseChangesResultBlock")
    open var fetchDatabaseChangesCompletionBlock:
        ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once.
    open var fetchDatabaseChangesResultBlock:
        (
            (
                _ operationResult: Result<
                    (serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error
                >
            ) -> Void
        )?

    private var oldCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        FetchDatabaseChangesWork(
            token: previousServerChangeToken,
            resultsLimit: resultsLimit > 0 ? resultsLimit : nil,
            fetchesAll: fetchAllChanges,
            database: connection,
            callbacks: FetchDatabaseChangesWork.Callbacks(
                changed: recordZoneWithIDChangedBlock,
                deleted: recordZoneWithIDWasDeletedBlock,
                purged: recordZoneWithIDWasPurgedBlock,
                reset: recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock,
                tokenUpdated: changeTokenUpdatedBlock
            ),
            completion: Completion(fetchDatabaseChangesResultBlock) {
                [oldCompletionBlock] end, error in
                oldCompletionBlock?(end?.serverChangeToken, end?.moreComing ?? false, error)
            }
        ).plan
    }
}
