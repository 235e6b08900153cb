// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What is above records of a zone that is not settled, and so whether what is stored of them
/// holds.
///
/// A record is in the hierarchy that is stored with it if the one above it is, since before
/// (``HierarchyMembership``), and so on up to the root. What does not hold yet is not seen:
/// it comes into view with a change, when it is settled.
struct HierarchyPaths {
    private var places: [String: HierarchyPlace] = [:]
    /// Of which records it was read what is above them, if they are there.
    private var known: Set<String> = []
    /// The share of each record that was asked for, nil for none.
    private var shares: [String: String?] = [:]

    /// Knows nothing yet.
    init() {}

    /// Reads what is above records; fails with `TRY_AGAIN_LATER` where that is very much.
    init(
        above names: Set<String>, in zone: StoredZone, _ limits: Limits,
        _ reader: some SharedRecordReading
    ) throws {
        let limit = limits.recordsAbove
        guard let places = try reader.places(above: names, in: zone.key, limit: limit) else {
            throw WireError.following(in: zone, limits)
        }
        self.init(places)
    }

    /// Takes what was read.
    init(_ places: [String: HierarchyPlace]) { self.places = places }

    /// Reads what is above further records, as far as it is not known; returns how many rows that
    /// were beside those of the records, nil for more than `limit`, where nothing is known more than
    /// before.
    mutating func read(
        above names: Set<String>, in zone: StoredZone, limit: Int,
        _ reader: some SharedRecordReading
    ) throws -> Int? {
        let unread = names.subtracting(known)
        guard !unread.isEmpty else { return 0 }
        var found = try reader.places(of: unread, in: zone.key)
        let parents = Set(found.values.compactMap(\.parent)).subtracting(known)
            .subtracting(unread)
        var count = 0
        if !parents.isEmpty {
            guard let above = try reader.places(above: parents, in: zone.key, limit: limit)
            else { return nil }
            count = max(above.count, parents.count)
            found.merge(above) { known, _ in known }
        }
        places.merge(found) { known, _ in known }
        known.formUnion(unread.union(parents).union(found.keys))
        return count
    }

    /// Reads what is above the records of changes; returns of how many, from the first one on.
    mutating func read(
        above changes: [SharedRecordChange], in zone: StoredZone, _ limits: Limits,
        _ reader: some SharedRecordReading
    ) throws -> Int {
        var left = limits.recordsAbove
        var count = 0
        // In parts, so that not all is read again where it is too much.
        var together = Self.readTogether
        while count < changes.count {
            let part = changes[count...].prefix(together)
            let names = Set(part.lazy.map(\.record.name))
            if let rows = try read(above: names, in: zone, limit: left, reader) {
                left -= rows
                count += part.count
            } else {
                guard together > 1 else { break }
                together = 1
            }
        }
        return count
    }

    /// Of how many changes it is read together what is above their records.
    private static let readTogether = 50

    /// Takes it that a record is in no hierarchy, and all below it: too much is above it.
    mutating func giveUp(_ name: String) { known.insert(name) }

    /// The place of a record that was asked for or is above one.
    subscript(name: String) -> HierarchyPlace? { places[name] }

    /// What is stored of the records, whether it holds or not.
    var memberships: [String: HierarchyMembership] { places.compactMapValues(\.membership) }

    /// Returns the share that a record is in for certain.
    mutating func share(of name: String) -> String? {
        var path: [String] = []
        var visited: Set<String> = []
        var current = name
        var found: String?
        // Of a circle, nothing is below a root.
        while visited.insert(current).inserted {
            if let known = shares[current] {
                found = known
                break
            }
            path.append(current)
            guard let place = places[current], let own = place.membership else { break }
            if let share = place.ownShare {
                found = share == own.share ? share : nil
                break
            }
            guard let parent = place.parent, let above = places[parent]?.membership,
                above.share == own.share, above.entry == own.above
            else { break }
            current = parent
        }
        for name in path { shares[name] = .some(found) }
        return found
    }
}

extension HierarchyPaths {
    /// The first record above one that does not hold which is not where this one relies on it.
    struct Break {
        var name: String
        /// The entry of it that the record below it relies on.
        var relied: Position
    }

    /// Returns what takes a record out of sight that is stored in a hierarchy.
    func firstBreak(above name: String) -> Break? {
        var visited: Set<String> = []
        var current = name
        while visited.insert(current).inserted {
            guard let place = places[current], let own = place.membership, let parent = place.parent
            else { return nil }
            let above = places[parent]?.membership
            guard let above, above.share == own.share, above.entry == own.above else {
                return Break(name: parent, relied: own.above)
            }
            current = parent
        }
        return nil
    }
}

extension WireError {
    /// Nobody can know now what of a request is shared.
    static func following(in zone: StoredZone, _ limits: Limits) -> WireError {
        WireError(
            .tryAgainLater,
            "records come into shares of zone '\(shortened(zone.name))' or leave them, and more than "
                + "\(limits.recordsAbove) are above those of the request (recordsAbove); try again "
                + "when they have followed"
        ).naming(.recordsAbove)
    }
}

/// In which hierarchies records are.
struct HierarchyHolders {
    /// What is stored of them; in a zone that is not settled it may not hold.
    var memberships: [String: HierarchyMembership] = [:]
    /// The share that each is in for certain.
    var shares: [String: String] = [:]
    /// What is above them, where the zone is not settled.
    fileprivate var paths = HierarchyPaths()

    /// Finds out since when those are hidden that are stored in a hierarchy and not seen in it, as far as
    /// that is known.
    func hiddenSince(
        in zone: StoredZone, _ reader: some SharedRecordReading
    ) throws -> [String: Position] {
        var breaks: [String: HierarchyPaths.Break] = [:]
        for (name, own) in memberships where shares[name] != own.share {
            breaks[name] = paths.firstBreak(above: name)
        }
        guard !breaks.isEmpty else { return [:] }
        let departures = try reader.departures(of: Set(breaks.values.map(\.name)), in: zone.key)
        var found: [String: Position] = [:]
        for (name, broken) in breaks {
            guard let own = memberships[name] else { continue }
            found[name] = own.hiddenSince(
                departures[broken.name]?[own.share], after: broken.relied)
        }
        return found
    }
}

extension SharedRecordReading {
    /// Finds out in which hierarchies records are: what is above them is looked at only while the
    /// zone is not settled.
    func holders(
        of names: Set<String>, in zone: StoredZone, _ limits: Limits
    ) throws -> HierarchyHolders {
        guard !names.isEmpty else { return HierarchyHolders() }
        guard zone.isUnsettled else {
            let memberships = try memberships(of: names, in: zone.key)
            return HierarchyHolders(
                memberships: memberships, shares: memberships.mapValues(\.share))
        }
        var paths = try HierarchyPaths(above: names, in: zone, limits, self)
        var holders = HierarchyHolders(
            memberships: paths.memberships.filter { names.contains($0.key) })
        for name in names { holders.shares[name] = paths.share(of: name) }
        holders.paths = paths
        return holders
    }
}
