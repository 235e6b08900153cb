// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What records bring that their container's schema lacks (ENV-1).
///
/// The schema is the container's and a record is a database's, so they are two steps, the schema
/// first. What is added twice is there once; where the records are not saved after all, a schema
/// has grown that may grow by anybody's save.
package struct SchemaGrowth: Sendable, Hashable {
    let container: ContainerKey
    /// The new types, and types with what is new of them.
    let types: [String: StoredRecordType]

    /// Adds to the schema what it lacks.
    func run(in transaction: some SchemaWriting) throws {
        try transaction.addRecordTypes(types, in: container)
    }

    /// Does the same as the next step of a write.
    package func run(as steps: some StoreSteps) throws {
        try steps.write(.catalogue(container)) { try run(in: $0) }
    }
}
