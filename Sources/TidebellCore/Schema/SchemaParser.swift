// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A schema as a file states it, and where it states what.
package struct ParsedSchema: Sendable, Hashable {
    package var schema = SchemaDefinition()
    /// Where each type is.
    package var types: [String: SchemaPosition] = [:]
    /// Where each field is, by type and name.
    package var fields: [String: [String: SchemaPosition]] = [:]
}

/// Reads the CloudKit Schema Language (web-services 7).
///
/// Keywords are read in any case; what a file does not mention of the fields that every record
/// has is not indexed, and a role without a grant may do nothing, as CloudKit's import has it.
package struct SchemaParser {
    /// The longest file that is read.
    package static let mostBytes = 4 << 20
    /// The most roles of a container.
    package static let mostRoles = 100

    /// The field of users' records that every schema has.
    static let rolesField = "roles"
    /// The keywords that can stand where a name can; a name that is one of them is quoted.
    static let reservedWords: Set = ["GRANT", "PREFERRED", "QUERYABLE", "SORTABLE", "SEARCHABLE"]
    private static let types: [String: FieldType] = Dictionary(
        uniqueKeysWithValues: FieldType.allCases.filter { $0.element == nil }
            .map { ($0.schemaWord, $0) })

    private var lexer: SchemaLexer
    private var token = SchemaLexer.Token.end
    private var position = SchemaPosition(line: 1, column: 1)
    private let limits: Limits
    private var parsed = ParsedSchema()

    /// Reads a file; fails at the first thing in it that is wrong.
    package static func parse(
        _ text: String, limits: Limits = Limits()
    ) throws(SchemaSyntaxError) -> ParsedSchema {
        guard text.utf8.count <= mostBytes else {
            throw SchemaSyntaxError(
                SchemaPosition(line: 1, column: 1),
                "the schema takes \(text.utf8.count) bytes of at most \(mostBytes)")
        }
        var parser = SchemaParser(lexer: SchemaLexer(text), limits: limits)
        try parser.readSchema()
        return parser.parsed
    }

    private init(lexer: SchemaLexer, limits: Limits) {
        self.lexer = lexer
        self.limits = limits
    }

    private mutating func readSchema() throws(SchemaSyntaxError) {
        try advance()
        try expect("DEFINE")
        try expect("SCHEMA")
        while try take("CREATE") {
            try expect("ROLE")
            try readRole()
        }
        while try take("RECORD") {
            try expect("TYPE")
            try readType()
        }
        guard token == .end else { throw expected("RECORD TYPE or the end of the file") }
    }

    private mutating func readRole() throws(SchemaSyntaxError) {
        let start = position
        let role = try readName("the name of a role")
        guard Identifier.isField(role), role.utf8.count <= limits.nameLength else {
            throw SchemaSyntaxError(
                start,
                "a role of a container is a letter followed by letters, digits and underscores; "
                    + "_world, _icloud and _creator are there without being created")
        }
        guard parsed.schema.roles.insert(role).inserted else {
            throw SchemaSyntaxError(start, "the role \(role) stands here twice")
        }
        guard parsed.schema.roles.count <= Self.mostRoles else {
            throw SchemaSyntaxError(start, "more than \(Self.mostRoles) roles")
        }
        try expect(";")
    }

    private mutating func readType() throws(SchemaSyntaxError) {
        let start = position
        let name = try readName("the name of a record type")
        let isSystem = name == ShareNames.recordType || name == Names.userRecordType
        guard isSystem || Identifier.isField(name) && name.utf8.count <= limits.nameLength else {
            throw SchemaSyntaxError(
                start,
                "a record type is a letter followed by letters, digits and underscores, at most "
                    + "\(limits.nameLength) characters")
        }
        guard parsed.types.updateValue(start, forKey: name) == nil else {
            throw SchemaSyntaxError(start, "the record type \(name) stands here twice")
        }
        let count = parsed.types.keys.count { $0 != Names.userRecordType }
        guard count <= limits.recordTypesPerContainer else {
            throw SchemaSyntaxError(
                start, "more than \(limits.recordTypesPerContainer) record types")
        }
        var type = StoredRecordType(systemIndexes: [:], grants: RecordGrants([:]))
        try expect("(")
        if token != .mark(")") {
            repeat {
                if try take("GRANT") {
                    try readGrant(of: &type)
                } else {
                    try readField(of: &type, named: name)
                }
            } while try take(",")
        }
        guard try take(")") else {
            throw expected("',' or ')', or QUERYABLE, SORTABLE, SEARCHABLE")
        }
        try expect(";")
        // Users are there with nothing stated.
        guard name != Names.userRecordType || !type.fields.isEmpty else { return }
        parsed.schema.types[name] = type
    }

    private mutating func readGrant(
        of type: inout StoredRecordType
    ) throws(SchemaSyntaxError) {
        var rights: RecordRights = []
        repeat {
            guard let right = RecordRights.words.first(where: { isWord($0.word) })?.right else {
                throw expected("READ, CREATE or WRITE")
            }
            rights.formUnion(right)
            try advance()
        } while try take(",")
        try expect("TO")
        let start = position
        let role = try readName("the name of a role")
        guard RecordGrants.systemRoles.contains(role) || parsed.schema.roles.contains(role) else {
            throw SchemaSyntaxError(
                start,
                "there is no role \(role); write CREATE ROLE \(role); before the record types, or "
                    + "grant to \"_world\", \"_icloud\" or \"_creator\"")
        }
        type.grants[role].formUnion(rights)
    }

    private mutating func readField(
        of type: inout StoredRecordType, named typeName: String
    ) throws(SchemaSyntaxError) {
        let start = position
        let name = try readName("a field or GRANT")
        let typeStart = position
        let (fieldType, isEncrypted) = try readFieldType()
        var indexes: FieldIndexes = []
        while let word = FieldIndexes.words.first(where: { isWord($0.word) }) {
            guard !isEncrypted else {
                throw SchemaSyntaxError(
                    position, "the field \(name) is encrypted, and cannot be \(word.word)")
            }
            indexes.formUnion(word.index)
            try advance()
        }
        let field = StoredField(fieldType, isEncrypted: isEncrypted, indexes: indexes)
        guard parsed.fields[typeName, default: [:]].updateValue(start, forKey: name) == nil else {
            throw SchemaSyntaxError(start, "the field \(name) stands in \(typeName) twice")
        }
        if let system = SchemaSystemField(rawValue: name) {
            guard fieldType == system.type, !isEncrypted else {
                throw SchemaSyntaxError(
                    typeStart, "the field \(name) is of type \(system.type.rawValue)")
            }
            type.systemIndexes?[system] = indexes
            return
        }
        // What the system's own types have beside that is not for schemas to state.
        if typeName == ShareNames.recordType
            || typeName == Names.userRecordType && name == Self.rolesField
        {
            return
        }
        guard Identifier.isField(name), name.utf8.count <= limits.nameLength else {
            throw SchemaSyntaxError(
                start,
                "a field is a letter followed by letters, digits and underscores, at most "
                    + "\(limits.nameLength) characters; the system's are "
                    + SchemaSystemField.allCases.map(\.rawValue).joined(separator: ", "))
        }
        type.fields[name] = field
        guard type.fields.count <= limits.fieldsPerType else {
            throw SchemaSyntaxError(
                start, "more than \(limits.fieldsPerType) fields in \(typeName)")
        }
    }

    private mutating func readFieldType() throws(SchemaSyntaxError) -> (FieldType, Bool) {
        guard try take("LIST") else { return try readElementType() }
        try expect("<")
        let start = position
        let (element, isEncrypted) = try readElementType()
        guard let list = FieldType.allCases.first(where: { $0.element == element }) else {
            throw SchemaSyntaxError(start, "there are no lists of \(element.schemaWord)")
        }
        try expect(">")
        return (list, isEncrypted)
    }

    private mutating func readElementType() throws(SchemaSyntaxError) -> (FieldType, Bool) {
        let isEncrypted = try take("ENCRYPTED")
        if try take("NUMBER") {
            // NB: what is a whole number and what is not can be kept as a DOUBLE.
            guard try take("PREFERRED") else { return (.double, isEncrypted) }
            try expect("AS")
            if try take("INT64") { return (.int64, isEncrypted) }
            try expect("DOUBLE")
            return (.double, isEncrypted)
        }
        guard case .word(let word) = token, let type = Self.types[word.uppercased()] else {
            throw unknownType()
        }
        guard !(isEncrypted && (type == .asset || type == .reference)) else {
            throw SchemaSyntaxError(position, "\(type.schemaWord) fields cannot be encrypted")
        }
        try advance()
        return (type, isEncrypted)
    }

    private func unknownType() -> SchemaSyntaxError {
        let all = Self.types.keys.sorted() + ["LIST<...>", "ENCRYPTED ..."]
        let error = expected("a type: " + all.joined(separator: ", "))
        guard case .word(let word) = token,
            let near = NearName.of(word, among: Self.types.keys)
        else { return error }
        return SchemaSyntaxError(position, "\(error.problem); did you mean \(near)?")
    }

    // MARK: Tokens

    private mutating func advance() throws(SchemaSyntaxError) {
        (token, position) = try lexer.next()
    }

    private func isWord(_ word: String) -> Bool {
        switch token {
        case .word(let found): found.uppercased() == word
        case .mark(let mark): String(mark) == word
        case .quoted, .end: false
        }
    }

    /// Takes the word or mark if it comes next.
    private mutating func take(_ word: String) throws(SchemaSyntaxError) -> Bool {
        guard isWord(word) else { return false }
        try advance()
        return true
    }

    private mutating func expect(_ word: String) throws(SchemaSyntaxError) {
        guard isWord(word) else {
            throw expected(word.count == 1 ? "'\(word)'" : word)
        }
        try advance()
    }

    private mutating func readName(_ what: String) throws(SchemaSyntaxError) -> String {
        let name: String
        switch token {
        case .quoted(let text): name = text
        case .word(let text) where !Self.reservedWords.contains(text.uppercased()): name = text
        case .word(let text):
            throw SchemaSyntaxError(
                position,
                "expected \(what), found the keyword \(text); a name is quoted: \"\(text)\"")
        default: throw expected(what)
        }
        try advance()
        return name
    }

    private func expected(_ what: String) -> SchemaSyntaxError {
        SchemaSyntaxError(position, "expected \(what), found \(WireError.shortened(token.text))")
    }
}
