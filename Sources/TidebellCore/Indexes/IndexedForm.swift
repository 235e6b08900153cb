// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What of records an index is about.
enum IndexedForm: Sendable, Hashable {
    /// The value of a field, or of a system field: equality, order, prefixes.
    case value(WireFilter.Subject)
    /// The elements of a list.
    case elements(String)
    /// The words of a field's text; of all text, where that is nil.
    case words(String?)
    /// The cell of the globe that a location lies in.
    case cells(String)

    /// The most keys of one record; one with more is looked at by every search.
    static let keysPerRecord = 1000
    /// The most bytes of text that are folded for the keys of one record: a save makes them while
    /// others wait for it. A record whose words or elements have more is looked at by every search.
    static let foldedBytes = 16 * 1024

    /// What the store knows it by. Its form is stored: another one makes another index.
    var name: String {
        switch self {
        case .value(let subject): "value \(subject.storedName)"
        case .elements(let field): "elements \(field)"
        case .words(let field): field.map { "words \($0)" } ?? "words"
        case .cells(let field): "cells \(field)"
        }
    }

    /// Reads a name; nil for one of another version.
    init?(name: String) {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count > 1 ? parts[1] : nil) {
        case ("value", let name?):
            let system = WireFilter.SystemField.allCases.first { $0.schemaName == name }
            self = .value(system.map(WireFilter.Subject.system) ?? .field(name))
        case ("elements", let field?): self = .elements(field)
        case ("words", let field): self = .words(field)
        case ("cells", let field?): self = .cells(field)
        default: return nil
        }
    }

    /// What it is called where people read it.
    var text: String {
        switch self {
        case .value(let subject): "values of '\(subject.name)'"
        case .elements(let field): "elements of '\(field)'"
        case .words(let field?): "words of '\(field)'"
        case .words(nil): "words of all text"
        case .cells(let field): "places of '\(field)'"
        }
    }

    /// Whether every record has exactly one key.
    var hasOneKey: Bool {
        switch self {
        case .value, .cells: true
        case .elements, .words: false
        }
    }

    /// The field that is read for it; nil for none, or for all of them.
    private var field: String? {
        switch self {
        case .value(.field(let name)), .elements(let name), .cells(let name): name
        case .words(let name): name
        case .value: nil
        }
    }

    /// The fields that are read for these; nil for all of them.
    static func fields(of forms: [IndexedForm]) -> Set<String>? {
        forms.contains(.words(nil)) ? nil : Set(forms.compactMap(\.field))
    }

    /// The keys of a living record, in order; each once.
    func keys(of record: StoredRecord) -> [FieldIndexKey] {
        keys(of: record, seenAs: RecordView(record, fields: Self.fields(of: [self])))
    }

    /// The same of a record whose fields were read.
    func keys(of record: StoredRecord, seenAs view: RecordView) -> [FieldIndexKey] {
        guard !record.isDamaged else { return [.always] }
        switch self {
        case .value(let subject):
            if case .string(let text)? = view.value(of: subject),
                text.utf8.count > Self.foldedBytes
            {
                return [Self.key(ofLong: text)]
            }
            return [view.newKey(of: subject).map { FieldIndexKey($0) } ?? .absent]
        case .elements(let field):
            guard let elements = view.value(of: .field(field))?.elements else { return [] }
            guard view.textBytes(of: .field(field)) <= Self.foldedBytes else { return [.always] }
            return Self.bounded(
                elements.lazy.compactMap { ComparisonKey($0) }.map {
                    FieldIndexKey($0)
                })
        case .words(let field):
            let subject = field.map(WireFilter.Subject.field) ?? .allText
            guard view.textBytes(of: subject) <= Self.foldedBytes else { return [.always] }
            guard let words = view.tokens(of: subject) else { return [] }
            return Self.bounded(words.elements.lazy.map { FieldIndexKey(word: $0.text) })
        case .cells(let field):
            guard case .location(let location) = view.value(of: .field(field)) else {
                return [.absent]
            }
            // What is nowhere on Earth is in no cell, and may be near something all the same.
            return location.isOnEarth
                ? [FieldIndexKey(cell: GlobeCells.cell(of: location))] : [.always]
        }
    }

    /// The key of a text of which only the beginning is looked at: no more of it is in a key.
    private static func key(ofLong text: String) -> FieldIndexKey {
        let start = text.unicodeScalars.prefix(WireFilter.textLimit)
        // Marks change places within their character; one that is so long is not taken apart.
        let isDivided = start.dropFirst(FieldIndexKey.valueLimit).contains {
            !CanonicalForm.isMark($0)
        }
        return isDivided
            ? FieldIndexKey(.text(CanonicalText(caseless: String(String.UnicodeScalarView(start)))))
            : .always
    }

    private static func bounded(_ keys: some Sequence<FieldIndexKey>) -> [FieldIndexKey] {
        var found: Set<FieldIndexKey> = []
        for key in keys {
            found.insert(key)
            if found.count > keysPerRecord { return [.always] }
        }
        return found.sorted()
    }
}

extension WireFilter.Subject {
    fileprivate var storedName: String {
        switch self {
        case .field(let name): name
        case .system(let field): field.schemaName
        case .allText: ""
        }
    }
}
