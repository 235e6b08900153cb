// SPDX-License-Identifier: Apache-2.0

/// One index of a zone.
package struct FieldIndexID: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int64
    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// What records are found by in an index: bytes of Core's, which an engine compares one by one
/// and never reads.
package struct FieldIndexKey: RawRepresentable, Sendable, Hashable, Comparable {
    package let rawValue: [UInt8]
    package init(rawValue: [UInt8]) { self.rawValue = rawValue }

    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.lexicographicallyPrecedes(right.rawValue)
    }
}

/// One record in an index: a key of it, and where its latest change stands.
///
/// A position is never used twice, so an entry whose record has changed or gone leads to nothing,
/// and never to another record.
package struct FieldIndexEntry: Sendable, Hashable, Comparable {
    package var key: FieldIndexKey
    package var position: Position

    /// Creates an entry.
    package init(key: FieldIndexKey, position: Position) {
        self.key = key
        self.position = position
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.key == right.key ? left.position < right.position : left.key < right.key
    }
}

/// Keys from the first to those before an end.
package struct FieldIndexRange: Sendable, Hashable {
    package var first: FieldIndexKey
    /// The first key that is not in it.
    package var end: FieldIndexKey

    /// Creates a range; one whose end is not after its first key is empty.
    package init(from first: FieldIndexKey, to end: FieldIndexKey) {
        self.first = first
        self.end = end
    }
}

/// An index of a zone's records of one type, as stored.
package struct StoredFieldIndex: Sendable, Hashable {
    /// How far it is.
    package enum State: Int, Sendable, Hashable {
        /// Records are still to be taken up; every save keeps it meanwhile.
        case building = 0
        /// It has every record.
        case ready = 1
        /// It is kept no more, and its entries are being removed.
        case dropped = 2
    }

    package var id: FieldIndexID
    package var database: DatabaseID
    package var zone: ZoneKey
    package var recordType: String
    /// What of the records is indexed; Core's.
    package var name: String
    package var state: State
    /// The records up to this position were taken up.
    package var builtThrough: Position
    /// The zone's position when the index was made: later changes were taken up as they came.
    package var madeAt: Position
    /// When a query used it last, within a day or so; at first, when it was made.
    package var usedAt: Instant

    package init(
        id: FieldIndexID, database: DatabaseID, zone: ZoneKey, recordType: String, name: String,
        state: State, builtThrough: Position, madeAt: Position, usedAt: Instant
    ) {
        self.id = id
        self.database = database
        self.zone = zone
        self.recordType = recordType
        self.name = name
        self.state = state
        self.builtThrough = builtThrough
        self.madeAt = madeAt
        self.usedAt = usedAt
    }
}
