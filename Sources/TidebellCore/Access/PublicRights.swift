// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a caller may do with records of the public database: what a record's type grants to the
/// roles that they have (ACCT-7).
struct PublicRights {
    /// Nil for a caller who is not signed in.
    private let user: StoredUser?
    private let roles: Set<String>

    /// Finds out the caller's roles; those of the container's own only where a type grants
    /// something to one.
    init(
        of user: StoredUser?, among grants: some Sequence<RecordGrants>,
        in reader: some UserReading
    ) throws {
        self.user = user
        guard let user else {
            roles = [RecordGrants.world]
            return
        }
        let hasOwn = grants.contains {
            !RecordGrants.systemRoles.isSuperset(of: $0.rights.keys)
        }
        let own = hasOwn ? try reader.roles(of: user.id) : []
        roles = own.union([RecordGrants.world, RecordGrants.icloud])
    }

    /// What the caller may do with every record of a type.
    func rights(by grants: RecordGrants) -> RecordRights { grants.rights(of: roles) }

    /// What the caller may do with a record.
    func rights(over record: StoredRecord, by grants: RecordGrants) -> RecordRights {
        rights(by: grants).union(isCreator(of: record) ? grants[RecordGrants.creator] : [])
    }

    /// Whether the caller may read a record.
    func mayRead(_ record: StoredRecord, by grants: RecordGrants) -> Bool {
        rights(over: record, by: grants).contains(.read)
    }

    /// Whether the caller created the record.
    func isCreator(of record: StoredRecord) -> Bool {
        user.map { $0.recordName == record.created.userRecordName } ?? false
    }

    /// Fails unless the caller may change or delete the record.
    func checkWriting(over record: StoredRecord, by grants: RecordGrants) throws {
        guard !rights(over: record, by: grants).contains(.write) else { return }
        let name = WireError.shortened(record.name)
        throw WireError(
            .accessDenied,
            "WRITE operation not permitted: record '\(name)' "
                + (isCreator(of: record)
                    ? "is of the type '\(record.type)', which grants no WRITE to its creator"
                    : "was created by another user")
        )
    }

    /// Fails unless the caller may create records of the type.
    func checkCreating(_ type: String, by grants: RecordGrants) throws {
        guard !rights(by: grants).contains(.create) else { return }
        throw WireError(
            .accessDenied,
            "CREATE operation not permitted: the record type '\(WireError.shortened(type))' grants "
                + "it to \(grants.holders(of: .create))"
        )
    }
}

extension ZoneAccess {
    /// Returns of which records of the public database the caller may not know more than that they
    /// are there, and the error of each (ACCT-7).
    func unreadable(
        _ records: some Collection<StoredRecord>, for call: Call,
        in reader: some SchemaReading & UserReading
    ) throws -> [String: WireError] {
        guard rights == .byGrants, !records.isEmpty else { return [:] }
        let schema = try reader.schema(
            of: Set(records.map(\.type)), inDatabaseOf: nil, for: call)
        let rights = try PublicRights(
            of: call.user, among: records.map { schema.grants(of: $0.type) }, in: reader)
        var errors: [String: WireError] = [:]
        for record in records {
            let grants = schema.grants(of: record.type)
            guard !rights.mayRead(record, by: grants) else { continue }
            errors[record.name] = .notReadable(record.type, grants)
        }
        return errors
    }
}

extension RecordGrants {
    /// Who has a right, as an error names them.
    func holders(of right: RecordRights) -> String {
        let holders = rights.filter { $0.value.contains(right) }.keys.sorted()
        return holders.isEmpty ? "nobody" : "the roles " + holders.joined(separator: ", ")
    }
}

extension WireError {
    /// A caller may not read the records of a type, or one of them.
    static func notReadable(_ type: String, _ grants: RecordGrants) -> WireError {
        WireError(
            .accessDenied,
            "READ operation not permitted: the record type '\(shortened(type))' grants it to "
                + grants.holders(of: .read))
    }
}
