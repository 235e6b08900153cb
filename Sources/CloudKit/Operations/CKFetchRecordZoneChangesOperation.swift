// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Fetches which records of custom zones changed since a token.
///
/// Each zone succeeds or fails separately (TOK-19). If the old and the new callback of the same
/// kind are both set, only the new one is called (OP-11).
///
/// ```swift
/// let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
/// configuration.previousServerChangeToken = store.token  // nil fetches the whole zone
/// let operation = CKFetchRecordZoneChangesOperation(
///     recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
/// operation.recordWasChangedBlock = { _, result in
///     if let record = try? result.get() { store.keep(record) }
/// }
/// operation.recordWithIDWasDeletedBlock = { recordID, _ in store.remove(recordID) }
/// operation.recordZoneFetchResultBlock = { _, result in
///     switch result {
///     case .success(let end): store.token = end.serverChangeToken
///     case .failure(let error as CKError) where error.code == .changeTokenExpired: store.empty()
///     case .failure(let error): report(error)
///     }
/// }
/// database.add(operation)
/// ```
///
/// Store the token together with the changes before it. After `changeTokenExpired`, empty the local
/// copy and fetch without a token. The error of a zone is passed to the block of that zone:
/// ``fetchRecordZoneChangesResultBlock`` never gets `partialFailure` (ERR-3).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchrecordzonechangesoperation>.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// What a zone's fetch ends with.
    typealias ZoneResult = Result<FetchZoneChangesWork.ZoneEnd, any Error>

    /// Creates an operation without zones.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    /// Creates an operation.
    @available(*, deprecated, renamed: "init(recordZoneIDs:configurationsByRecordZoneID:)")
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID],
        optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]?
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.optionsByRecordZoneID = optionsByRecordZoneID
    }

    /// The IDs of the zones.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// The configuration for each zone; a zone without one is fetched completely.
    open var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?

    /// The options for each zone.
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    open var optionsByRecordZoneID: [CKRecordZone.ID: ZoneOptions]? {
        get { configurationsByRecordZoneID?.mapValues { ZoneOptions($0.values) } }
        set { configurationsByRecordZoneID = newValue?.mapValues { ZoneConfiguration($0.values) } }
    }

    /// Whether the operation continues until it has fetched all changes (TOK-11); true by default.
    open var fetchAllChanges = true

    /// Called for each record that changed.
    @available(*, deprecated, renamed: "recordWasChangedBlock")
    open var recordChangedBlock: ((CKRecord) -> Void)? {
        get { oldRecordBlock }
        set { oldRecordBlock = newValue }
    }

    /// Called once for each record that changed, with its newest state (TOK-15).
    open var recordWasChangedBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// Called for each record that was deleted, with its type (TOK-14).
    open var recordWithIDWasDeletedBlock:
        ((_ recordID: CKRecord.ID, _ recordType: CKRecord.RecordType) -> Void)?

    /// Called between requests, with a token for the changes of a zone that were reported so far;
    /// only if all changes are fetched (TOK-11).
    open var recordZoneChangeTokensUpdatedBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?

    /// Called once for each zone.
    @available(*, deprecated, renamed: "recordZoneFetchResultBlock")
    open var recordZoneFetchCompletionBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { oldZoneBlock }
        set { oldZoneBlock = newValue }
    }

    /// Called once for each zone.
    open var recordZoneFetchResultBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID,
                _ fetchChangesResult: Result<
                    (
                        serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?,
                        moreComing: Bool
                    ), any Error
                >
            ) -> Void
        )?

    /// Called once; with `partialFailure` when zones or records failed (ERR-3).
    @available(*, deprecated, renamed: "fetchRecordZoneChangesResultBlock")
    open var fetchRecordZoneChangesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var fetchRecordZoneChangesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    /// Waited for behind the callbacks of each page of a zone; for the sync engine, which hands the page over
    /// meanwhile.
    var pageEnded: (@Sendable (FetchZoneChangesWork.PageEnd) async -> Void)?

    private var oldRecordBlock: ((CKRecord) -> Void)?
    private var oldZoneBlock:
        ((CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let oldZone = oldZoneBlock
        return FetchZoneChangesWork(
            zoneIDs: recordZoneIDs ?? [],
            configurations: (configurationsByRecordZoneID ?? [:]).mapValues(\.values),
            fetchesAll: fetchAllChanges,
            database: connection,
            callbacks: FetchZoneChangesWork.Callbacks(
                record: ItemCallback(recordWasChangedBlock, oldRecord: oldRecordBlock),
                deleted: recordWithIDWasDeletedBlock,
                tokensUpdated: recordZoneChangeTokensUpdatedBlock,
                zone: ItemCallback(recordZoneFetchResultBlock) { zoneID, outcome in
                    switch outcome {
                    case .success((let token, let clientData, let moreComing)):
                        oldZone?(zoneID, token, clientData, moreComing, nil)
                    case .failure(let error): oldZone?(zoneID, nil, nil, false, error)
                    }
                }
            ),
            pageEnded: pageEnded,
            completion: Completion(fetchRecordZoneChangesResultBlock) {
                [oldCompletionBlock] _, error in oldCompletionBlock?(error)
            }
        ).plan
    }
}
