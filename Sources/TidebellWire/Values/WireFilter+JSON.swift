// SPDX-License-Identifier: Apache-2.0

extension WireFilter {
    /// Reads a filter; whether it makes sense is for the rules to say.
    package init(from reader: inout JSONReader) throws {
        var comparator: Comparator?
        var subject = Subject.allText
        var value: FieldValue?
        var distance: Double?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "comparator":
                let text = try reader.readString()
                comparator = Comparator(name: text)
                guard comparator != nil else { throw JSONError("unknown comparator \"\(text)\"") }
            case "fieldName": subject = Subject(fieldName: try reader.readString())
            case "systemFieldName":
                let text = try reader.readString()
                guard let field = SystemField(rawValue: text) else {
                    throw JSONError("unknown system field \"\(text)\"")
                }
                subject = .system(field)
            case "fieldValue": value = try Field.read(from: &reader)?.value
            case "distance": distance = try reader.readDouble()
            default: try reader.skipValue()
            }
        }
        guard let comparator else { throw JSONError("missing required field 'comparator'") }
        guard let value else { throw JSONError("missing required field 'fieldValue'") }
        self.init(comparator, subject, value, distance: distance)
    }

    /// Writes the filter.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("comparator", comparator.rawValue)
            switch subject {
            case .field(let name): writer.member("fieldName", name)
            case .system(let field): writer.member("systemFieldName", field.rawValue)
            case .allText: break
            }
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
}
