// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Accepts shares for the signed-in user, who becomes a participant (SHARE-16).
///
/// The shared zones and records are then in the user's shared database, in a zone with the owner's
/// name (SHARE-17). Takes at most 400 shares (LIMIT-1); each succeeds or fails separately. If the
/// old and the new callback of the same kind are both set, only the new one is called (OP-11).
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

    /// The metadata of the shares, from ``CKFetchShareMetadataOperation``.
    open var shareMetadatas: [CKShare.Metadata]?

    /// Called once for each share.
    @available(*, deprecated, renamed: "perShareResultBlock")
    open var perShareCompletionBlock: ((CKShare.Metadata, CKShare?, (any Error)?) -> Void)? {
        get { oldItemBlock }
        set { oldItemBlock = newValue }
    }

    /// Called once for each share, with the share in its new state.
    open var perShareResultBlock:
        ((_ metadata: CKShare.Metadata, _ metadataResult: Result<CKShare, any Error>) -> Void)?

    /// Called once; with `partialFailure` when some shares failed, by URL (SHARE-16).
    @available(*, deprecated, renamed: "acceptSharesResultBlock")
    open var acceptSharesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error only if the operation as a whole failed.
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
