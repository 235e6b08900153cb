// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Saves and deletes records.
///
/// In custom zones all items of a zone succeed or none, unless ``isAtomic`` is false;
/// several zones may be mixed (SAVE-14, SAVE-18). At most 400 items (LIMIT-1). Without
/// items the operation succeeds (SAVE-22).
///
/// Of old and new callbacks of the same kind, the new one is called (OP-11). Records
/// that were saved have the server's tag and dates, and no changed keys (SAVE-29).
///
/// ```swift
/// let operation = CKModifyRecordsOperation(
///     recordsToSave: changed, recordIDsToDelete: removed)
/// operation.savePolicy = .ifServerRecordUnchanged
/// operation.perRecordSaveBlock = { recordID, result in
///     // What failed comes here, and in no result block.
///     if case .failure(let error) = result { report(error, of: recordID) }
/// }
/// operation.modifyRecordsResultBlock = { _ in finish() }
/// database.add(operation)
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckmodifyrecordsoperation>.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// What a save does when the server's record is another version (SAVE-1).
    public enum RecordSavePolicy: Int, Sendable {
        /// Saves changed fields; fails with `serverRecordChanged` unless the server's
        /// record is the one the change was made on (SAVE-2).
        case ifServerRecordUnchanged = 0
        /// Saves changed fields over whatever the server has (SAVE-3).
        case changedKeys = 1
        /// Saves all fields over whatever the server has; those that only the server has
        /// stay (SAVE-3).
        case allKeys = 2
    }

    /// Creates an operation without items.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(
        recordsToSave: [CKRecord]? = nil,
        recordIDsToDelete: [CKRecord.ID]? = nil
    ) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// The records to save.
    open var recordsToSave: [CKRecord]?

    /// The IDs of the records to delete, whatever their version.
    open var recordIDsToDelete: [CKRecord.ID]?

    /// What a save does when the server's record is another version.
    open var savePolicy = RecordSavePolicy.ifServerRecordUnchanged

    /// A mark that comes back with the tokens of zones fetched later, to show which of
    /// the own changes they include (TOK-24).
    open var clientChangeTokenData: Data?

    /// Whether all items of a custom zone succeed or none (SAVE-14); true by default.
    open var isAtomic = true

    /// Called with a record and how much of it was sent, from 0 to 1 (SAVE-19).
    open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?

    /// Called once for each record to save.
    @available(*, deprecated, renamed: "perRecordSaveBlock")
    open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
        get { oldSaveBlock }
        set { oldSaveBlock = newValue }
    }

    /// Called once for each record to save.
    open var perRecordSaveBlock:
        ((_ recordID: CKRecord.ID, _ saveResult: Result<CKRecord, any Error>) -> Void)?

    /// Called once for each record to delete.
    open var perRecordDeleteBlock:
        ((_ recordID: CKRecord.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// Called once, with what was saved and deleted; with `partialFailure` when items
    /// failed (ERR-3).
    @available(*, deprecated, renamed: "modifyRecordsResultBlock")
    open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; fails only when the operation as a whole did.
    open var modifyRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldSaveBlock: ((CKRecord, (any Error)?) -> Void)?
    private var oldCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

    override func longLivedWork() -> LongLivedOperation.Work? {
        .modifyRecords(
            LongLivedOperation.ModifyRecords(
                records: recordsToSave ?? [],
                recordIDs: recordIDsToDelete ?? [],
                policy: savePolicy,
                isAtomic: isAtomic,
                clientChangeToken: clientChangeTokenData
            )
        )
    }

    /// Whether a sync engine sends it, which knows what it sends.
    var isOfSyncEngine = false

    override func plan() -> OperationPlan {
        ModifyRecordsWork(
            saving: recordsToSave ?? [],
            deleting: recordIDsToDelete ?? [],
            policy: savePolicy,
            isAtomic: isAtomic,
            clientChangeToken: clientChangeTokenData.map { [UInt8]($0) },
            isOfSyncEngine: isOfSyncEngine,
            in: connection,
            callbacks: ModifyCallbacks(
                progress: perRecordProgressBlock,
                save: perRecordSaveBlock,
                oldSave: oldSaveBlock,
                delete: perRecordDeleteBlock,
                result: modifyRecordsResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
