// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Makes the signed-in user a participant of shares (SHARE-16).
///
/// What is shared is in the user's shared database then, in a zone of the owner's name
/// (SHARE-17). At most 400 shares (LIMIT-1); each fails by itself. Of old and new callbacks
/// of the same kind, the new one is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckacceptsharesoperation>.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without shares.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    /// What ``CKFetchShareMetadataOperation`` returned of the shares.
    open var shareMetadatas: [CKShare.Metadata]?

    /// Called once for each share.
    @available(*, deprecated, renamed: "perShareResultBlock")
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
        get { oldItemBlock }
        set { oldItemBlock = newValue }
    }

    /// Called once for each share, with the share as it is now.
    open var perShareResultBlock:
        ((_ metadata: CKShare.Metadata, _ metadataResult: Result<CKShare, any Error>) -> Void)?

    /// Called once; with `partialFailure` when some shares failed, by URL (SHARE-16).
    @available(*, deprecated, renamed: "acceptSharesResultBlock")
    open var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; fails only when the operation as a whole did.
    open var acceptSharesResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldItemBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let metadatas = shareMetadatas ?? []
        let container = containerConnection
        let (new, old) = (perShareResultBlock, oldItemBlock)
        let completion = Completion<Void>(acceptSharesResultBlock) {
            [oldCompletionBlock] _, error in oldCompletionBlock?(error)
        }
        let items = metadatas.map { metadata in
            ItemCallback<URL, CKShare>(new.map { new in { new(metadata, $1) } }) { _, outcome in
                switch outcome {
                case .success(let share): old?(metadata, share, nil)
                case .failure(let error): old?(metadata, nil, error)
                }
            }
        }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            let results = try await container.accept(metadatas, ledger.options)
            for (index, result) in results.enumerated() {
                let url = metadatas[index].values.invitationURL ?? Self.unknownURL
                ledger.settle(url, result, items[index])
            }
        }.plan
    }

    /// Stands for the URL of a share that has none, which is never sent.
    private static let unknownURL = URL(fileURLWithPath: "/")
}
