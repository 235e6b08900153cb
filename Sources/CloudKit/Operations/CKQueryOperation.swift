// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Searches a database for records, a page of results at a time.
///
/// The operation sends one request. If there are more results, it returns a cursor, with which
/// another operation continues (QUERY-16, QUERY-17). If the old and the new callback of the same
/// kind are both set, only the new one is called (QUERY-19).
///
/// ```swift
/// func fetch(_ operation: CKQueryOperation) {
///     operation.recordMatchedBlock = { _, result in
///         if let record = try? result.get() { store.keep(record) }
///     }
///     operation.queryResultBlock = { result in
///         guard case .success(let cursor?) = result else { return finish() }
///         fetch(CKQueryOperation(cursor: cursor))
///     }
///     database.add(operation)
/// }
/// fetch(CKQueryOperation(query: query))
/// ```
///
/// See <https://developer.apple.com/documentation/cloudkit/ckqueryoperation>.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// The position at which the next page of results begins.
    public typealias Cursor = CKQueryCursor

    /// The results limit with which the server decides the number: 0 (QUERY-16).
    public static let maximumResults: Int = 0

    /// Creates an operation without a query.
    public override init() {
        super.init()
    }

    /// Creates an operation that searches.
    public convenience init(query: CKQuery) {
        self.init()
        self.query = query
    }

    /// Creates an operation that continues where another one ended.
    public convenience init(cursor: CKQueryOperation.Cursor) {
        self.init()
        self.cursor = cursor
    }

    /// What to search for; the property keeps a copy. Ignored if there is a cursor (QUERY-17).
    open var query: CKQuery? {
        get { ownQuery }
        set { ownQuery = newValue?.copy() as? CKQuery }
    }

    /// Where to continue; nil starts at the first result.
    open var cursor: CKQueryOperation.Cursor?

    /// The zone to search; nil means every zone of the database, which is not supported in a shared
    /// database (QUERY-12, QUERY-13). Ignored if there is a cursor.
    open var zoneID: CKRecordZone.ID?

    /// The maximum number of records to fetch; the server may return fewer, even if there are more
    /// (QUERY-16).
    open var resultsLimit = CKQueryOperation.maximumResults

    /// The fields to fetch: nil fetches all fields, an empty array only the system fields.
    open var desiredKeys: [CKRecord.FieldKey]?

    /// Called for each record, in the order of the query.
    @available(*, deprecated, renamed: "recordMatchedBlock")
    open var recordFetchedBlock: ((CKRecord) -> Void)? {
        get { oldRecordBlock }
        set { oldRecordBlock = newValue }
    }

    /// Called for each record, in the order of the query, with the record or an error (QUERY-19).
    open var recordMatchedBlock:
        ((_ recordID: CKRecord.ID, _ recordResult: Result<CKRecord, any Error>) -> Void)?

    /// Called once, with a cursor when there is more; with `partialFailure` when some
    /// records could not be fetched (ERR-3).
    @available(*, deprecated, renamed: "queryResultBlock")
    open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once, with a cursor when there is more; with an error only if the operation as a
    /// whole failed.
    open var queryResultBlock:
        ((_ operationResult: Result<CKQueryOperation.Cursor?, any Error>) -> Void)?

    private var ownQuery: CKQuery?
    private var oldRecordBlock: ((CKRecord) -> Void)?
    private var oldCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        QueryRecordsWork(
            search: cursor.map(QueryRecordsWork.Search.rest)
                ?? (query?.copy() as? CKQuery).map { .first($0, zoneID) },
            resultsLimit: resultsLimit > 0 ? resultsLimit : nil,
            desiredKeys: desiredKeys,
            database: connection,
            record: ItemCallback(recordMatchedBlock, oldRecord: oldRecordBlock),
            completion: Completion(queryResultBlock) { [oldCompletionBlock] cursor, error in
                oldCompletionBlock?(cursor ?? nil, error)
            }
        ).plan
    }
}
