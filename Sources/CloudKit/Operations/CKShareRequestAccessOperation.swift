// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Asks the owners of shares for access, by the URLs of the shares (SHARE-21).
///
/// The owner and administrators of a share see the request in ``CKShare/requesters``, and their
/// devices are notified. Takes at most 400 URLs (LIMIT-1), and each succeeds or fails separately:
/// with `unknownItem` if the share does not permit requests or does not exist, which the server
/// does not distinguish, and with `participantAlreadyInvited` if the user only has to accept
/// (ERR-46).
/// See <https://developer.apple.com/documentation/cloudkit/cksharerequestaccessoperation>.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
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

    /// Called once for each URL; success means that the server has stored the request for the
    /// owner.
    open var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?

    /// Called once; with an error only if the operation as a whole failed.
    open var shareAccessRequestResultBlock: ((Result<Void, any Error>) -> Void)?

    override func plan() -> OperationPlan {
        let urls = (shareURLs ?? []).uniqued()
        let container = containerConnection
        let item = ItemCallback<URL, Void>(perShareAccessRequestResultBlock)
        let completion = Completion<Void>(shareAccessRequestResultBlock) { _, _ in }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            let results = try await container.requestAccess(to: urls, ledger.options)
            for (url, result) in zip(urls, results) { ledger.settle(url, result, item) }
        }.plan
    }
}
