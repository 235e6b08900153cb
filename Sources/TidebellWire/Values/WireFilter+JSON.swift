// SPDX-License-Identifier: Apache-2.0

extension WireFilter {
    /// Reads a filter; whether it makes sense is for the rules to decide.
    ///
    /// Without `fieldName` and `systemFieldName` it looks at all text (an
    /// extension, ``Subject/allText``).
    package init(from reader: inout JSONReader) throws {
        var comparator: Comparator?
        var subject: Subject?
        var hasEmptyName = false
        var operand: (value: FieldValue?, isTagged: Bool) = (nil, false)
        var distance: Double?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "comparator":
                let text = try reader.readName()
                comparator = Comparator(name: text)
                guard comparator != nil else { throw JSONError("unknown comparator \"\(text)\"") }
            case "fieldName", "systemFieldName":
                guard let text = try reader.readNameIfAny() else {
                    hasEmptyName = true
                    return
                }
                guard subject == nil else {
                    throw JSONError("a filter has one of fieldName and systemFieldName")
                }
                subject =
                    try name == "fieldName"
                    ? Subject(fieldName: text) : Subject(systemFieldName: text)
            case "fieldValue":
                let (field, isTagged) = try Field.readTagged(from: &reader)
                operand = (field?.value, isTagged)
            case "distance": distance = try reader.readDouble()
            default: try reader.skipValue()
            }
        }
        guard let comparator else { throw JSONError("missing required field 'comparator'") }
        guard subject != nil || !hasEmptyName else { throw JSONError("the field's name is empty") }
        guard let value = operand.value else {
            throw JSONError("missing required field 'fieldValue'")
        }
        if comparator.operand == .choices, case .list = value, !operand.isTagged {
            // NB: what CloudKit answers (web-services 4.5).
            throw JSONError(
                "Unexpected input: the fieldValue of \(comparator.rawValue) needs the type of its "
                    + "list, such as STRING_LIST"
            )
        }
        self.init(comparator, subject ?? .allText, value, distance: distance)
    }

    /// Writes the filter.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("comparator", comparator.rawValue)
            subject.write(to: &writer)
            writer.key("fieldValue")
            Field(value).write(to: &writer)
            if let distance {
                writer.key("distance")
                writer.number(distance)
            }
        }
    }
}

extension WireFilter.Subject {
    /// The subject a `fieldName` names: a field, or a system field by the name
    /// it has in schemas.
    package init(fieldName: String) {
        let system = WireFilter.SystemField.allCases.first { $0.schemaName == fieldName }
        self = system.map(Self.system) ?? .field(fieldName)
    }

    /// The subject a `systemFieldName` names, by either of the names a system
    /// field has.
    init(systemFieldName: String) throws {
        let field =
            WireFilter.SystemField(rawValue: systemFieldName)
            ?? WireFilter.SystemField.allCases.first { $0.schemaName == systemFieldName }
        guard let field else { throw JSONError("unknown system field \"\(systemFieldName)\"") }
        self = .system(field)
    }

    /// Writes the member that names the subject; all text has none.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .field(let name): writer.member("fieldName", name)
        case .system(let field): writer.member("systemFieldName", field.rawValue)
        case .allText: break
        }
    }

    /// The subject's name as clients write it.
    package var name: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.rawValue
        case .allText: "self"
        }
    }
}
