// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension UserWriting {
    /// Returns the account's user in the container, made with `recordName` at the first
    /// access (ACCT-5).
    ///
    /// Fails with `limitExceeded` (27) where the account uses as many containers as it may: a
    /// container is there as soon as somebody names it, and what is bounded in each would else
    /// be bounded in none.
    package func joinContainer(
        _ container: ContainerKey, as account: AccountID, recordName: String, limits: Limits,
        at now: Instant
    ) throws -> StoredUser {
        if let user = try user(of: account, in: container) { return user }
        let most = limits.containersPerAccount
        guard try users(of: account, limit: most).count < most else {
            throw WireError.badRequest(
                "container '\(container.container)' (\(container.environment.rawValue)) would be "
                    + "one more than the \(most) of the user (containersPerAccount)",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.containersPerAccount)
        }
        return try makeUser(of: account, in: container, recordName: recordName, at: now)
    }
}
