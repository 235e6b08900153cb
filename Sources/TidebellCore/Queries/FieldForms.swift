// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWire

/// What filters compare of a record's fields: made of each field once, when the first
/// filter asks for it, however many ask.
final class FieldForms: Sendable {
    private struct State {
        var keys: [String: ComparisonKey?] = [:]
        var elements: [String: ValueSet<ComparisonKey>] = [:]
        /// Texts as they are written, and those of lists.
        var texts: [String: [CanonicalText]] = [:]
        /// Those of all text are under nil.
        var tokens: [String?: ValueSet<String>] = [:]
        var sizes: [String: Int] = [:]
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
            switch kind {
            case .key: field.map { state.keys[$0] != nil } ?? false
            case .elements: field.map { state.elements[$0] != nil } ?? false
            case .texts: field.map { state.texts[$0] != nil } ?? false
            case .tokens: state.tokens[field] != nil
            }
        }
    }

    func key(of field: String, _ value: FieldValue) -> ComparisonKey? {
        state.withLock { state in
            if let key = state.keys[field] { return key }
            state.foldedBytes += value.textBytes
            let key = ComparisonKey(value)
            state.keys[field] = .some(key)
            return key
        }
    }

    func elements(of field: String, _ elements: [FieldValue]) -> ValueSet<ComparisonKey> {
        state.withLock { state in
            if let keys = state.elements[field] { return keys }
            state.foldedBytes += elements.reduce(0) { $0 + $1.textBytes }
            let keys = ValueSet(Set(elements.compactMap { ComparisonKey($0) }))
            state.elements[field] = keys
            return keys
        }
    }

    /// The text of a field, or the texts of its elements, as they are written.
    func texts(of field: String, _ value: FieldValue) -> [CanonicalText] {
        state.withLock { state in
            if let texts = state.texts[field] { return texts }
            state.foldedBytes += value.textBytes
            let texts = (value.elements ?? [value]).compactMap { element in
                if case .string(let text) = element { CanonicalText(text) } else { nil }
            }
            state.texts[field] = texts
            return texts
        }
    }

    /// The words of a field, or of all text, where `values` are those that are searched.
    func tokens(of field: String?, _ values: some Sequence<FieldValue>) -> ValueSet<String> {
        state.withLock { state in
            if let tokens = state.tokens[field] { return tokens }
            var words: Set<String> = []
            for value in values {
                state.foldedBytes += value.textBytes
                value.addTokens(to: &words)
            }
            let tokens = ValueSet(words)
            state.tokens[field] = tokens
            return tokens
        }
    }

    /// See ``FieldValue/comparedBytes``.
    func size(of field: String, _ value: FieldValue) -> Int {
        state.withLock { state in
            if let size = state.sizes[field] { return size }
            let size = value.comparedBytes
            state.sizes[field] = size
            return size
        }
    }

    /// Forgets all, which can be made again.
    func clear() {
        state.withLock { $0 = State() }
    }
}

extension FieldValue {
    /// The bytes of its text.
    fileprivate var textBytes: Int {
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
    var tokens: Set<String>? {
        switch self {
        case .string, .list(.stringList, _):
            var words: Set<String> = []
            addTokens(to: &words)
            return words
        default: return nil
        }
    }

    /// Adds the words of a string or of a list of strings.
    fileprivate func addTokens(to words: inout Set<String>) {
        switch self {
        case .string(let text): TextTokens.add(of: text, to: &words)
        case .list(.stringList, let elements):
            for element in elements { element.addTokens(to: &words) }
        default: break
        }
    }
}
