// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds users of the app who are discoverable, by address or record ID (ACCT-6).
///
/// Takes at most 400 lookup infos (LIMIT-1). Users who are not discoverable are not found, like an
/// address without an account. If both callbacks for the end are set, only the result block is
/// called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckdiscoveruseridentitiesoperation>.
@available(*, deprecated, message: "No longer supported; people find each other by sharing.")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without lookup infos.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    /// The addresses and record IDs to look up.
    open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Called once for each user who was found.
    open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?

    /// Called once.
    open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once; with an error if the operation as a whole failed.
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
