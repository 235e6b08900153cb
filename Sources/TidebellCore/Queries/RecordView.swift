// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// A record as filters see it, its fields decoded once for all of them, and folded once.
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
    package var fields: [String: Field] {
        didSet { forms = FieldForms() }
    }
    /// The fields whose text a search of all text looks at (QUERY-5); nil for all of them, of a type
    /// about which nothing is known.
    package var searched: Set<String>? {
        didSet { forms = FieldForms() }
    }
    /// What was made of the fields.
    private var forms = FieldForms()

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

    // MARK: What filters compare

    /// The key of a filter's subject; nil for one that has none.
    func key(of subject: WireFilter.Subject) -> ComparisonKey? {
        guard case .field(let name) = subject else { return newKey(of: subject) }
        return value(of: subject).flatMap { forms.key(of: name, $0) }
    }

    /// The same, made anew and not kept: for who asks once, and may have many records.
    func newKey(of subject: WireFilter.Subject) -> ComparisonKey? {
        let isName = if case .field = subject { false } else { true }
        return value(of: subject).flatMap { ComparisonKey($0, isName: isName) }
    }

    /// The keys of the elements of a list; nil for anything else.
    func elementKeys(of subject: WireFilter.Subject) -> ValueSet<ComparisonKey>? {
        guard case .field(let name) = subject, let elements = value(of: subject)?.elements else {
            return nil
        }
        return forms.elements(of: name, elements)
    }

    /// The text of a subject, or the texts of its elements, as they are written.
    func texts(of subject: WireFilter.Subject) -> [CanonicalText] {
        guard let value = value(of: subject) else { return [] }
        if case .field(let name) = subject { return forms.texts(of: name, value) }
        guard case .string(let name) = value else { return [] }
        return [CanonicalText(name)]
    }

    /// The words of a subject's text; those of all text are of what is stored readably, in fields
    /// that are searchable (QUERY-5).
    func tokens(of subject: WireFilter.Subject) -> ValueSet<ExactText>? {
        switch subject {
        case .allText: forms.tokens(of: nil, readableValues)
        case .field(let name): value(of: subject).map { forms.tokens(of: name, [$0]) }
        case .system: nil
        }
    }

    /// Bytes of the text that is folded to find a subject's words, or its elements.
    func textBytes(of subject: WireFilter.Subject) -> Int {
        switch subject {
        case .allText: readableValues.reduce(0) { $0 + $1.textBytes }
        case .field, .system: value(of: subject)?.textBytes ?? 0
        }
    }

    private var readableValues: some Sequence<FieldValue> {
        fields.lazy.filter { [searched] name, field in
            !field.isEncrypted && searched?.contains(name) ?? true
        }.map(\.value.value)
    }

    /// What comparing all of a subject costs, in bytes.
    func size(of subject: WireFilter.Subject) -> Int {
        switch subject {
        case .allText: readableValues.reduce(0) { $0 + $1.comparedBytes }
        case .field(let name): value(of: subject).map { forms.size(of: name, $0) } ?? 0
        case .system: 0
        }
    }

    /// Whether a form of a subject is there already.
    func has(_ kind: FieldForms.Kind, of subject: WireFilter.Subject) -> Bool {
        switch subject {
        case .allText: forms.has(kind, of: nil)
        case .field(let name): forms.has(kind, of: name)
        case .system: true
        }
    }

    /// Bytes of text that were folded for filters so far.
    package var foldedBytes: Int { forms.foldedBytes }

    /// Forgets what was made for filters: it takes several times the room of the text.
    func forgetForms() { forms.clear() }
}

extension FieldValue {
    /// The elements of a list; nil for anything else.
    var elements: [FieldValue]? {
        if case .list(_, let elements) = self { elements } else { nil }
    }
}
