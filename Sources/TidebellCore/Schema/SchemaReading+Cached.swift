// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension SchemaReading {
    /// Returns the schema of a call's container with these types, as far as it has them.
    ///
    /// Types that a request before asked for are not read again while the revision stays.
    package func schema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        ContainerSchema(
            try cachedTypes(of: types, for: call), growth: call.container.environment.schemaGrowth
        )
    }

    /// The same for a request that may add to it.
    func growingSchema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        let stored = try cachedTypes(of: types, for: call)
        return ContainerSchema(
            stored, growth: call.container.environment.schemaGrowth,
            typeCount: stored.count < types.count ? try recordTypeCount(in: call.container) : 0
        )
    }

    private func cachedTypes(
        of types: Set<String>, for call: Call
    ) throws -> [String: StoredRecordType] {
        guard !types.isEmpty else { return [:] }
        let container = call.container
        let revision = try schemaRevision(of: container)
        var found = call.schemas.recordTypes(types, in: container, at: revision)
        let missing = types.subtracting(found.keys)
        guard !missing.isEmpty else { return found }
        let read = try recordTypes(missing, in: container)
        call.schemas.keep(read, in: container, at: revision)
        found.merge(read) { known, _ in known }
        return found
    }
}
