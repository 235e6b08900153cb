// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a JSON value looks like, as far as the description of the API says it (JSON Schema 2020-12).
indirect enum JSONSchema: Sendable {
    case any
    case string
    case integer
    case number
    case bool
    /// One of these texts.
    case oneOf([String])
    case array(of: JSONSchema, atMost: Int? = nil)
    case object([Member])
    /// An object whose members have names of their own.
    case map(of: JSONSchema)
    /// One that is described once, by its name.
    case named(String)
    /// Any of several.
    case anyOf([JSONSchema])
    /// The same, or null, which means as much as if it were not there.
    case nullable(JSONSchema)
    /// Null.
    case null

    /// A member of an object.
    struct Member: Sendable {
        var name: String
        var schema: JSONSchema
        var isRequired: Bool
        var text: String?
    }

    /// Writes the schema.
    func write(to writer: inout JSONWriter) {
        writer.object { writeMembers(to: &$0) }
    }

    private func writeMembers(to writer: inout JSONWriter) {
        switch self {
        case .any: break
        case .string: writer.member("type", "string")
        case .integer: writer.member("type", "integer")
        case .number: writer.member("type", "number")
        case .bool: writer.member("type", "boolean")
        case .oneOf(let texts):
            writer.member("type", "string")
            writer.member("enum", texts)
        case .array(let element, let most):
            writer.member("type", "array")
            writer.key("items")
            element.write(to: &writer)
            if let most { writer.member("maxItems", most) }
        case .object(let members):
            writer.member("type", "object")
            writer.key("properties")
            writer.object { writer in
                for member in members {
                    writer.key(member.name)
                    writer.object { writer in
                        member.schema.writeMembers(to: &writer)
                        writer.member("description", member.text)
                    }
                }
            }
            let required = members.filter(\.isRequired).map(\.name)
            if !required.isEmpty { writer.member("required", required) }
        case .map(let value):
            writer.member("type", "object")
            writer.key("additionalProperties")
            value.write(to: &writer)
        case .named(let name): writer.member("$ref", "#/components/schemas/\(name)")
        case .anyOf(let schemas):
            writer.key("anyOf")
            writer.array(schemas) { $1.write(to: &$0) }
        case .nullable(let schema):
            writer.key("anyOf")
            writer.array([schema, JSONSchema.null]) { $1.write(to: &$0) }
        case .null: writer.member("type", "null")
        }
    }
}

extension JSONSchema.Member {
    /// A member that is always there.
    static func needed(_ name: String, _ schema: JSONSchema, _ text: String? = nil) -> Self {
        Self(name: name, schema: schema, isRequired: true, text: text)
    }

    /// A member that may be missing.
    static func optional(_ name: String, _ schema: JSONSchema, _ text: String? = nil) -> Self {
        Self(name: name, schema: schema, isRequired: false, text: text)
    }
}
