// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The schema of a container in one environment: its record types, as far as a request asks
/// for them, what the request adds, and whether it may.
///
/// It is read once for a request (``SchemaReading/schema(of:for:)``). The whole of a schema is a
/// ``SchemaDefinition``.
package struct ContainerSchema: Sendable {
    /// The types that schemas do not have to list: users come into being by themselves (ACCT-5).
    private static let everywhere: Set = [Names.userRecordType]

    /// The most names of types that a misspelled one is compared with.
    static let mostCompared = 250

    /// Whose schema it is.
    package let container: ContainerKey
    /// Who owns the database whose records it is asked for; nil for the public one.
    let owner: UserID?
    /// The stored types among those that were asked for.
    let stored: [String: StoredRecordType]
    /// What records of this request, as far as they can be saved, add.
    private(set) var added: [String: StoredRecordType] = [:]
    /// The types among them that are new.
    private(set) var newTypes: Set<String> = []
    /// How many types the container has, as far as that matters for the bound; 0 where the request brings none.
    let typeCount: Int

    /// Creates the schema of a request.
    package init(
        _ stored: [String: StoredRecordType], of container: ContainerKey,
        inDatabaseOf owner: UserID? = nil, typeCount: Int = 0
    ) {
        self.stored = stored
        self.container = container
        self.owner = owner
        self.typeCount = typeCount
    }

    /// Whether saving a record of the type makes it.
    func isNew(_ type: String) -> Bool {
        stored[type] == nil && !newTypes.contains(type) && !Self.everywhere.contains(type)
    }

    /// What a type grants in the public database; what is standard of one that is not known yet.
    func grants(of type: String) -> RecordGrants { stored[type]?.grants ?? .standard }

    /// Notes what a record adds, for those after it in the request.
    mutating func add(_ additions: [String: StoredField], to type: String) {
        if isNew(type) { newTypes.insert(type) }
        guard !additions.isEmpty else { return }
        added[type, default: StoredRecordType()].fields.merge(additions) { first, _ in first }
    }

    /// The type as a query sees it; nil for one that no record ever had.
    func queried(_ type: String) -> RecordType? {
        stored[type].map {
            RecordType(name: type, stored: $0, container: container, mayGrow: false)
        }
    }

    /// The type as a subscription sees it, which waits for records that are yet to come:
    /// also for types and fields, where saving makes them.
    package func awaited(_ type: String) -> RecordType {
        RecordType(
            name: type, stored: stored[type], container: container,
            mayGrow: container.growsBySaving)
    }
}

/// A record type as predicates and sort keys look at it.
package struct RecordType: Sendable, Hashable {
    package let name: String
    /// What the schema knows of it; nil while no record ever had it.
    let stored: StoredRecordType?
    /// Whose schema that is.
    let container: ContainerKey
    /// Whether a field that is not known yet may be asked for: it may come later.
    package let mayGrow: Bool

    /// Its fields; nil while no record ever had it.
    package var fields: [String: StoredField]? { stored?.fields }

    /// What it grants in the public database.
    var grants: RecordGrants { stored?.grants ?? .standard }

    /// What is wrong with asking for a field that no record ever had; nil where it
    /// may come.
    package func problem(withUnknown field: String) -> String? {
        let isSystem = WireFilter.SystemField(rawValue: field) != nil
        guard isSystem || !mayGrow else { return nil }
        // NB: the words are CloudKit's (QUERY-21).
        let problem = "Did not find field: '\(field)' in type '\(name)'"
        if isSystem { return problem + "; for the system field write systemFieldName" }
        let guess = NearName.of(field, among: (fields ?? [:]).keys)
        if let guess { return "\(problem); did you mean '\(guess)'?" }
        return container.growsBySaving ? problem : "\(problem); \(container.deployment)"
    }
}

extension ContainerKey {
    /// Whether the first record with a type, and the first value of a field, make it; otherwise
    /// they are deployed (ENV-1).
    var growsBySaving: Bool { environment == .development }

    /// How what production's schema lacks comes there, a clause.
    package var deployment: String {
        "once development has it, deploy it: tidebell schema deploy \(container)"
    }
}
