// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The record types of a container and their fields (ENV-1).
package protocol SchemaReading {
    /// Returns what is known of the record types of these names; one that no record
    /// ever had is absent (ENV-1).
    func recordTypes(
        _ names: Set<String>, in container: ContainerKey
    ) throws -> [String: StoredRecordType]

    /// Returns what the schema of a container is known by.
    func schemaRevision(of container: ContainerKey) throws -> SchemaRevision

    /// Returns the names of a container's record types, in order, no more than the limit.
    func recordTypeNames(in container: ContainerKey, limit: Int) throws -> [String]
}

/// The schema of a container grows.
package protocol SchemaWriting: SchemaReading {
    /// Adds types, and fields of types, that a container's schema lacks; those it
    /// knows stay as they are. The schema has a new revision, drawn by chance.
    func addRecordTypes(
        _ types: [String: StoredRecordType], in container: ContainerKey
    ) throws
}
