// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Where a page of a query ended, and which query that was: the continuation
/// marker as clients store it.
///
/// It keeps a position, not a result (QUERY-17): the next page is what stands behind
/// that position when it is asked for. A record that did not change meanwhile is
/// never missed and never comes twice.
struct QueryMarker: Sendable, Hashable {
    /// What stands before the next page.
    enum Position: Sendable, Hashable {
        /// Of a query without order: everything up to a change.
        case change(RecordCursor)
        /// Of a query without order, found by an index: everything up to an entry.
        case entry(IndexPlace)
        /// Of a query with an order.
        case rank(QueryRank)

        /// The zone that it is in.
        var zone: ZoneKey {
            switch self {
            case .change(let cursor): cursor.zone
            case .entry(let place): place.zone
            case .rank(let rank): rank.zone
            }
        }
    }

    /// The hash of the query, its zones and its database.
    var query: UInt64
    var position: Position

    /// Returns the marker as clients store it; from a few dozen characters to about 12,000
    /// for each sort key.
    func text(sealedBy seal: MarkerSeal) -> String {
        seal.seal(JSONWriter.write { write(to: &$0) })
    }

    /// Reads a marker's text; nil for what this server never issued.
    init?(text: String, sealedBy seal: MarkerSeal) {
        guard let json = seal.open(text),
            let marker = try? JSONReader.read(json, QueryMarker.init(from:))
        else { return nil }
        self = marker
    }

    /// Creates a marker.
    init(query: UInt64, position: Position) {
        self.query = query
        self.position = position
    }
}

extension QueryRecords.Request {
    /// Returns what must be the same from page to page: the query, its zones, the
    /// database.
    func hash(in database: DatabaseKey, for call: Call) -> UInt64 {
        var hash = StableHash()
        hash.combine(call.hash(of: database))
        hash.combine("\(zoneID?.zoneName ?? "")/\(zoneID == nil && zoneWide)/".utf8)
        hash.combine(JSONWriter.write { query.write(to: &$0) })
        return hash.value
    }

    /// Returns where the page begins; nil for the first one. Fails for a marker
    /// that is damaged or of another query.
    func start(of hash: UInt64, for call: Call) throws -> QueryMarker.Position? {
        guard let continuationMarker else { return nil }
        guard let marker = QueryMarker(text: continuationMarker, sealedBy: call.markerSeal) else {
            throw WireError.badRequest("the continuationMarker was not issued by this server")
        }
        guard marker.query == hash, marker.position.fits(query.sorts) else {
            throw WireError.foreignMarker
        }
        return marker.position
    }
}

extension WireError {
    /// A marker that another query was answered with.
    static var foreignMarker: WireError {
        .badRequest(
            "the continuationMarker belongs to another query; resend the query and its zone "
                + "unchanged, or begin without a marker"
        )
    }
}

extension QueryMarker.Position {
    /// Whether a query with these sort keys can go on from here.
    fileprivate func fits(_ sorts: [WireSort]) -> Bool {
        switch self {
        case .change, .entry: sorts.isEmpty
        case .rank(let rank): !sorts.isEmpty && rank.keys.count == sorts.count
        }
    }
}

/// Where a page ended that was found by an index.
///
/// The index may be gone by the next page. That one looks through all records then, for those that
/// stand behind the entry.
struct IndexPlace: Sendable, Hashable {
    var zone: ZoneKey
    /// Which of the query's sources it was (``IndexSource/all(of:)``).
    var source: Int
    var key: FieldIndexKey
    var position: Position
    /// Up to where the zone was looked through since the index was gone.
    var scanned: Position?

    var entry: FieldIndexEntry { FieldIndexEntry(key: key, position: position) }
}
