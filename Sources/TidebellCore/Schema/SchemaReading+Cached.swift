// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension SchemaReading {
    /// Returns the schema of a call's container with these types, as far as it has them.
    ///
    /// Types that a request before asked for are not read again while the revision stays.
    package func schema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        ContainerSchema(
            try cachedFields(of: types, for: call), growth: call.container.environment.schemaGrowth
        )
    }

    /// The same for a request that may add to it.
    func growingSchema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        let stored = try cachedFields(of: types, for: call)
        return ContainerSchema(
            stored, growth: call.container.environment.schemaGrowth,
            typeCount: stored.count < types.count ? try recordTypeCount(in: call.container) : 0
        )
    }

    private func cachedFields(
        of types: Set<String>, for call: Call
    ) throws -> [String: [String: StoredField]] {
        guard !types.isEmpty else { return [:] }
        let container = call.container
        let revision = try schemaRevision(of: container)
        var fields = call.schemas.fields(of: types, in: container, at: revision)
        let missing = types.subtracting(fields.keys)
        guard !missing.isEmpty else { return fields }
        let read = try self.fields(of: missing, in: container)
        call.schemas.keep(read, in: container, at: revision)
        fields.merge(read) { known, _ in known }
        return fields
    }
}
