// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Saves and deletes records.
///
/// In a custom zone either all items succeed or none, unless ``isAtomic`` is false. Items may be in
/// different zones (SAVE-14, SAVE-18). Takes at most 400 items (LIMIT-1). Without items the
/// operation succeeds (SAVE-22).
///
/// If the old and the new callback of the same kind are both set, only the new one is called
/// (OP-11). Records that were saved have the server's tag and dates, and no changed keys (SAVE-29).
///
/// ```swift
/// let operation = CKModifyRecordsOperation(
///     recordsToSave: changed, recordIDsToDelete: removed)
/// operation.savePolicy = .ifServerRecordUnchanged
/// operation.perRecordSaveBlock = { recordID, result in
///     // The errors of records are passed to this block, and never to the result block.
///     if case .failure(let error) = result { report(error, of: recordID) }
/// }
/// operation.modifyRecordsResultBlock = { _ in finish() }
/// database.add(operation)
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckmodifyrecordsoperation>.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// What a save does if the server has another version of the record (SAVE-1).
    public enum RecordSavePolicy: Int, Sendable {
        /// Saves changed fields; fails with `serverRecordChanged` if the server's record was
        /// changed since it was fetched (SAVE-2).
        case ifServerRecordUnchanged = 0
        /// Saves changed fields, whatever version the server has (SAVE-3).
        case changedKeys = 1
        /// Saves all fields, whatever version the server has; fields that only the server has are
        /// kept (SAVE-3).
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

    /// What a save does if the server has another version of the record.
    open var savePolicy = RecordSavePolicy.ifServerRecordUnchanged

    /// A value that is returned with change tokens fetched later, which shows which of the app's
    /// own changes they include (TOK-24).
    open var clientChangeTokenData: Data?

    /// Whether either all items of a custom zone succeed or none (SAVE-14); true by default.
    open var isAtomic = true

    /// Called with a record and the progress of its upload, from 0 to 1 (SAVE-19).
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

    /// Called once; with an error only if the operation as a whole failed.
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
