// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives development the schema of a `.ckdb` file (web-services 7).
extension ImportSchema {
    /// What an import came to, or would come to.
    package struct Outcome: Sendable, Hashable {
        package var changes: [SchemaChange]
        /// Subscriptions of development that fire no more, and why, a sentence each (SUB-26).
        package var silenced: [String]

        /// What the operator is warned of, a sentence each.
        package var warnings: [String] { SubscriptionUses.warnings(silenced: silenced) }
    }

    /// Replaces development's schema by the file's, whole or not at all; returns what changed.
    ///
    /// Fails where the file is no schema, or lacks or changes what production has: it could not be
    /// deployed. What development alone had and the file lacks is gone; its records keep their
    /// values, and the name is free for another type.
    ///
    /// - Parameter subscriptions: Those of development.
    package static func run(
        _ text: String, into container: String,
        subscriptions: SubscriptionUses = SubscriptionUses(), limits: Limits,
        in transaction: some SchemaWriting
    ) throws -> Outcome {
        let development = ContainerKey(container: container, environment: .development)
        let (schema, outcome) = try check(
            text, for: container, subscriptions, limits: limits, in: transaction)
        if !outcome.changes.isEmpty {
            try transaction.replaceSchema(with: schema, in: development)
        }
        return outcome
    }

    /// Reads a file.
    package static func parse(_ text: String, limits: Limits) throws(OperatorError) -> ParsedSchema
    {
        do {
            return try SchemaParser.parse(text, limits: limits)
        } catch {
            throw OperatorError(.invalid, .schema, "The schema cannot be read, \(error).")
        }
    }

    /// Returns the schema of a file, and what it changes in development.
    fileprivate static func check(
        _ text: String, for container: String, _ subscriptions: SubscriptionUses, limits: Limits,
        in reader: some SchemaReading
    ) throws -> (schema: SchemaDefinition, outcome: Outcome) {
        let (development, production) = (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
        try development.check()
        var parsed = try parse(text, limits: limits)
        let deployed = try reader.schemaDefinition(of: production)
        // The system's own type stays where a file that was written by hand does not list it.
        if let shares = deployed.types[ShareNames.recordType] {
            parsed.schema.types[ShareNames.recordType, default: shares].fields = [:]
        }
        let losses = SchemaChange.changes(from: deployed, to: parsed.schema).filter(\.losesData)
        if let first = losses.first {
            let position = parsed.position(of: first).map { "\($0): " } ?? ""
            let others = losses.count > 1 ? " (and \(losses.count - 1) more)" : ""
            throw OperatorError(
                .unsuitable, .schema,
                "Nothing was imported into \(container): \(position)\(first.refusal)\(others).")
        }
        let before = try reader.schemaDefinition(of: development)
        return (
            parsed.schema,
            Outcome(
                changes: SchemaChange.changes(from: before, to: parsed.schema),
                silenced: subscriptions.silenced(from: before, to: parsed.schema))
        )
    }
}

extension ValidateSchema {
    /// Returns what an import would change; fails as it would.
    package static func run(
        _ text: String, for container: String,
        subscriptions: SubscriptionUses = SubscriptionUses(), limits: Limits,
        in reader: some SchemaReading
    ) throws -> ImportSchema.Outcome {
        try ImportSchema.check(text, for: container, subscriptions, limits: limits, in: reader)
            .outcome
    }
}

extension ParsedSchema {
    /// Where in the file a change would have to be undone; nil for what the file lacks.
    fileprivate func position(of change: SchemaChange) -> SchemaPosition? {
        switch change {
        case .changeField(let name, let type, _, _): fields[type]?[name]
        case .removeField(_, let type, _): types[type]
        default: nil
        }
    }
}

/// Compares the schemas of a container's environments, or one of them with a file.
extension DiffSchema {
    /// Returns what development has that production lacks, and the other way.
    package static func run(
        _ container: String, subscriptions: DeploySchema.Subscriptions = .init(),
        in reader: some SchemaReading
    ) throws -> SchemaDeploymentPlan {
        try DeploySchema.plan(container, subscriptions, in: reader)
    }
}
