// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// The result of a predicate for a record.
package enum FilterVerdict: Sendable, Hashable {
    /// Every filter holds.
    case matches
    /// The first filter that does not hold, and what the record has there; nil for
    /// a field that is missing, encrypted, or not one field.
    case failed(WireFilter, found: FieldValue?)
}

extension RecordView {
    /// Returns whether the record passes all filters (QUERY-3), and if not, the
    /// first that fails.
    ///
    /// This is the one evaluator, of subscriptions and queries alike. Its law:
    /// - A missing field, or one of another type, passes no comparator; a `NOT_`
    ///   comparator passes exactly what its counterpart does not, so `NOT_EQUALS`
    ///   passes a record without the field.
    /// - An encrypted field passes nothing, neither (REC-11).
    /// - Strings are equal whatever their case, and ordered likewise; prefixes and
    ///   names of records are exact (QUERY-8). Numbers and moments are compared by
    ///   value, a reference by its target (REF-8).
    package func verdict(on filters: [WireFilter]) -> FilterVerdict {
        verdict(on: filters.lazy.map(PreparedFilter.init))
    }

    /// Returns the same for filters that are asked of many records.
    package func verdict(on filters: some Sequence<PreparedFilter>) -> FilterVerdict {
        filters.first { !$0.passes(self) }.map(failure) ?? .matches
    }

    /// Returns the same, and reports before each filter what evaluating it costs, in bytes.
    package func verdict(
        on filters: some Sequence<PreparedFilter>, counting count: (Int) throws -> Void
    ) rethrows -> FilterVerdict {
        for filter in filters {
            try count(filter.work(on: self))
            guard filter.passes(self) else { return failure(filter) }
        }
        return .matches
    }

    private func failure(_ prepared: PreparedFilter) -> FilterVerdict {
        .failed(prepared.filter, found: value(of: prepared.filter.subject))
    }
}

extension WireFilter.Comparator {
    /// The comparator without its `NOT_`, and whether it had one.
    var affirmed: (comparator: Self, isNegated: Bool) {
        switch self {
        case .notEquals: (.equals, true)
        case .notIn: (.in, true)
        case .notListContains: (.listContains, true)
        case .notListContainsAny: (.listContainsAny, true)
        case .notListContainsAll: (.listContainsAll, true)
        case .notBeginsWith: (.beginsWith, true)
        case .notListMemberBeginsWith: (.listMemberBeginsWith, true)
        default: (self, false)
        }
    }
}
