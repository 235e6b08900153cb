// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What is above records of a zone that is not settled, and so whether what is stored of them
/// holds.
///
/// A record is in the hierarchy that is stored with it if the one above it is, since before
/// (``HierarchyMembership``), and so on up to the root. What does not hold yet is not seen:
/// it comes into view with a change, when it is settled.
struct HierarchyPaths {
    private let places: [String: HierarchyPlace]
    /// The share of each record that was asked for, nil for none.
    private var shares: [String: String?] = [:]

    /// Reads what is above records; fails with `TRY_AGAIN_LATER` where that is very much.
    init(
        above names: Set<String>, in zone: StoredZone, _ limits: Limits,
        _ reader: some SharedRecordReading
    ) throws {
        let limit = limits.recordsAbove
        guard let places = try reader.places(above: names, in: zone.key, limit: limit) else {
            throw WireError(
                .tryAgainLater,
                "records come into shares of zone '\(WireError.shortened(zone.name))' or leave them, "
                    + "and more than \(limit) are above those of the request (recordsAbove); try "
                    + "again when they have followed"
            ).naming(.recordsAbove)
        }
        self.init(places)
    }

    /// Takes what was read.
    init(_ places: [String: HierarchyPlace]) { self.places = places }

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

/// In which hierarchies records are.
struct HierarchyHolders {
    /// What is stored of them; in a zone that is not settled it may not hold.
    var memberships: [String: HierarchyMembership] = [:]
    /// The share that each is in for certain.
    var shares: [String: String] = [:]
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
        return holders
    }
}
