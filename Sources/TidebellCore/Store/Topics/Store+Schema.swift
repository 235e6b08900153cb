// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The record types of a container and their fields (ENV-1).
package protocol SchemaReading {
    /// Returns the known fields of these record types; a type that no record
    /// ever had is absent (ENV-1).
    func fields(
        of recordTypes: Set<String>,
        in container: ContainerKey
    ) throws -> [String: [String: StoredField]]

    /// Returns what the schema of a container is known by.
    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision

    /// How many record types a container has.
    func recordTypeCount(in container: ContainerKey) throws -> Int
}

/// The schema of a container grows.
package protocol SchemaWriting: SchemaReading {
    /// Adds fields (and with them types) that a container's schema lacks; those it
    /// knows stay as they are. The schema has a new revision, drawn by chance.
    func addFields(_ fields: [String: [String: StoredField]], in container: ContainerKey) throws
}
