// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches records by their IDs, from one zone or several (REC-13).
///
/// Takes at most 400 IDs (LIMIT-1). A record that does not exist fails separately, with
/// `unknownItem` (REC-12). If the old and the new callback of the same kind are both set, only the
/// new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchrecordsoperation>.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without IDs.
    public required override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Returns an operation that fetches the record of the signed-in user (REC-13).
    open class func fetchCurrentUserRecordOperation() -> Self {
        let operation = self.init()
        operation.fetchesCurrentUser = true
        return operation
    }

    /// The IDs of the records.
    open var recordIDs: [CKRecord.ID]?

    /// The fields to fetch: nil fetches all fields, an empty array only the system fields.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called with a record's ID and the progress of its download, from 0 to 1.
    open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?

    /// Called once for each record.
    @available(*, deprecated, renamed: "perRecordResultBlock")
    open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)? {
        get { oldRecordBlock }
        set { oldRecordBlock = newValue }
    }

    /// Called once for each record.
    open var perRecordResultBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// Called once, with the records that were found; with `partialFailure` when some
    /// were not (ERR-3).
    @available(*, deprecated, renamed: "fetchRecordsResultBlock")
    open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var fetchRecordsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var fetchesCurrentUser = false
    private var oldRecordBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    private var oldCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

    override func longLivedWork() -> LongLivedOperation.Work? {
        guard !fetchesCurrentUser else { return nil }
        return .fetchRecords(
            LongLivedOperation.FetchRecords(recordIDs: recordIDs ?? [], desiredKeys: desiredKeys)
        )
    }

    override func plan() -> OperationPlan {
        FetchRecordsWork(
            subject: fetchesCurrentUser ? .currentUser : .records(recordIDs ?? []),
            desiredKeys: desiredKeys,
            database: connection,
            callbacks: FetchCallbacks(
                progress: perRecordProgressBlock,
                item: perRecordResultBlock,
                oldItem: oldRecordBlock,
                result: fetchRecordsResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
