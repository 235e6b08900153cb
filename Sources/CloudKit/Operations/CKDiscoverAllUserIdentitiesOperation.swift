// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds users of the app among the device's contacts: none, because Linux has no contacts.
///
/// If both callbacks for the end are set, only the result block is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckdiscoveralluseridentitiesoperation>.
@available(*, deprecated, message: "No longer supported; people find each other by sharing.")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation.
    public override init() {
        super.init()
    }

    /// Called once for each user who was found; never called on Linux.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?

    /// Called once.
    open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error if the operation was cancelled.
    open var discoverAllUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let completion = Completion<Void>(discoverAllUserIdentitiesResultBlock) {
            [oldCompletionBlock] _, error in oldCompletionBlock?(error)
        }
        return RequestWork(completion: completion) { _ in }.plan
    }
}
