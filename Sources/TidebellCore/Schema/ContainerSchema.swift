// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The schema of a container in one environment: its record types, as far as a request asks
/// for them, what the request adds, and whether it may.
///
/// It is read once for a request (``SchemaReading/schema(of:for:)``). Whatever else a schema
/// states about a type, such as indexes and roles, is a further member of ``StoredRecordType``.
package struct ContainerSchema: Sendable {
    /// How a schema comes to new types and fields (ENV-1).
    package enum Growth: Sendable, Hashable {
        /// The first record with a type, and the first value of a field, make it.
        case bySaving
        /// By being deployed alone: saving what is not known fails.
        case byDeployment
    }

    /// The most names of types that a misspelled one is compared with.
    static let mostCompared = 250

    /// How it grows.
    package let growth: Growth
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
        _ stored: [String: StoredRecordType], growth: Growth, typeCount: Int = 0
    ) {
        self.stored = stored
        self.growth = growth
        self.typeCount = typeCount
    }

    /// Notes what a record adds, for those after it in the request.
    mutating func add(_ additions: [String: StoredField], to type: String) {
        if stored[type] == nil { newTypes.insert(type) }
        guard !additions.isEmpty else { return }
        added[type, default: StoredRecordType()].fields.merge(additions) { first, _ in first }
    }

    /// The type as a query sees it; nil for one that no record ever had.
    func queried(_ type: String) -> RecordType? {
        stored[type].map { RecordType(name: type, stored: $0, mayGrow: false) }
    }

    /// The type as a subscription sees it, which waits for records that are yet to come:
    /// also for types and fields, where saving makes them.
    package func awaited(_ type: String) -> RecordType {
        RecordType(name: type, stored: stored[type], mayGrow: growth == .bySaving)
    }
}

/// A record type as predicates and sort keys look at it.
package struct RecordType: Sendable, Hashable {
    package let name: String
    /// What the schema knows of it; nil while no record ever had it.
    let stored: StoredRecordType?
    /// Whether a field that is not known yet may be asked for: it may come later.
    package let mayGrow: Bool

    /// Its fields; nil while no record ever had it.
    package var fields: [String: StoredField]? { stored?.fields }

    /// What is wrong with asking for a field that no record ever had; nil where it
    /// may come.
    package func problem(withUnknown field: String) -> String? {
        let isSystem = WireFilter.SystemField(rawValue: field) != nil
        guard isSystem || !mayGrow else { return nil }
        // NB: the words are CloudKit's (QUERY-21).
        let problem = "Did not find field: '\(field)' in type '\(name)'"
        if isSystem { return problem + "; for the system field write systemFieldName" }
        let guess = NearName.of(field, among: (fields ?? [:]).keys)
        return guess.map { "\(problem); did you mean '\($0)'?" } ?? problem
    }
}

extension CloudEnvironment {
    /// How the schemas of the environment grow.
    ///
    /// NB: CloudKit's production environment grows by deployment alone (ENV-1). Ours does
    /// not refuse what could not be deployed to it: this is the line to change when it can.
    var schemaGrowth: ContainerSchema.Growth { .bySaving }
}
