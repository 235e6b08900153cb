// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Asks the owners of shares to be let in, by the URLs of the shares (SHARE-21).
///
/// Who manages a share sees the request in ``CKShare/requesters``, and its devices are notified. At most
/// 400 URLs (LIMIT-1), each by itself: one fails with `unknownItem` where nobody may ask for access or
/// there is no share, which the server does not tell apart, and with `participantAlreadyInvited`
/// where the user only has to accept (ERR-46).
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

    /// Called once for each URL; succeeds when the request is with the owner.
    open var perShareAccessRequestResultBlock: ((URL, Result<Void, any Error>) -> Void)?

    /// Called once; fails only when the operation as a whole did.
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
