// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives development the schema of a `.ckdb` file (web-services 7).
extension ImportSchema {
    /// Replaces development's schema by the file's, whole or not at all; returns what changed.
    ///
    /// Fails where the file is no schema, or lacks or changes what production has: it could not be
    /// deployed. What development alone had and the file lacks is gone; its records keep their
    /// values, and the name is free for another type.
    package static func run(
        _ text: String, into container: String, limits: Limits, in transaction: some SchemaWriting
    ) throws -> [SchemaChange] {
        let development = ContainerKey(container: container, environment: .development)
        let (schema, changes) = try check(text, for: container, limits: limits, in: transaction)
        if !changes.isEmpty { try transaction.replaceSchema(with: schema, in: development) }
        return changes
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
        _ text: String, for container: String, limits: Limits, in reader: some SchemaReading
    ) throws -> (schema: SchemaDefinition, changes: [SchemaChange]) {
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
        return (parsed.schema, SchemaChange.changes(from: before, to: parsed.schema))
    }
}

extension ValidateSchema {
    /// Returns what an import would change; fails as it would.
    package static func run(
        _ text: String, for container: String, limits: Limits, in reader: some SchemaReading
    ) throws -> [SchemaChange] {
        try ImportSchema.check(text, for: container, limits: limits, in: reader).changes
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
        _ container: String, in reader: some SchemaReading
    ) throws -> SchemaDeploymentPlan {
        try DeploySchema.plan(container, in: reader)
    }
}

/// Gives development the schema that production has (ENV-8).
extension ResetSchema {
    /// Replaces development's schema; returns what changed.
    package static func run(
        _ container: String, in transaction: some SchemaWriting
    ) throws -> [SchemaChange] {
        let (development, production) = (
            ContainerKey(container: container, environment: .development),
            ContainerKey(container: container, environment: .production)
        )
        try development.check()
        let deployed = try transaction.schemaDefinition(of: production)
        let changes = SchemaChange.changes(
            from: try transaction.schemaDefinition(of: development), to: deployed)
        if !changes.isEmpty { try transaction.replaceSchema(with: deployed, in: development) }
        return changes
    }
}
