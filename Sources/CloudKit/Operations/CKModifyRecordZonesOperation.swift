// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Saves and deletes record zones; each succeeds or fails separately.
///
/// Custom zones exist in the private database only (ZONE-2). Saving a zone that exists changes
/// nothing (ZONE-5); deleting one deletes its records (ZONE-6). If the old and the new callback of
/// the same kind are both set, only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckmodifyrecordzonesoperation>.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without zones.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(
        recordZonesToSave: [CKRecordZone]? = nil,
        recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
    ) {
        self.init()
        self.recordZonesToSave = recordZonesToSave
        self.recordZoneIDsToDelete = recordZoneIDsToDelete
    }

    /// The zones to save.
    open var recordZonesToSave: [CKRecordZone]?

    /// The IDs of the zones to delete.
    open var recordZoneIDsToDelete: [CKRecordZone.ID]?

    /// Called once for each zone to save.
    open var perRecordZoneSaveBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ saveResult: Result<CKRecordZone, any Error>) -> Void)?

    /// Called once for each zone to delete.
    open var perRecordZoneDeleteBlock:
        ((_ recordZoneID: CKRecordZone.ID, _ deleteResult: Result<Void, any Error>) -> Void)?

    /// Called once, with what was saved and deleted; with `partialFailure` when zones
    /// failed (ERR-3).
    @available(*, deprecated, renamed: "modifyRecordZonesResultBlock")
    open var modifyRecordZonesCompletionBlock:
        (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
    {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var modifyRecordZonesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        ModifyItemsWork(
            endpoints: RecordZoneEndpoints(database: connection),
            saves: recordZonesToSave ?? [],
            deletions: recordZoneIDsToDelete ?? [],
            callbacks: ModifyCallbacks(
                save: perRecordZoneSaveBlock,
                delete: perRecordZoneDeleteBlock,
                result: modifyRecordZonesResultBlock,
                oldCompletion: oldCompletionBlock
            )
        ).plan
    }
}
