// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// The record types that the query subscriptions of a pass are about, and the roles of who has them,
/// each read once.
///
/// All within one snapshot.
struct CandidateTypes {
    private struct Key: Hashable {
        var container: ContainerKey
        /// Whose private database it is; nil for the public one.
        var owner: UserID?
        var type: String

        init(_ type: String, in database: DatabaseKey) {
            container = database.container
            owner = database.owner
            self.type = type
        }
    }

    /// Nil for a type that the schema does not have.
    private var known: [Key: StoredRecordType?] = [:]
    private var roles: [UserID: Set<String>] = [:]

    /// Takes out the subscriptions that fire nothing as long as their type's schema is what it is
    /// (SUB-26).
    mutating func removeSilent(
        from candidates: inout [StoredSubscription], in database: DatabaseKey,
        _ reader: some SchemaReading & UserReading
    ) throws {
        let isPublic = database.scope == .public
        let types = Set(
            candidates.lazy.map(\.subscription)
                .filter { $0.kind == .query && (isPublic || !$0.filters.isEmpty) }
                .compactMap(\.recordType))
        guard !types.isEmpty else { return }
        let missing = types.filter { known[Key($0, in: database)] == nil }
        if !missing.isEmpty {
            let found = try reader.recordTypes(
                missing, in: database.container, inDatabaseOf: database.owner)
            for type in missing {
                known.updateValue(found[type], forKey: Key(type, in: database))
            }
        }
        try candidates.removeAll { candidate in
            guard candidate.subscription.kind == .query,
                let name = candidate.subscription.recordType,
                let type = known[Key(name, in: database)] ?? nil
            else { return false }
            if type.indexSilencing(candidate.subscription) != nil { return true }
            guard isPublic, type.grants.mayHide else { return false }
            return try !type.grants.rights(of: roles(of: candidate.user, reader)).contains(.read)
        }
    }

    /// Returns which fields a search of all text looks at, of the record types that one of the
    /// candidates searches; those candidates that ``removeSilent(from:in:_:)`` has left.
    func searchedFields(
        by candidates: [StoredSubscription], in database: DatabaseKey
    ) -> [String: Set<String>] {
        var searched: [String: Set<String>] = [:]
        for candidate in candidates {
            let subscription = candidate.subscription
            guard let name = subscription.recordType, searched[name] == nil,
                subscription.filters.contains(where: { $0.subject == .allText })
            else { continue }
            let key = Key(name, in: database)
            searched[name] = (known[key] ?? nil)?.searchedFields
        }
        return searched
    }

    private mutating func roles(
        of user: UserID, _ reader: some UserReading
    ) throws -> Set<String> {
        if let known = roles[user] { return known }
        let found = try reader.roles(of: user)
            .union([RecordGrants.world, RecordGrants.icloud])
        roles[user] = found
        return found
    }
}
