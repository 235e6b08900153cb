// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension SchemaReading {
    /// Returns the schema of a call's container with these types, as far as it has them.
    ///
    /// Types that a request before asked for are not read again while the revision stays.
    package func schema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        ContainerSchema(try cachedTypes(of: types, for: call), of: call.container)
    }

    /// The same for a request that may add to it.
    func growingSchema(of types: Set<String>, for call: Call) throws -> ContainerSchema {
        let stored = try cachedTypes(of: types, for: call)
        return ContainerSchema(
            stored, of: call.container,
            typeCount: stored.count < types.count
                ? try recordTypeNames(
                    in: call.container, limit: call.limits.recordTypesPerContainer
                ).count : 0
        )
    }

    /// Returns the type that a query is about; fails for one that no record ever had.
    func queriedType(_ name: String, for call: Call) throws -> RecordType {
        let schema = try schema(of: [name], for: call)
        if let type = schema.queried(name) { return type }
        // NB: the words are CloudKit's (QUERY-20).
        let problem = "Did not find record type: \(WireError.shortened(name))"
        let guess = NearName.of(
            name,
            among: try recordTypeNames(in: call.container, limit: ContainerSchema.mostCompared))
        if let guess { throw WireError(.notFound, "\(problem); did you mean '\(guess)'?") }
        let advice = schema.container.growsBySaving ? "" : "; \(schema.container.deployment)"
        throw WireError(.notFound, problem + advice)
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
