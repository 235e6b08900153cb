// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Users: what accounts are in containers.
package protocol UserReading {
    /// Returns an account's user in a container; nil before its first access.
    func user(of account: AccountID, in container: ContainerKey) throws -> StoredUser?

    /// Returns the user of a container with this record name.
    func user(recordName: String, in container: ContainerKey) throws -> StoredUser?

    /// Returns the users of a container with these record names.
    func users(recordNames: Set<String>, in container: ContainerKey) throws -> [StoredUser]

    /// Returns users by ID.
    func users(_ ids: Set<UserID>) throws -> [UserID: StoredUser]

    /// Returns the users of an account, at most `limit`.
    func users(of account: AccountID, limit: Int) throws -> [StoredUser]

    /// Returns what the user answered to an app that asked for a permission; nil
    /// before the first answer.
    func permission(_ permission: ApplicationPermission, of user: UserID) throws
        -> PermissionAnswer?

    /// Returns the roles of a container's own that the user has (web-services 7).
    func roles(of user: UserID) throws -> Set<String>

    /// Returns the users of a container who have a role, no more than the limit.
    func users(withRole role: String, in container: ContainerKey, limit: Int) throws
        -> [StoredUser]
}

/// Users are made, and what they permit apps is kept.
package protocol UserWriting: UserReading {
    /// Returns the account's user in the container, created with `recordName`
    /// if this is its first access.
    func makeUser(
        of account: AccountID,
        in container: ContainerKey,
        recordName: String,
        at now: Instant
    ) throws -> StoredUser

    /// Keeps the user's answer to an app that asked for a permission; nil forgets
    /// it.
    func setPermission(
        _ permission: ApplicationPermission, of user: UserID, to answer: PermissionAnswer?
    ) throws

    /// Gives the user a role, or takes it away.
    func setRole(_ role: String, of user: UserID, isGiven: Bool) throws
}
