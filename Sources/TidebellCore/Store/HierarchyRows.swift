// SPDX-License-Identifier: Apache-2.0

/// That a record is in a hierarchy, as it was found out last.
///
/// It holds as long as it fits to what is stored of the record above: where that has left or came
/// in anew, it has another entry, and what is below has still to follow.
package struct HierarchyMembership: Sendable, Hashable {
    /// The name of the share's record.
    package var share: String
    /// Where the record came into the hierarchy: given once.
    package var entry: Position
    /// The entry of the record above it; nothing for the root and the record of the share.
    package var above: Position

    package init(share: String, entry: Position, above: Position) {
        self.share = share
        self.entry = entry
        self.above = above
    }

    /// Since when nobody sees the record, which hangs below one that is not where some record relied
    /// on it: the one above it, or one further up. Nil where that is not known any more.
    ///
    /// - Parameters:
    ///   - departures: Since when, each time, nobody saw the one that was relied on, oldest first.
    ///   - relied: The entry of it that was relied on.
    func hiddenSince(_ departures: [Position]?, after relied: Position) -> Position? {
        departures?.first { $0 > relied && $0 > entry }
    }
}

/// A record in the tree of its zone.
package struct HierarchyPlace: Sendable, Hashable {
    package var parent: String?
    /// Nil where the record is in no hierarchy.
    package var membership: HierarchyMembership?
    /// The share that it is the root of, or the record of.
    package var ownShare: String?

    package init(parent: String?, membership: HierarchyMembership?, ownShare: String?) {
        self.parent = parent
        self.membership = membership
        self.ownShare = ownShare
    }
}

/// A record that came into a hierarchy or left one, and below which that is still to be settled.
package struct UnsettledRecord: Sendable, Hashable {
    package var name: String
    /// Up to which of the records right below it that is done; empty at the beginning.
    package var last: String

    package init(name: String, last: String = "") {
        self.name = name
        self.last = last
    }
}

/// A zone in whose hierarchies something is to be settled.
package struct UnsettledZone: Sendable, Hashable {
    package var database: StoredDatabase
    package var zone: StoredZone

    package init(database: StoredDatabase, zone: StoredZone) {
        self.database = database
        self.zone = zone
    }
}
