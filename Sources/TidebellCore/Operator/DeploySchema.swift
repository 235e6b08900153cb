// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives production what development's schema has: types, fields, indexes and grants, never data
/// (ENV-2).
extension DeploySchema {
    /// The most deployments that are remembered of a container.
    package static let mostKept = 1000
    /// The most lines of changes that are remembered of one.
    static let mostLines = 500

    /// The query subscriptions in use.
    package struct Subscriptions: Sendable, Hashable {
        package var development = SubscriptionUses()
        package var production = SubscriptionUses()

        package init() {}

        /// Counts those of a container.
        package init(of container: String, in store: any Store) async throws {
            development = try await SubscriptionUses(
                of: ContainerKey(container: container, environment: .development), in: store)
            production = try await SubscriptionUses(
                of: ContainerKey(container: container, environment: .production), in: store)
        }
    }

    /// What a deployment came to.
    package struct Outcome: Sendable, Hashable {
        package var plan: SchemaDeploymentPlan
        /// What was noted; nil where production had everything before.
        package var deployment: SchemaDeployment?
    }

    /// Deploys the schema whole, or not at all: fails with what is refused and why.
    ///
    /// - Parameter author: Who does it, for ``ListDeployments``.
    package static func run(
        _ container: String, by author: String, at now: Instant,
        subscriptions: Subscriptions = Subscriptions(), in transaction: some SchemaWriting
    ) throws -> Outcome {
        let plan = try plan(container, subscriptions, in: transaction)
        if let error = plan.error(container) { throw error }
        guard !plan.changes.isEmpty else { return Outcome(plan: plan) }
        let production = ContainerKey(container: container, environment: .production)
        try transaction.replaceSchema(with: plan.result, in: production)
        let last = try transaction.schemaDeployments(to: production, limit: 1).first
        let deployment = SchemaDeployment(
            number: (last?.number ?? 0) + 1, deployedAt: now.rawValue, author: author,
            changes: lines(of: plan.changes))
        try transaction.appendSchemaDeployment(deployment, to: production, keeping: mostKept)
        return Outcome(plan: plan, deployment: deployment)
    }

    /// Returns what a deployment would do.
    package static func plan(
        _ container: String, _ subscriptions: Subscriptions = Subscriptions(),
        in reader: some SchemaReading
    ) throws -> SchemaDeploymentPlan {
        let (development, production) = (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
        try development.check()
        let deployed = try reader.schemaDefinition(of: production)
        var plan = SchemaDeploymentPlan(
            from: try reader.schemaDefinition(of: development), to: deployed)
        plan.silenced = subscriptions.production.silenced(from: deployed, to: plan.result)
        plan.unserved = subscriptions.development.unserved(by: plan.result)
        plan.differing = try reader.differingPrivateFields(in: development, limit: mostLines)
            .filter { !$0.suits(plan.result) }.map(\.words)
        return plan
    }

    private static func lines(of changes: [SchemaChange]) -> [String] {
        let lines = changes.prefix(mostLines).map(\.line)
        let left = changes.count - lines.count
        return left > 0 ? lines + ["and \(left) more"] : lines
    }
}

extension SchemaDeploymentPlan {
    /// The error that refuses the deployment; nil where it may be done.
    package func error(_ container: String) -> OperatorError? {
        guard let first = refused.first else { return nil }
        let others = refused.count > 1 ? " (and \(refused.count - 1) more)" : ""
        return OperatorError(
            .unsuitable, .schema,
            "Nothing was deployed to \(container): \(first.refusal)\(others).",
            remedy: .showSchemaDifferences(container: container))
    }
}

extension SchemaChange {
    /// Why production cannot have the change, a clause.
    package var refusal: String {
        switch self {
        case .changeField(let name, let type, let old, let new):
            "the field \(type).\(name) is \(SchemaText.typeText(of: old)) in production, where "
                + "records may have it, and cannot become \(SchemaText.typeText(of: new))"
        case .removeField(let name, let type, _):
            "the field \(type).\(name) is deployed to production, and cannot be deleted (ENV-3)"
        case .removeType(let type):
            "the record type \(type) is deployed to production, and cannot be deleted (ENV-3)"
        default: line
        }
    }
}

/// Lists who deployed what to production, and when.
extension ListDeployments {
    /// Returns the deployments of a container that are remembered, newest first.
    package static func run(
        _ container: String, limit: Int = DeploySchema.mostKept, in reader: some SchemaReading
    ) throws -> [SchemaDeployment] {
        let key = ContainerKey(container: container, environment: .production)
        try key.check()
        return try reader.schemaDeployments(to: key, limit: limit)
    }
}
