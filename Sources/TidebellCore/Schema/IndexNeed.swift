// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// An index that a query, or the predicate of a subscription, needs (QUERY-14).
///
/// Equality needs QUERYABLE, what comes before or after SORTABLE, words SEARCHABLE, and a query
/// that every record passes needs `recordName` to be QUERYABLE.
package enum IndexNeed: Sendable, Hashable {
    /// Of a field, by its name in the schema, such as `title` or `___createTime`.
    case field(String, FieldIndexes)
    /// Of any field with text: `self CONTAINS` (QUERY-5).
    case anyText

    /// Returns what filters and sort keys need; the predicate that every record passes needs what
    /// an empty list of filters does.
    package static func all(
        of filters: [WireFilter], _ sorts: [WireSort] = []
    ) -> [IndexNeed] {
        let found = filters.compactMap(\.indexNeed) + sorts.compactMap(\.indexNeed)
        return filters.isEmpty
            ? [.field(SchemaSystemField.recordID.rawValue, .queryable)] + found : found
    }

    /// What CloudKit says where the index is missing.
    package var words: String {
        switch self {
        case .field(let name, let index):
            // NB: CloudKit names the one field as requests do, the others as schemas do.
            let shown = name == SchemaSystemField.recordID.rawValue ? "recordName" : name
            return "Field '\(shown)' is not marked \(index.text.lowercased())"
        case .anyText: return "no field is marked searchable"
        }
    }

    /// How the type gets the index, a clause.
    package func advice(for type: String, in container: ContainerKey) -> String {
        let (field, index) =
            switch self {
            case .field(let name, let index): (name, index)
            case .anyText: ("FIELD", FieldIndexes.searchable)
            }
        let mark = "tidebell schema index \(container.container) \(type).\(field) \(index.text)"
        switch container.environment {
        case .development: return "mark it: \(mark)"
        case .production:
            return "if development has the index, deploy it: tidebell schema deploy "
                + "\(container.container); else add it there first: \(mark)"
        }
    }
}

extension WireFilter {
    /// The index it needs; nil for what can always be asked for.
    var indexNeed: IndexNeed? {
        let index: FieldIndexes =
            switch comparator {
            case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: .sortable
            case .containsAllTokens, .containsAnyTokens: .searchable
            default: .queryable
            }
        switch subject {
        case .allText: return .anyText
        case .field(let name): return .field(name, index)
        case .system(let field):
            if let field = SchemaSystemField(field) { return .field(field.rawValue, index) }
            // No schema has an index of `parent` or `share`; to ask for all that have another one, or
            // none, is to ask for all records.
            return comparator.affirmed.isNegated
                ? .field(SchemaSystemField.recordID.rawValue, .queryable) : nil
        }
    }
}

extension WireSort {
    /// The index it needs; nil for what cannot be sorted by.
    var indexNeed: IndexNeed? {
        switch subject {
        case .allText: return nil
        case .field(let name): return .field(name, .sortable)
        case .system(let field):
            return SchemaSystemField(field).map { .field($0.rawValue, .sortable) }
        }
    }
}

extension StoredRecordType {
    /// The fields that a search of all text looks at (QUERY-5).
    package var searchedFields: Set<String> {
        Set(fields.lazy.filter { $0.value.indexes.contains(.searchable) }.map(\.key))
    }

    /// Returns the first of the indexes that the type lacks; fields that it does not have are
    /// another matter.
    package func missing(_ needs: [IndexNeed]) -> IndexNeed? {
        needs.first { need in
            switch need {
            case .field(let name, let index):
                guard let system = SchemaSystemField(rawValue: name) else {
                    return fields[name].map { !$0.indexes.contains(index) } ?? false
                }
                return !indexes(of: system).contains(index)
            case .anyText:
                return !fields.isEmpty
                    && !fields.values.contains {
                        $0.indexes.contains(.searchable)
                    }
            }
        }
    }
}

extension StoredRecordType {
    /// Returns the index without which a query subscription fires nothing (SUB-26).
    ///
    /// NB: what every record passes needs none: reports contradict one another (SUB-42).
    package func indexSilencing(_ subscription: WireSubscription) -> IndexNeed? {
        guard subscription.kind == .query, !subscription.filters.isEmpty else { return nil }
        return missing(IndexNeed.all(of: subscription.filters))
    }
}

extension RecordType {
    /// Fails for a subscription to a type that was not deployed (SUB-41, SUB-43).
    func requireDeployed() throws {
        guard stored == nil, !mayGrow else { return }
        throw WireError.badRequest(
            "\(subscriptionWords)it has no record type '\(WireError.shortened(name))'; "
                + container.deployment)
    }

    /// Fails for a query subscription without an index that its predicate needs (SUB-43).
    func requireIndexes(of subscription: WireSubscription) throws {
        guard let missing = stored?.indexSilencing(subscription) else { return }
        throw WireError.badRequest(
            "\(subscriptionWords)\(missing.words); \(missing.advice(for: name, in: container))")
    }

    /// NB: CloudKit's words (SUB-41).
    private var subscriptionWords: String {
        container.growsBySaving
            ? "" : "attempting to create a subscription in a production container: "
    }

    /// Fails where an index is missing that is needed.
    func require(_ needs: [IndexNeed]) throws {
        guard let missing = stored?.missing(needs) else { return }
        throw WireError.badRequest(
            "\(missing.words); \(missing.advice(for: name, in: container))")
    }
}
