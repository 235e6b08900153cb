// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Schemas of containers, as an operator sees them: the operations of this folder on a store, for
/// the command line, the API over HTTP and the test kit alike. What is not allowed fails with
/// ``OperatorError``.
///
/// A running server goes by a change with the next request.
package struct Schemas: Sendable {
    private let store: any Store
    private let limits: Limits

    /// Creates schemas over a store.
    package init(store: any Store, limits: Limits = Limits()) {
        self.store = store
        self.limits = limits
    }

    /// Returns a container's schema as a `.ckdb` file.
    package func export(_ container: ContainerKey) async throws -> String {
        try await store.read { try ExportSchema.run(container, in: $0) }
    }

    /// Gives development the schema of a file; returns what changed.
    package func `import`(
        _ text: String, into container: String
    ) async throws -> ImportSchema.Outcome {
        let subscriptions = try await subscriptions(of: container)
        return try await change(container) { [limits] in
            try ImportSchema.run(
                text, into: container, subscriptions: subscriptions, limits: limits, in: $0)
        }
    }

    /// Returns what an import would change.
    package func validate(
        _ text: String, for container: String
    ) async throws -> ImportSchema.Outcome {
        let subscriptions = try await subscriptions(of: container)
        return try await store.read { [limits] in
            try ValidateSchema.run(
                text, for: container, subscriptions: subscriptions, limits: limits, in: $0)
        }
    }

    /// Adds indexes to a field of development's schema; returns what was added, nil for nothing.
    package func index(
        _ field: String, of type: String, in container: String, by indexes: FieldIndexes
    ) async throws -> SchemaChange? {
        try await change(container) {
            try IndexField.run(indexes, on: field, of: type, in: container, in: $0)
        }
    }

    /// Returns what a deployment would do.
    package func diff(_ container: String) async throws -> SchemaDeploymentPlan {
        let subscriptions = try await DeploySchema.Subscriptions(of: container, in: store)
        return try await store.read {
            try DiffSchema.run(container, subscriptions: subscriptions, in: $0)
        }
    }

    /// Returns what development used and production, or the schema of a file, lacks.
    ///
    /// - Parameter pending: Uses that the store does not have yet.
    package func check(
        _ container: String, against file: String? = nil, and pending: [QueryUse] = []
    ) async throws -> [CheckSchema.Shortfall] {
        let subscriptions = try await subscriptions(of: container)
        return try await store.read { [limits] in
            try CheckSchema.run(
                container, against: file, and: pending, subscriptions: subscriptions,
                limits: limits, in: $0)
        }
    }

    /// Deploys development's schema to production.
    package func deploy(
        _ container: String, by author: String, at now: Instant
    ) async throws -> DeploySchema.Outcome {
        let subscriptions = try await DeploySchema.Subscriptions(of: container, in: store)
        return try await change(container, in: .production) {
            try DeploySchema.run(
                container, by: author, at: now, subscriptions: subscriptions, in: $0)
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

    /// Gives development the schema that production has, then removes its data database by
    /// database, in short steps between which others write (ENV-8, ENV-9).
    ///
    /// What stops it is done again from the beginning, which leaves out what was done.
    ///
    /// - Parameters:
    ///   - last: The database with which an earlier call ended; nil begins.
    ///   - mostSteps: How many steps this call takes.
    package func reset(
        _ container: String, after last: DatabaseID? = nil, mostSteps: Int = .max,
        at now: Instant
    ) async throws -> ResetSchema.Outcome {
        var outcome = ResetSchema.Outcome()
        if last == nil {
            let subscriptions = try await subscriptions(of: container)
            outcome = try await change(container) {
                try ResetSchema.run(container, subscriptions: subscriptions, in: $0)
            }
        }
        var (last, steps) = (last, 0)
        while let database = try await next(after: last, container) {
            var isEmpty = false
            while !isEmpty {
                guard steps < mostSteps else {
                    outcome.next = last ?? DatabaseID(rawValue: 0)
                    return outcome
                }
                try Task.checkCancellation()
                let removed = try await store.write(.databaseWithID(database)) {
                    try ResetSchema.step(database, at: now, in: $0)
                }
                outcome.zones += removed.zones
                outcome.records += removed.records
                (isEmpty, steps) = (removed.isEmpty, steps + 1)
            }
            last = database
        }
        return outcome
    }

    private func next(after last: DatabaseID?, _ container: String) async throws -> DatabaseID? {
        let development = ContainerKey(container: container, environment: .development)
        return try await store.read {
            try $0.databases(of: development, after: last, limit: 1).first
        }
    }

    /// The query subscriptions of development.
    private func subscriptions(of container: String) async throws -> SubscriptionUses {
        try await SubscriptionUses(
            of: ContainerKey(container: container, environment: .development), in: store)
    }

    private func change<Result: Sendable>(
        _ container: String, in environment: CloudEnvironment = .development,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await store.write(
            .catalogue(ContainerKey(container: container, environment: environment)), body)
    }
}
