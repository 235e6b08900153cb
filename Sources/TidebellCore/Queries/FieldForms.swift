// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWire

/// What filters compare of a record's fields: made of each field once, when the first
/// filter asks for it, however many ask.
final class FieldForms: Sendable {
    /// What was made of one field, or of all text.
    private struct Forms {
        var key: ComparisonKey??
        var elements: ValueSet<ComparisonKey>?
        /// Its text as it is written, or those of its elements.
        var texts: [CanonicalText]?
        var tokens: ValueSet<ExactText>?
        var size: Int?
    }

    private struct State {
        /// Those of all text are under nil.
        var forms: [String?: Forms] = [:]
        var foldedBytes = 0
    }

    private let state = Mutex(State())

    /// Which form of a field a filter asks for.
    enum Kind {
        case key, elements, texts, tokens
    }

    /// Bytes of text that were folded so far.
    var foldedBytes: Int { state.withLock(\.foldedBytes) }

    /// Whether the form of a field, or of all text, was made.
    func has(_ kind: Kind, of field: String?) -> Bool {
        state.withLock { state in
            guard let forms = state.forms[field] else { return false }
            return switch kind {
            case .key: forms.key != nil
            case .elements: forms.elements != nil
            case .texts: forms.texts != nil
            case .tokens: forms.tokens != nil
            }
        }
    }

    func key(of field: String, _ value: FieldValue) -> ComparisonKey? {
        switch value {
        case .string, .bytes, .list:
            form(\.key, of: field) { foldedBytes in
                foldedBytes += value.textBytes
                return ComparisonKey(value)
            }
        // To keep it would cost more than to make it again.
        default: ComparisonKey(value)
        }
    }

    func elements(of field: String, _ elements: [FieldValue]) -> ValueSet<ComparisonKey> {
        form(\.elements, of: field) { foldedBytes in
            foldedBytes += elements.reduce(0) { $0 + $1.textBytes }
            return ValueSet(Set(elements.compactMap { ComparisonKey($0) }))
        }
    }

    /// The text of a field, or the texts of its elements, as they are written.
    func texts(of field: String, _ value: FieldValue) -> [CanonicalText] {
        form(\.texts, of: field) { foldedBytes in
            foldedBytes += value.textBytes
            return (value.elements ?? [value]).compactMap { element in
                if case .string(let text) = element { CanonicalText(text) } else { nil }
            }
        }
    }

    /// The words of a field, or of all text, where `values` are those that are searched.
    func tokens(of field: String?, _ values: some Sequence<FieldValue>) -> ValueSet<ExactText> {
        form(\.tokens, of: field) { foldedBytes in
            var words: Set<ExactText> = []
            for value in values {
                foldedBytes += value.textBytes
                value.addTokens(to: &words)
            }
            return ValueSet(words)
        }
    }

    /// See ``FieldValue/comparedBytes``.
    func size(of field: String, _ value: FieldValue) -> Int {
        // Only that of a list is counted element by element.
        guard case .list = value else { return value.comparedBytes }
        return form(\.size, of: field) { _ in value.comparedBytes }
    }

    /// Forgets all, which can be made again.
    func clear() {
        state.withLock { $0 = State() }
    }

    /// Returns a form of a field, or of all text, which is made when it is asked for first.
    // Inlined, so that the path is known where it is used, and needs no look-up.
    @inline(__always)
    private func form<Form: Sendable>(
        _ path: WritableKeyPath<Forms, Form?>, of field: String?,
        made make: (_ foldedBytes: inout Int) -> Form
    ) -> Form {
        state.withLock { state in
            if let form = state.forms[field]?[keyPath: path] { return form }
            let form = make(&state.foldedBytes)
            state.forms[field, default: Forms()][keyPath: path] = form
            return form
        }
    }
}

extension FieldValue {
    /// The bytes of its text.
    var textBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .list(_, let elements): elements.reduce(0) { $0 + $1.textBytes }
        default: 0
        }
    }

    /// What comparing all of it costs, in bytes: an element counts as 16 more.
    var comparedBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .list(_, let elements): elements.reduce(0) { $0 + $1.comparedBytes + 16 }
        default: 0
        }
    }

    /// The words of a string or of a list of strings; nil for anything else.
    var tokens: Set<ExactText>? {
        switch self {
        case .string, .list(.stringList, _):
            var words: Set<ExactText> = []
            addTokens(to: &words)
            return words
        default: return nil
        }
    }

    /// Adds the words of a string or of a list of strings.
    fileprivate func addTokens(to words: inout Set<ExactText>) {
        switch self {
        case .string(let text): TextTokens.add(of: text, to: &words)
        case .list(.stringList, let elements):
            for element in elements { element.addTokens(to: &words) }
        default: break
        }
    }
}
