// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Fetches the metadata of shares from their URLs, without accepting them (SHARE-18).
///
/// Takes at most 400 URLs (LIMIT-1). A URL of a share that does not exist, or that the user is not
/// invited to, fails separately. If the old and the new callback of the same kind are both set,
/// only the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchsharemetadataoperation>.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without URLs.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    /// The URLs of the shares.
    open var shareURLs: [URL]?

    /// Whether to fetch the root record, too; ignored for zone-wide shares.
    open var shouldFetchRootRecord = false

    /// The fields of that record to fetch: nil fetches all fields, an empty array only the system
    /// fields.
    open var rootRecordDesiredKeys: [CKRecord.FieldKey]?

    /// Called once for each URL.
    @available(*, deprecated, renamed: "perShareMetadataResultBlock")
    open var perShareMetadataBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)? {
        get { oldItemBlock }
        set { oldItemBlock = newValue }
    }

    /// Called once for each URL.
    open var perShareMetadataResultBlock:
        ((_ shareURL: URL, _ shareMetadataResult: Result<CKShare.Metadata, any Error>) -> Void)?

    /// Called once; with `partialFailure` when some URLs failed (ERR-3).
    @available(*, deprecated, renamed: "fetchShareMetadataResultBlock")
    open var fetchShareMetadataCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
    open var fetchShareMetadataResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldItemBlock: ((URL, CKShare.Metadata?, (any Error)?) -> Void)?
    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let urls = (shareURLs ?? []).uniqued()
        let container = containerConnection
        let request = ShareLookup(
            fetchesRoot: shouldFetchRootRecord, rootKeys: rootRecordDesiredKeys)
        let item = ItemCallback<URL, CKShareMetadata>(perShareMetadataResultBlock) {
            [oldItemBlock] url, outcome in
            switch outcome {
            case .success(let metadata): oldItemBlock?(url, metadata, nil)
            case .failure(let error): oldItemBlock?(url, nil, error)
            }
        }
        let completion = Completion<Void>(fetchShareMetadataResultBlock) {
            [oldCompletionBlock] _, error in oldCompletionBlock?(error)
        }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            let results = try await container.metadata(of: urls, request, ledger.options)
            for (url, result) in zip(urls, results) { ledger.settle(url, result, item) }
        }.plan
    }
}
