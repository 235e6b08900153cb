// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension SchemaReading {
    /// Returns the schema of a call's container with these types, as far as it has them.
    ///
    /// Types that a request before asked for are not read again while the revision stays.
    ///
    /// - Parameter owner: Whose private database it is asked for; nil for the public one.
    package func schema(
        of types: Set<String>, inDatabaseOf owner: UserID?, for call: Call
    ) throws -> ContainerSchema {
        ContainerSchema(
            try knownTypes(of: types, inDatabaseOf: owner, for: call), of: call.container,
            inDatabaseOf: owner)
    }

    /// The same for a request that may add to it.
    func growingSchema(
        of types: Set<String>, inDatabaseOf owner: UserID?, for call: Call
    ) throws -> ContainerSchema {
        let stored = try knownTypes(of: types, inDatabaseOf: owner, for: call)
        return ContainerSchema(
            stored, of: call.container, inDatabaseOf: owner,
            typeCount: stored.count < types.count
                ? try recordTypeNames(
                    in: call.container, limit: call.limits.recordTypesPerContainer
                ).count : 0
        )
    }

    /// Returns what is known of the record types, with the types that their fields have in a
    /// private database.
    package func recordTypes(
        _ names: Set<String>, in container: ContainerKey, inDatabaseOf owner: UserID?
    ) throws -> [String: StoredRecordType] {
        try withPrivateFields(
            of: owner, try recordTypes(names, in: container), in: container)
    }

    /// Returns the type that a query is about; fails for one that no record ever had.
    func queriedType(
        _ name: String, inDatabaseOf owner: UserID?, for call: Call
    ) throws -> RecordType {
        let schema = try schema(of: [name], inDatabaseOf: owner, for: call)
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

    private func knownTypes(
        of types: Set<String>, inDatabaseOf owner: UserID?, for call: Call
    ) throws -> [String: StoredRecordType] {
        try withPrivateFields(
            of: owner, try cachedTypes(of: types, for: call), in: call.container)
    }

    private func withPrivateFields(
        of owner: UserID?, _ types: [String: StoredRecordType], in container: ContainerKey
    ) throws -> [String: StoredRecordType] {
        guard let owner else { return types }
        let mixed = Set(types.lazy.filter(\.value.hasPrivateFields).map(\.key))
        guard !mixed.isEmpty else { return types }
        var types = types
        for (type, fields) in try privateFields(of: owner, in: mixed, container) {
            types[type]?.fields.merge(fields) { _, own in own }
        }
        return types
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
