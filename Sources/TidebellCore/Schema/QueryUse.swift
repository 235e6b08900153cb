// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellWire

/// A query, or the predicate of a subscription, that an app used in development; what it compares
/// with does not matter, and is not kept.
package struct QueryUse: Sendable, Hashable {
    /// What asked; raw values are those of stores.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case query
        case subscription
    }

    package var kind: Kind
    package var recordType: String
    /// The predicate and the order as code writes them, such as `title BEGINSWITH %@`.
    package var text: String
    /// What it needs of the schema.
    package var needs: [IndexNeed]

    package init(kind: Kind, recordType: String, text: String, needs: [IndexNeed]) {
        self.kind = kind
        self.recordType = recordType
        self.text = text
        self.needs = needs
    }

    /// The use of a query.
    package init(_ query: WireQuery) {
        self.init(
            kind: .query, recordType: query.recordType,
            text: Self.text(query.filters, query.sorts),
            needs: IndexNeed.all(of: query.filters, query.sorts))
    }

    /// The use of a query subscription; nil for one of another kind.
    package init?(_ subscription: WireSubscription) {
        guard subscription.kind == .query, let type = subscription.recordType else { return nil }
        let filters = subscription.filters
        self.init(
            kind: .subscription, recordType: type, text: Self.text(filters, []),
            // What every record passes needs no index (SUB-42).
            needs: filters.isEmpty ? [] : IndexNeed.all(of: filters))
    }

    /// The use as a report names it.
    package var quote: String { quote(count: 1) }

    /// The same of so many.
    func quote(count: Int) -> String {
        (count > 1 ? "the \(count) \(kind.rawValue)s" : "the \(kind.rawValue)")
            + " \(recordType): \(text)"
    }

    /// The order in which reports name them.
    var order: (String, String, String) { (recordType, text, kind.rawValue) }

    private static func text(_ filters: [WireFilter], _ sorts: [WireSort]) -> String {
        let predicate =
            filters.isEmpty ? "TRUEPREDICATE" : filters.map(\.shape).joined(separator: " AND ")
        guard !sorts.isEmpty else { return predicate }
        return predicate + ", sorted by "
            + sorts.map { $0.subject.codeName + ($0.ascending ? "" : " descending") }
            .joined(separator: ", ")
    }
}

extension WireFilter.Subject {
    /// The key as predicates of code have it.
    fileprivate var codeName: String {
        switch self {
        case .field(let name): name
        case .allText: "self"
        case .system(let field):
            switch field {
            case .recordName: "recordID"
            case .createdTimestamp: "creationDate"
            case .modifiedTimestamp: "modificationDate"
            case .createdUserRecordName: "creatorUserRecordID"
            case .modifiedUserRecordName: "lastModifiedUserRecordID"
            case .share: "share"
            case .parent: "parent"
            }
        }
    }
}

extension WireFilter {
    /// The condition as code writes it, without the value.
    fileprivate var shape: String {
        let name = subject.codeName
        return switch comparator {
        case .equals: "\(name) == %@"
        case .notEquals: "\(name) != %@"
        case .lessThan: "\(name) < %@"
        case .lessThanOrEquals: "\(name) <= %@"
        case .greaterThan: "\(name) > %@"
        case .greaterThanOrEquals: "\(name) >= %@"
        case .near: "distanceToLocation:fromLocation:(\(name), %@) < %@"
        case .containsAllTokens: "\(name) CONTAINS %@"
        case .containsAnyTokens: "ANY tokenize(%@) IN \(name)"
        case .in: "\(name) IN %@"
        case .notIn: "NOT (\(name) IN %@)"
        case .listContains: "\(name) CONTAINS %@"
        case .notListContains: "NOT (\(name) CONTAINS %@)"
        case .listContainsAny: "ANY \(name) IN %@"
        case .notListContainsAny: "NOT (ANY \(name) IN %@)"
        case .listContainsAll: "ALL %@ IN \(name)"
        case .notListContainsAll: "NOT (ALL %@ IN \(name))"
        case .beginsWith: "\(name) BEGINSWITH %@"
        case .notBeginsWith: "NOT (\(name) BEGINSWITH %@)"
        case .listMemberBeginsWith: "ANY \(name) BEGINSWITH %@"
        case .notListMemberBeginsWith: "NOT (ANY \(name) BEGINSWITH %@)"
        }
    }
}

/// A use, and the container in whose development it was.
package struct NotedQueryUse: Sendable, Hashable {
    package var container: ContainerKey
    package var use: QueryUse

    package init(container: ContainerKey, use: QueryUse) {
        self.container = container
        self.use = use
    }
}

/// Remembers what development asked, each use once, until a background step notes it in the store:
/// a query writes nothing.
///
/// What was not stored when the process is killed is lost, and noted again when it is used again.
package final class QueryUses: Sendable {
    /// The most uses remembered; more are noted after the next step.
    package static let capacity = 2000

    private struct State {
        var noted: Set<NotedQueryUse> = []
        var pending: Set<NotedQueryUse> = []
    }

    private let state = Mutex(State())

    /// Creates an empty memory.
    package init() {}

    /// Notes a use in development.
    package func note(_ use: @autoclosure () -> QueryUse?, in container: ContainerKey) {
        guard container.environment == .development, let use = use() else { return }
        let noted = NotedQueryUse(container: container, use: use)
        state.withLock { state in
            guard !state.noted.contains(noted), state.pending.count < Self.capacity else { return }
            // All of them in use: starting afresh costs each one write more.
            if state.noted.count >= Self.capacity { state.noted = [] }
            state.noted.insert(noted)
            state.pending.insert(noted)
        }
    }

    /// Returns what was noted since the last call.
    package func take() -> Set<NotedQueryUse> {
        state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
    }

    /// Returns what was noted and not taken yet of a container.
    package func pending(of container: ContainerKey) -> [QueryUse] {
        state.withLock { $0.pending.filter { $0.container == container }.map(\.use) }
    }
}

extension IndexNeed {
    /// The need as a store keeps it, such as `title 1`; `* 4` is any text.
    package var stored: String {
        switch self {
        case .field(let name, let index): "\(name) \(index.rawValue)"
        case .anyText: "* \(FieldIndexes.searchable.rawValue)"
        }
    }

    /// Creates the need that a store kept; nil for what is none.
    package init?(stored text: some StringProtocol) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let bits = Int(parts[1]) else { return nil }
        self =
            parts[0] == "*"
            ? .anyText : .field(String(parts[0]), FieldIndexes(rawValue: bits))
    }
}
