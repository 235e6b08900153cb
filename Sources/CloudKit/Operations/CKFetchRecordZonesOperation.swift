// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Fetches record zones: all, or those with given IDs.
///
/// A zone that does not exist fails separately, with `zoneNotFound`. If the old and the new
/// callback of the same kind are both set, only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchrecordzonesoperation>.
open class CKFetchRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without IDs.
    public required override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(recordZoneIDs zoneIDs: [CKRecordZone.ID]) {
        self.init()
        recordZoneIDs = zoneIDs
    }

    /// Returns an operation that fetches all zones, including the default zone (ZONE-7).
    open class func fetchAllRecordZonesOperation() -> Self {
        let operation = self.init()
        operation.fetchesAll = true
        return operation
    }

    /// The IDs of the zones.
    open var recordZoneIDs: [CKRecordZone.ID]?

    /// Called once for each zone.
    open var perRecordZoneResultBlock:
        (
            (
                _ recordZoneID: CKRecordZone.ID,
                _ recordZoneResult: Result<CKRecordZone, any Error>
            ) -> Void
        )?

    /// Called once, with the zones that were found; with `partialFailure` when some were
    /// not (ERR-3).
    @available(*, deprecated, renamed: "fetchRecordZonesResultBlock")
    open var fetchRecordZonesCompletionBlock:
        (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var fetchRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var fetchesAll = false
    private var oldCompletionBlock: (([CKRecordZone.ID: CKRecordZone]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        FetchItemsWork(
            endpoints: RecordZoneEndpoints(database: connection),
            itemIDs: fetchesAll ? nil : recordZoneIDs ?? [],
            callbacks: FetchCallbacks(
                item: perRecordZoneResultBlock,
                result: fetchRecordZonesResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
