// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// All that a container has in one environment beside data: its roles and record types.
package struct SchemaDefinition: Sendable, Hashable {
    /// The container's own roles; those of the system are everywhere.
    package var roles: Set<String>
    /// By name.
    package var types: [String: StoredRecordType]

    package init(roles: Set<String> = [], types: [String: StoredRecordType] = [:]) {
        self.roles = roles
        self.types = types
    }
}

/// What a container's schema states of a record type.
package struct StoredRecordType: Sendable, Hashable {
    /// By name; of a type of which no record ever had a field, none.
    package var fields: [String: StoredField]
    /// What is indexed of the fields that every record has; nil where nobody stated it.
    ///
    /// NB: nil is all of it (QUERY-15), and yet another thing than stating all of it: where Apple's
    /// rules are enforced, a query that every record passes needs an index that was stated, since
    /// CloudKit gives none by itself (``AppleRules``).
    package var systemIndexes: [SchemaSystemField: FieldIndexes]?
    /// Who may do what with its records in the public database.
    package var grants: RecordGrants
    /// Whether fields have other types than these in the private databases of some users
    /// (``StoredField/fixedBy``).
    package var hasPrivateFields = false

    package init(
        fields: [String: StoredField] = [:],
        systemIndexes: [SchemaSystemField: FieldIndexes]? = nil,
        grants: RecordGrants = .standard
    ) {
        self.fields = fields
        self.systemIndexes = systemIndexes
        self.grants = grants
    }

    /// What is indexed of a field that every record has.
    package func indexes(of field: SchemaSystemField) -> FieldIndexes {
        guard let systemIndexes else { return field.allIndexes }
        return systemIndexes[field] ?? []
    }
}

/// What a container's schema states of a field.
package struct StoredField: Sendable, Hashable {
    package var type: FieldType
    /// Whether its values are stored encrypted (REC-11).
    package var isEncrypted: Bool
    /// What queries can ask of it.
    package var indexes: FieldIndexes
    /// The user whose private records alone have had the field: until it is in the public database or
    /// was imported, its type binds nobody else's. Nil where it binds everybody.
    package var fixedBy: UserID?

    /// Creates a field.
    ///
    /// - Parameter indexes: nil for all that its type can have, as a field gets them that is made
    ///   by its first value (QUERY-15).
    package init(
        _ type: FieldType, isEncrypted: Bool = false, indexes: FieldIndexes? = nil,
        fixedBy: UserID? = nil
    ) {
        self.type = type
        self.isEncrypted = isEncrypted
        self.indexes = indexes ?? (isEncrypted ? [] : .all(of: type))
        self.fixedBy = fixedBy
    }

    /// Whether the type binds the records of a database.
    ///
    /// - Parameter owner: The database's; nil for the public one.
    func binds(databaseOf owner: UserID?) -> Bool { fixedBy == nil || fixedBy == owner }
}

/// A field that has another type in private databases than in the schema.
package struct DifferingPrivateField: Sendable, Hashable {
    package var recordType: String
    package var field: String
    /// What it is there.
    package var type: FieldType
    package var isEncrypted: Bool
    /// How many users have it so.
    package var users: Int

    package init(
        recordType: String, field: String, type: FieldType, isEncrypted: Bool, users: Int
    ) {
        self.recordType = recordType
        self.field = field
        self.type = type
        self.isEncrypted = isEncrypted
        self.users = users
    }

    /// Whether records as these users have them could be saved by a schema.
    package func suits(_ schema: SchemaDefinition) -> Bool {
        let known = schema.types[recordType]?.fields[field]
        return known?.holdsTheSame(as: StoredField(type, isEncrypted: isEncrypted)) ?? false
    }

    /// What differs, such as `the field Note.size as INT64, which it is in private records of 2 users`.
    package var words: String {
        let field = StoredField(type, isEncrypted: isEncrypted)
        return "the field \(recordType).\(SchemaText.quoted(self.field)) as "
            + "\(SchemaText.typeText(of: field)), which it is in private records of "
            + "\(users == 1 ? "one user" : "\(users) users")"
    }
}

