// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds users of the app who permitted to be found, by address or record ID (ACCT-6).
///
/// At most 400 of them (LIMIT-1). Who did not permit it is not found, like somebody without an
/// account. Of both callbacks at the end, the result block is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckdiscoveruseridentitiesoperation>.
@available(*, deprecated, message: "No longer supported; people find each other by sharing.")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation that looks nobody up.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// By what users are looked up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Called once for each user who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?

    /// Called once.
    open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; fails when the operation as a whole did.
    open var discoverUserIdentitiesResultBlock:
        ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let lookups = userIdentityLookupInfos.uniqued()
        let container = containerConnection
        let item = ItemCallback<CKUserIdentityLookupInfo, CKUserIdentity>(nil) {
            [userIdentityDiscoveredBlock] lookup, outcome in
            if case .success(let identity) = outcome {
                userIdentityDiscoveredBlock?(identity, lookup)
            }
        }
        let completion = Completion<Void>(discoverUserIdentitiesResultBlock) {
            [oldCompletionBlock] _, error in oldCompletionBlock?(error)
        }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            for (lookup, identity) in try await container.discover(lookups, ledger.options) {
                ledger.settle(lookup, .success(identity), item)
            }
        }.plan
    }
}
