// SPDX-License-Identifier: Apache-2.0

/// One sort key of a query (web-services 4.5); the first one counts most
/// (QUERY-1).
package struct WireSort: Sendable, Hashable {
    /// The most sort keys in one query.
    package static let countLimit = 8

    /// What is sorted by: a field or a system field.
    package var subject: WireFilter.Subject
    /// Whether the smallest value, or the nearest location, comes first.
    package var ascending: Bool
    /// Sorts a location field by its distance from here (QUERY-9).
    package var relativeLocation: WireLocation?

    /// Creates a sort key.
    package init(
        _ subject: WireFilter.Subject, ascending: Bool = true,
        relativeLocation: WireLocation? = nil
    ) {
        self.subject = subject
        self.ascending = ascending
        self.relativeLocation = relativeLocation
    }
}

extension WireSort {
    /// Reads a sort key; whether it makes sense is for the rules to decide.
    package init(from reader: inout JSONReader) throws {
        var subject: WireFilter.Subject?
        var ascending = true
        var location: WireLocation?
        try reader.readObject { reader, name in
            guard try !reader.readNull() else { return }
            switch name {
            case "fieldName", "systemFieldName":
                guard let text = try reader.readNameIfAny() else { return }
                guard subject == nil else {
                    throw JSONError("a sort has one of fieldName and systemFieldName")
                }
                subject =
                    try name == "fieldName"
                    ? WireFilter.Subject(fieldName: text)
                    : WireFilter.Subject(systemFieldName: text)
            case "ascending": ascending = try reader.readBool()
            case "relativeLocation": location = try WireLocation(from: &reader)
            default: try reader.skipValue()
            }
        }
        guard let subject else { throw JSONError("missing required field 'fieldName'") }
        self.init(subject, ascending: ascending, relativeLocation: location)
    }

    /// Writes the sort key.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            subject.write(to: &writer)
            writer.member("ascending", ascending)
            if let relativeLocation {
                writer.key("relativeLocation")
                FieldValue.location(relativeLocation).write(to: &writer)
            }
        }
    }
}

extension WireLocation {
    /// Reads a location that is no field's value.
    fileprivate init(from reader: inout JSONReader) throws {
        guard case .location(let location) = try FieldValue.readUntyped(from: &reader) else {
            throw JSONError("expected a location: latitude and longitude")
        }
        self = location
    }
}