/// What of a field is indexed, which is what queries can ask of it (QUERY-14); numbers are those
/// of stores.
package struct FieldIndexes: OptionSet, Sendable, Hashable {
    package var rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Whether it is equal, or among others.
    package static let queryable = FieldIndexes(rawValue: 1)
    /// Whether it stands before another, and the order of what is found.
    package static let sortable = FieldIndexes(rawValue: 2)
    /// Which words are in it.
    package static let searchable = FieldIndexes(rawValue: 4)

    /// The indexes with their words in the schema language, in its order.
    package static let words: [(index: FieldIndexes, word: String)] = [
        (.queryable, "QUERYABLE"), (.sortable, "SORTABLE"), (.searchable, "SEARCHABLE"),
    ]

    /// All that fields of a type can have, unless they are encrypted.
    package static func all(of type: FieldType) -> FieldIndexes {
        switch type {
        case .asset, .assetList: []
        case .string: [.queryable, .sortable, .searchable]
        case .stringList: [.queryable, .searchable]
        case .int64, .double, .timestamp, .location: [.queryable, .sortable]
        default: .queryable
        }
    }

    /// The words of the schema language, such as `QUERYABLE SORTABLE`.
    package var text: String {
        Self.words.filter { contains($0.index) }.map(\.word).joined(separator: " ")
    }
}

/// The fields that records of every type have, by their names in schemas (web-services 7).
package enum SchemaSystemField: String, Sendable, Hashable, CaseIterable {
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case etag = "___etag"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case recordID = "___recordID"

    /// Creates the field that a filter or a sort key names; nil for one that schemas do not list,
    /// and which can always be asked for.
    package init?(_ field: WireFilter.SystemField) {
        self.init(rawValue: field.schemaName)
    }

    /// The type that schemas give it.
    package var type: FieldType {
        switch self {
        case .createTime, .modTime: .timestamp
        case .createdBy, .modifiedBy, .recordID: .reference
        case .etag: .string
        }
    }

    /// All that can be indexed of it.
    package var allIndexes: FieldIndexes {
        switch self {
        case .createTime, .modTime, .recordID: [.queryable, .sortable]
        case .createdBy, .modifiedBy: .queryable
        case .etag: []
        }
    }
}

/// What a role may do with the records of a type; numbers are those of stores.
package struct RecordRights: OptionSet, Sendable, Hashable {
    package var rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let read = RecordRights(rawValue: 1)
    package static let create = RecordRights(rawValue: 2)
    package static let write = RecordRights(rawValue: 4)

    /// The rights with their words in the schema language, in its order.
    package static let words: [(right: RecordRights, word: String)] = [
        (.read, "READ"), (.create, "CREATE"), (.write, "WRITE"),
    ]

    /// The words of the schema language, such as `READ, WRITE`.
    package var text: String {
        Self.words.filter { contains($0.right) }.map(\.word).joined(separator: ", ")
    }
}

/// Which roles may do what with the records of a type, in the public database (ACCT-7).
package struct RecordGrants: Sendable, Hashable {
    /// Everybody, signed in or not.
    package static let world = "_world"
    /// Everybody who is signed in.
    package static let icloud = "_icloud"
    /// Who created the record.
    package static let creator = "_creator"
    /// The roles that every container has.
    package static let systemRoles: Set = [world, icloud, creator]

    /// What a type has about which nobody stated anything: everybody reads, who is signed in
    /// creates, and the creator writes.
    package static let standard = RecordGrants([
        world: .read, icloud: .create, creator: .write,
    ])

    /// By role; without those that may do nothing.
    package private(set) var rights: [String: RecordRights]

    package init(_ rights: [String: RecordRights]) {
        self.rights = rights.filter { !$0.value.isEmpty }
    }

    package subscript(role: String) -> RecordRights {
        get { rights[role] ?? [] }
        set { rights[role] = newValue.isEmpty ? nil : newValue }
    }

    /// Whether there can be users who may not read every record.
    package var mayHide: Bool {
        !rights(of: [Self.world, Self.icloud]).contains(.read)
    }

    /// What the roles may do together.
    package func rights(of roles: some Sequence<String>) -> RecordRights {
        roles.reduce(into: []) { $0.formUnion(self[$1]) }
    }
}
