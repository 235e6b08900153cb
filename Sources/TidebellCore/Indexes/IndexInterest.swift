// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What queries found that they could do faster, and which indexes they used, until somebody
/// makes the ones and notes the others: a query never writes.
package final class IndexInterest: Sendable {
    /// An index that a query would have used.
    package struct Wish: Sendable, Hashable {
        package var database: DatabaseID
        package var zone: ZoneKey
        package var recordType: String
        /// As of ``StoredFieldIndex/name``.
        package var name: String

        package init(database: DatabaseID, zone: ZoneKey, recordType: String, name: String) {
            self.database = database
            self.zone = zone
            self.recordType = recordType
            self.name = name
        }
    }

    /// The most wishes that wait; more are forgotten, and come again with the next query.
    package static let mostWishes = 100
    /// The most uses that wait.
    package static let mostUses = 10_000

    private struct State {
        var wishes: [Wish] = []
        var uses: Set<FieldIndexID> = []
    }

    private let state = Mutex(State())
    private let onWish: @Sendable () -> Void

    /// Creates one that knows of nothing yet.
    package init(onWish: @escaping @Sendable () -> Void = {}) { self.onWish = onWish }

    /// Notes what a query came to.
    package func note(_ report: QueryReport) {
        guard !report.wishes.isEmpty || !report.uses.isEmpty else { return }
        let isNew = state.withLock { state in
            if state.uses.count + report.uses.count <= Self.mostUses {
                state.uses.formUnion(report.uses)
            }
            let new = report.wishes.filter { !state.wishes.contains($0) }
                .prefix(Self.mostWishes - state.wishes.count)
            state.wishes += new
            return !new.isEmpty
        }
        if isNew { onWish() }
    }

    /// Takes what was wished for.
    package func takeWishes() -> [Wish] {
        state.withLock { state in
            defer { state.wishes = [] }
            return state.wishes
        }
    }

    /// Takes what was used.
    package func takeUses() -> Set<FieldIndexID> {
        state.withLock { state in
            defer { state.uses = [] }
            return state.uses
        }
    }
}
