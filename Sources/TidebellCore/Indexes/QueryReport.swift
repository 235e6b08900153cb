// SPDX-License-Identifier: Apache-2.0

/// How a page of a query was found: what `tidebell query explain` prints.
package struct QueryReport: Sendable, Hashable {
    /// Where candidates came from.
    package enum Source: Sendable, Hashable {
        /// All records of the type, and why.
        case scan(reason: String)
        /// Entries of an index, and what for.
        case index(name: String, reason: String)
    }

    /// What was done in one zone.
    package struct Zone: Sendable, Hashable {
        package var name: String
        package var source: Source
        /// Records that were read.
        package var records = 0
        /// Entries of indexes that were read.
        package var entries = 0
        /// Records that passed all filters.
        package var found = 0
    }

    package var zones: [Zone] = []
    /// Indexes that would have helped.
    package var wishes: [IndexInterest.Wish] = []
    package var uses: Set<FieldIndexID> = []

    /// Creates the report of a query that did nothing yet.
    package init() {}

    /// Records that were read, of all zones.
    package var records: Int { zones.reduce(0) { $0 + $1.records } }
}

/// Where a search notes what it does.
final class QueryLog {
    private(set) var report = QueryReport()

    func begin(_ zone: StoredZone, _ source: QueryReport.Source) {
        report.zones.append(QueryReport.Zone(name: zone.name, source: source))
    }

    func noteRecord() { note { $0.records += 1 } }
    func noteEntries(_ count: Int) { note { $0.entries += count } }
    func noteFound() { note { $0.found += 1 } }
    func noteUse(_ index: StoredFieldIndex) { report.uses.insert(index.id) }
    func noteWish(_ wish: IndexInterest.Wish) {
        if !report.wishes.contains(wish) { report.wishes.append(wish) }
    }

    private func note(_ change: (inout QueryReport.Zone) -> Void) {
        guard !report.zones.isEmpty else { return }
        change(&report.zones[report.zones.count - 1])
    }
}
