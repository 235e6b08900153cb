// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Fetches one page of the changes of a custom zone since a token (TOK-28).
///
/// When ``moreComing`` is true afterwards, run another operation with the token that the completion
/// block got.
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchrecordchangesoperation>.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation.")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.
    private let pageWasNotLast = Locked(false)

    /// Creates an operation without a zone.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(
        recordZoneID: CKRecordZone.ID,
        previousServerChangeToken: CKServerChangeToken?
    ) {
        self.init()
        self.recordZoneID = recordZoneID
        self.previousServerChangeToken = previousServerChangeToken
    }

    /// The zone; the operation fails with `invalidArguments` without one.
    open var recordZoneID: CKRecordZone.ID?

    /// The token of the last fetch; nil fetches the complete state (TOK-6).
    open var previousServerChangeToken: CKServerChangeToken?

    /// The maximum number of records to fetch; with 0, the default, the server decides.
    open var resultsLimit = 0

    /// The fields to fetch: nil fetches all fields, an empty array only the system fields.
    open var desiredKeys: [String]?

    /// Called for each record that is new or changed.
    open var recordChangedBlock: ((CKRecord) -> Void)?

    /// Called for each record that was deleted.
    open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?

    /// Whether the server has more; set before the completion block is called.
    open var moreComing: Bool { pageWasNotLast.current }

    /// Called once: with the token, and the client token of the latest save that had one, or with
    /// the zone's error.
    open var fetchRecordChangesCompletionBlock:
        ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let completion = fetchRecordChangesCompletionBlock
        let deleted = recordWithIDWasDeletedBlock
        let moreComing = pageWasNotLast
        guard let recordZoneID else {
            return RequestWork<Never>(
                completion: Completion { _, error in completion?(nil, nil, error) }
            ) { _ throws(CKError) in
                throw .local(
                    .invalidArguments,
                    "The operation has no zone to fetch changes of: set recordZoneID."
                )
            }.plan
        }
        // What the one zone ends with; used on the callback queue only.
        var end: CKFetchRecordZoneChangesOperation.ZoneResult?
        return FetchZoneChangesWork(
            zoneIDs: [recordZoneID],
            configurations: [
                recordZoneID: CKFetchRecordZoneChangesConfiguration.Values(
                    previousServerChangeToken: previousServerChangeToken,
                    resultsLimit: resultsLimit,
                    desiredKeys: desiredKeys
                )
            ],
            fetchesAll: false,
            database: connection,
            callbacks: FetchZoneChangesWork.Callbacks(
                record: ItemCallback(oldRecord: recordChangedBlock),
                deleted: { recordID, _ in deleted?(recordID) },
                zone: ItemCallback { _, outcome in
                    end = outcome
                    if case .success(let page) = outcome { moreComing.current = page.moreComing }
                }
            ),
            completion: Completion { _, summary in
                switch end {
                case .success(let page):
                    completion?(page.serverChangeToken, page.clientChangeTokenData, summary)
                case .failure(let error): completion?(nil, nil, error)
                case nil: completion?(nil, nil, summary)
                }
            }
        ).plan
    }
}
