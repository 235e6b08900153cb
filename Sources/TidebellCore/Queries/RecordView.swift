// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A record as filters see it, its fields decoded once for all of them.
package struct RecordView: Sendable {
    package var name: String
    package var type: String
    /// Nil where the change does not carry it.
    package var created: RecordStamp?
    /// Nil where the change does not carry it.
    package var modified: RecordStamp?
    /// The name of the record it hangs under.
    package var parent: String?
    /// The name of its share.
    package var share: String?
    package var fields: [String: Field]

    /// Creates a view.
    package init(
        name: String, type: String, created: RecordStamp? = nil, modified: RecordStamp? = nil,
        parent: String? = nil, share: String? = nil, fields: [String: Field] = [:]
    ) {
        self.name = name
        self.type = type
        self.created = created
        self.modified = modified
        self.parent = parent
        self.share = share
        self.fields = fields
    }

    /// The record after the change; a deleted one as it was before (SUB-24).
    ///
    /// Fields that cannot be read count as absent.
    package init(_ change: RecordChange) {
        self.init(
            name: change.recordName, type: change.recordType, created: change.system?.created,
            modified: change.system?.modified, parent: change.system?.parent,
            fields: (try? change.fields?.decoded()) ?? [:]
        )
    }

    /// Returns what a filter's subject is in this record; nil when it is missing
    /// or must not be looked at (REC-11).
    package func value(of subject: WireFilter.Subject) -> FieldValue? {
        switch subject {
        case .field(let name):
            guard let field = fields[name], !field.isEncrypted else { return nil }
            return field.value
        case .system(let field): return value(of: field)
        case .allText: return nil
        }
    }

    private func value(of field: WireFilter.SystemField) -> FieldValue? {
        switch field {
        case .recordName: .string(name)
        case .createdTimestamp: created.map { .timestamp($0.timestamp) }
        case .modifiedTimestamp: modified.map { .timestamp($0.timestamp) }
        case .createdUserRecordName: created.map { .string($0.userRecordName) }
        case .modifiedUserRecordName: modified.map { .string($0.userRecordName) }
        case .share: share.map { .string($0) }
        case .parent: parent.map { .string($0) }
        }
    }

    /// The words of all text that is stored readably (QUERY-5).
    var searchableTokens: Set<String> {
        fields.values.reduce(into: []) { tokens, field in
            if !field.isEncrypted { tokens.formUnion(field.value.tokens ?? []) }
        }
    }
}

extension FieldValue {
    /// The words of a string or of a list of strings; nil for anything else.
    var tokens: Set<String>? {
        switch self {
        case .string(let text): FoldedText.tokens(text)
        case .list(.stringList, let elements):
            elements.reduce(into: []) { $0.formUnion($1.tokens ?? []) }
        default: nil
        }
    }

    /// The elements of a list; nil for anything else.
    var elements: [FieldValue]? {
        if case .list(_, let elements) = self { elements } else { nil }
    }
}
