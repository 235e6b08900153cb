// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives a user a role of a container, or takes it away (web-services 7).
package enum ChangeRole {
    /// The most users of a role that are listed.
    package static let mostListed = 10_000

    /// Changes the role of a user who used the container; the schema must have the role to give it.
    package static func run(
        _ role: String, of name: String, in container: ContainerKey, isGiven: Bool,
        in transaction: some AccountReading & UserWriting & SchemaReading
    ) throws {
        try container.check()
        let user = try user(named: name, in: container, transaction)
        if isGiven { try check(role, in: container, transaction) }
        try transaction.setRole(role, of: user.id, isGiven: isGiven)
    }

    /// Returns the user of an account in a container; fails for one who has not used it.
    package static func user(
        named name: String, in container: ContainerKey,
        _ reader: some AccountReading & UserReading
    ) throws -> StoredUser {
        let account = try reader.user(named: name)
        guard let user = try reader.user(of: account, in: container) else {
            throw OperatorError(
                .unsuitable, .user,
                "'\(name)' has not used \(container.container) (\(container.environment.rawValue)) "
                    + "yet; a role is given to who has.")
        }
        return user
    }

    /// Returns the names of the accounts that have a role.
    package static func members(
        of role: String, in container: ContainerKey,
        _ reader: some AccountReading & UserReading & SchemaReading
    ) throws -> [String] {
        try container.check()
        try check(role, in: container, reader)
        let users = try reader.users(withRole: role, in: container, limit: mostListed)
        return Array(try reader.accountNames(Set(users.map(\.account))).values).sorted()
    }

    private static func check(
        _ role: String, in container: ContainerKey, _ reader: some SchemaReading
    ) throws {
        let roles = try reader.schemaDefinition(of: container).roles
        guard !roles.contains(role) else { return }
        throw OperatorError(
            .unknown, .schema,
            "\(container.container) (\(container.environment.rawValue)) has no role "
                + "'\(WireError.shortened(role))'; it has "
                + (roles.isEmpty ? "none" : roles.sorted().joined(separator: ", "))
                + ". A schema's file creates roles.")
    }
}
