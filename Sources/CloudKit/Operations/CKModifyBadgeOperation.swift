// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Sets the number from which the server counts the badges of the user's next pushes
/// (NOTIF-14).
///
/// NB: Apple's stopped working reliably; this one works.
/// See <https://developer.apple.com/documentation/cloudkit/ckmodifybadgeoperation>.
@available(
    *, deprecated, message: "Set the app's badge when it is opened; CloudKit's may cease working."
)
open class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation that sets the badge to 0.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    /// The number to set; 0, the default, removes the badge.
    open var badgeValue = 0

    /// Called once.
    open var modifyBadgeCompletionBlock: (((any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let request = ModifyBadge(value: badgeValue)
        let container = containerConnection
        let completion = modifyBadgeCompletionBlock
        return RequestWork(completion: Completion { _, error in completion?(error) }) {
            ledger throws(CKError) in
            _ = try await container.send(ModifyBadge.self, request, ledger.options)
        }.plan
    }
}
