// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The record types of a container, their fields, and what is stated of both (ENV-1).
package protocol SchemaReading {
    /// Returns what is known of the record types of these names; one that the schema
    /// does not have is absent (ENV-1).
    func recordTypes(
        _ names: Set<String>, in container: ContainerKey
    ) throws -> [String: StoredRecordType]

    /// Returns the fields of the types whose own types bind the private database of a user, where
    /// they are not the schema's (``StoredField/fixedBy``).
    func privateFields(
        of user: UserID, in types: Set<String>, _ container: ContainerKey
    ) throws -> [String: [String: StoredField]]

    /// Returns which fields have other types in private databases than in the schema, each with how
    /// many users have it so; in order, no more than the limit.
    func differingPrivateFields(
        in container: ContainerKey, limit: Int
    ) throws -> [DifferingPrivateField]

    /// Returns all types and roles of a container; a schema of nothing where it has none.
    func schemaDefinition(of container: ContainerKey) throws -> SchemaDefinition

    /// Returns what the schema of a container is known by.
    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision

    /// Returns the names of a container's record types, in order, no more than the limit.
    func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String]

    /// Returns the last deployments to a container, newest first, no more than the limit.
    func schemaDeployments(to container: ContainerKey, limit: Int) throws -> [SchemaDeployment]

    /// Returns what queries and subscriptions of a container asked for last, no more than the limit.
    func queryUses(in container: ContainerKey, limit: Int) throws -> [QueryUse]
}

/// The schema of a container changes.
package protocol SchemaWriting: SchemaReading {
    /// Adds types, and fields of types, that a container's schema lacks; those it
    /// knows stay as they are. The schema has a new revision, drawn by chance.
    ///
    /// A field that one user has fixed privately (``StoredField/fixedBy``) gives way to one that
    /// binds everybody; beside one that another user fixes privately, both have their own.
    func addRecordTypes(
        _ types: [String: StoredRecordType], in container: ContainerKey
    ) throws

    /// Gives a container another schema in place of the one it has, which binds everybody. It has a
    /// new revision, drawn by chance.
    func replaceSchema(with schema: SchemaDefinition, in container: ContainerKey) throws

    /// Notes what queries and subscriptions of a container asked for, each once, and forgets those
    /// before the newest `kept`.
    func noteQueryUses(
        _ uses: [QueryUse], in container: ContainerKey, at now: Instant, keeping kept: Int
    ) throws

    /// Notes a deployment to a container, and forgets those before the newest `kept`.
    func appendSchemaDeployment(
        _ deployment: SchemaDeployment, to container: ContainerKey, keeping kept: Int
    ) throws
}
