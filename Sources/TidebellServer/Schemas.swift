// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellScheduling
package import TidebellWire

/// Schemas of containers, as an operator sees them: the operations of `TidebellCore/Operator` on a
/// store. What is not allowed fails with ``OperatorError``.
///
/// A running server goes by a change with the next request.
package struct Schemas: Sendable {
    private let store: any Store
    private let time: Time

    /// Creates schemas over a store.
    package init(store: any Store, time: Time) {
        self.store = store
        self.time = time
    }

    /// Returns a container's schema as a `.ckdb` file.
    package func export(_ container: ContainerKey) async throws -> String {
        try await store.read { try ExportSchema.run(container, in: $0) }
    }

    /// Gives development the schema of a file; returns what changed.
    package func `import`(
        _ text: String, into container: String, limits: Limits = Limits()
    ) async throws -> [SchemaChange] {
        let key = ContainerKey(container: container, environment: .development)
        return try await store.write(.catalogue(key)) {
            try ImportSchema.run(text, into: container, limits: limits, in: $0)
        }
    }

    /// Returns what an import would change.
    package func validate(
        _ text: String, for container: String, limits: Limits = Limits()
    ) async throws -> [SchemaChange] {
        try await store.read {
            try ValidateSchema.run(text, for: container, limits: limits, in: $0)
        }
    }

    /// Adds indexes to a field of development's schema; returns what was added, nil for nothing.
    package func index(
        _ field: String, of type: String, in container: String, by indexes: FieldIndexes
    ) async throws -> SchemaChange? {
        let key = ContainerKey(container: container, environment: .development)
        return try await store.write(.catalogue(key)) {
            try IndexField.run(indexes, on: field, of: type, in: container, in: $0)
        }
    }

    /// Returns what a deployment would do.
    package func diff(_ container: String) async throws -> SchemaDeploymentPlan {
        try await store.read { try DiffSchema.run(container, in: $0) }
    }

    /// Returns what development used and production, or the schema of a file, lacks.
    ///
    /// - Parameter pending: Uses that the store does not have yet.
    package func check(
        _ container: String, against file: String? = nil, and pending: [QueryUse] = [],
        limits: Limits = Limits()
    ) async throws -> [CheckSchema.Shortfall] {
        try await store.read {
            try CheckSchema.run(container, against: file, and: pending, limits: limits, in: $0)
        }
    }

    /// Deploys development's schema to production.
    package func deploy(
        _ container: String, by author: String
    ) async throws -> DeploySchema.Outcome {
        let now = time.now()
        let key = ContainerKey(container: container, environment: .production)
        return try await store.write(.catalogue(key)) {
            try DeploySchema.run(container, by: author, at: now, in: $0)
        }
    }

    /// Gives a user a role of a container, or takes it away.
    package func setRole(
        _ role: String, of name: String, in container: ContainerKey, isGiven: Bool
    ) async throws {
        let user = try await store.read { try ChangeRole.user(named: name, in: container, $0) }
        try await store.write(.user(user.id)) {
            try ChangeRole.run(role, of: name, in: container, isGiven: isGiven, in: $0)
        }
    }

    /// Returns the names of the accounts that have a role.
    package func members(of role: String, in container: ContainerKey) async throws -> [String] {
        try await store.read { try ChangeRole.members(of: role, in: container, $0) }
    }

    /// Returns the deployments of a container, newest first.
    package func deployments(of container: String) async throws -> [SchemaDeployment] {
        try await store.read { try ListDeployments.run(container, in: $0) }
    }

    /// Gives development the schema that production has; returns what changed.
    package func reset(_ container: String) async throws -> [SchemaChange] {
        let key = ContainerKey(container: container, environment: .development)
        return try await store.write(.catalogue(key)) {
            try ResetSchema.run(container, in: $0)
        }
    }
}
