// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The app's blocks for records that are fetched; where both are set, the new one is called
/// (OP-11).
struct FetchedRecordBlocks: @unchecked Sendable {
    // Sendable: called on the operation's callback queue only.
    var new: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Hears of records only, not of failures.
    var old: ((CKRecord) -> Void)?

    /// Reports a record, or why there is none.
    func tell(
        _ recordID: CKRecord.ID,
        _ record: Result<CKRecord, CKError>,
        _ run: OperationRun,
        _ outcomes: inout ItemOutcomes
    ) {
        if case .failure(let error) = record { outcomes.fail(recordID, error) }
        run.callbacks.enqueue {
            if let new {
                new(recordID, record.mapError { $0 })
            } else if case .success(let record) = record {
                old?(record)
            }
        }
    }
}
