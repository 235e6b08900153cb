// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Finds out in which hierarchy records are after a batch.
///
/// A record is where the one above it is, up to the root of a share. What a record takes along
/// when it moves is read once; only what hangs below it is looked at again.
///
/// Where that is more than ``Limits/movedRecords``, or the zone is not settled, nothing is taken
/// along: it follows later (``SettleHierarchies``), and is seen nowhere until then.
struct HierarchyWalk {
    /// The share of each record after the batch that is saved, or that moved.
    private(set) var holders: [String: String] = [:]
    /// Records below those that moved, which no operation saves.
    private(set) var moved: [StoredRecord] = []
    /// Why operations cannot be.
    private(set) var failures: [String: WireError] = [:]
    /// With the holders of what was met on the way.
    private(set) var sharing: BatchSharing
    /// Whether what hangs below follows later.
    var isDeferred: Bool { paths != nil }

    private let saved: [String: RecordBatch.SavedRecord]
    private let gone: Set<String>
    private let ended: Set<String>
    private let touched: [String: StoredRecord]
    private let zone: StoredZone
    private let limits: Limits
    /// What is above the records, where what hangs below them follows later.
    private var paths: HierarchyPaths?
    /// The records that operations are about: each is asked for its share.
    private let names: [String]
    /// The records among these that are saved with this parent.
    private let savedChildren: [String: [String]]
    /// The share of each root after the batch.
    private var rootShares: [String: String] = [:]
    /// The operation that makes the share of a root.
    private var makers: [String: String] = [:]
    /// The operation that ends the share of a root.
    private var enders: [String: String] = [:]
    /// The share of each of ``names`` after the batch, nil for none, as far as it is known.
    private var shares: [String: String?] = [:]
    /// What each of ``names`` takes along that was found to move.
    private var taken: [String: Taken] = [:]
    /// Which of ``names`` takes a record along.
    private var tops: [String: String] = [:]
    /// The first of ``names`` above a record that no operation saves, where what hangs below them
    /// follows later.
    private var regionTops: [String: String] = [:]

    /// What a record takes along when it moves: all below it, but for what the batch saves
    /// itself.
    private struct Taken {
        /// Records that no operation is about.
        var names: [String] = []
        /// Records below it that operations are about.
        var below: [String] = []
        /// Roots of shares, where hierarchies of their own begin.
        var roots: [String] = []
    }

    /// By what the share of a record is decided.
    private enum Above {
        /// By itself: it is a root, or nothing is above it that moves.
        case share(String?)
        /// By another one of ``names``.
        case record(String)
        /// By itself, as long as one of ``names`` far above it does not move: what does takes
        /// nothing along at once.
        case region(String?, top: String)

        /// The one of ``names`` that it depends on.
        var dependence: String? {
            switch self {
            case .share: nil
            case .record(let name), .region(_, top: let name): name
            }
        }
    }

    init(_ batch: RecordBatch) {
        let ended = Set(batch.hierarchies.ended.map(\.name))
        saved = batch.savedRecords
        gone = batch.deletedNames.union(batch.cascaded.map(\.name))
        touched = Dictionary(batch.hierarchies.touched.map { ($0.name, $0) }) { first, _ in first }
        names = Set(saved.keys).union(touched.keys).sorted()
        savedChildren = saved.values.reduce(into: [:]) { children, saved in
            if let parent = saved.record.parent {
                children[parent, default: []].append(saved.record.name)
            }
        }
        zone = batch.zone
        limits = batch.call.limits
        sharing = batch.sharing
        self.ended = ended
        for (root, share) in batch.sharing.byRoot where !ended.contains(share.name) {
            rootShares[root] = share.name
        }
        for (name, record) in batch.newShares {
            guard let root = record.share?.root else { continue }
            rootShares[root] = name
            makers[root] = name
        }
        for share in batch.hierarchies.ended {
            if let root = share.root { enders[root] = share.name }
        }
    }

    /// Decides about all records of the batch.
    mutating func run(in reader: some HierarchyReading) throws {
        // Also those that operations do not name, as the parents that records had.
        try note(Set(savedChildren.keys), in: reader)
        checkParents()
        let circular = try findCircles(in: reader)
        guard failures.isEmpty else { return }
        let follows = zone.isUnsettled ? false : try follow(circular, in: reader)
        if !follows { try prepareDeferring(in: reader) }
        guard failures.isEmpty else { return }
        findFailures()
        if failures.isEmpty, let paths {
            var check = SharedRootCheck(
                saved: saved, paths: paths, rootShares: rootShares, makers: makers, ended: ended,
                zone: zone, limits: limits)
            try check.run(in: reader)
            failures = check.failures
        }
        guard failures.isEmpty else { return }
        try conclude(in: reader)
    }

    /// Takes along what hangs below what moves, until nothing moves any more: what moved may carry
    /// a parent of what is saved. Returns whether that was no more than may be.
    private mutating func follow(
        _ circular: Set<String>, in reader: some HierarchyReading
    ) throws -> Bool {
        var changed = names
        while !changed.isEmpty {
            for name in changed { settle(name) }
            let moving = changed.filter {
                taken[$0] == nil && (hasMoved($0) || circular.contains($0))
            }
            // Most have nothing below them: asked for all at once.
            guard try readChildren(of: Set(moving), in: reader) else { return false }
            for name in moving { guard try take(name, in: reader) else { return false } }
            changed = forgetAll(below: moving)
        }
        return true
    }

    /// Begins again without taking anything along.
    private mutating func prepareDeferring(in reader: some HierarchyReading) throws {
        (shares, taken, tops) = ([:], [:], [:])
        let needed = Set(names).union(savedChildren.keys)
        if zone.isUnsettled {
            paths = try HierarchyPaths(above: needed, in: zone, limits, reader)
        } else if let places = try reader.places(
            above: needed, in: zone.key, limit: limits.recordsAbove)
        {
            paths = HierarchyPaths(places)
        } else {
            return failMoves("the records of the request")
        }
        findTops(above: needed)
        for name in names { settle(name) }
    }

    private mutating func readChildren(
        of names: Set<String>, in reader: some HierarchyReading
    ) throws -> Bool {
        try sharing.readChildren(
            of: names, in: zone.key, limit: limits.movedRecords + self.names.count, reader)
    }

    /// A share is no parent: it could not be deleted before what hangs below it.
    private mutating func checkParents() {
        for (name, record) in saved {
            guard let parent = record.record.parent, parent != record.previous?.parent,
                parent == ShareNames.zoneWideShare || saved[parent]?.share != nil
                    || before(parent) == parent
            else { continue }
            failures[name] = .badRequest(
                "share '\(WireError.shortened(parent))' cannot be the parent of record "
                    + "'\(WireError.shortened(name))'; its root can",
                ckCode: CKErrorCode.invalidArguments
            )
        }
    }

    /// Returns the records that come below themselves, and others of the batch that then are too: from
    /// their parents it does not show that they leave their share. Where what hangs below follows later, the way up is looked at anyway.
    private mutating func findCircles(in reader: some HierarchyReading) throws -> Set<String> {
        guard !zone.isUnsettled else { return [] }
        let names = saved.values.filter { saved in
            saved.getsParent && rootShares[saved.record.name] == nil
                && before(saved.record.name) != nil
        }.map(\.record.name)
        guard !names.isEmpty else { return [] }
        let found = try sharing.readPaths(
            above: Set(savedChildren.keys), in: zone.key, limit: limits.recordsAbove, reader)
        guard let found else {
            failMoves("the new parents")
            return []
        }
        return circles(above: names, found).intersection(saved.keys)
    }

    /// Returns the records of circles that are above some; each record on the way is passed once.
    private func circles(above names: [String], _ found: HierarchyPaths) -> Set<String> {
        var circular: Set<String> = []
        var passed: Set<String> = []
        for name in names {
            var path: [String] = []
            var next: String? = name
            while let current = next, passed.insert(current).inserted {
                path.append(current)
                next = rootShares[current] == nil ? parent(of: current, found) : nil
            }
            // What was passed on this way is in the circle from there on.
            if let next, let start = path.firstIndex(of: next) {
                circular.formUnion(path[start...])
            }
        }
        return circular
    }

    /// The parent that a record has after the batch.
    private func parent(of name: String, _ found: HierarchyPaths) -> String? {
        if let saved = saved[name] { return saved.record.parent }
        return found[name]?.parent
    }

    // MARK: Where records are

    /// The share that a record was in, if it goes on.
    private func before(_ name: String) -> String? { sharing.holder(of: name, without: ended) }

    /// Whether a record takes what hangs below it into another share, or out of one.
    private func hasMoved(_ name: String) -> Bool {
        guard touched[name] != nil || saved[name]?.previous != nil else { return false }
        return share(of: name) != before(name)
    }

    private func share(of name: String) -> String? { shares[name] ?? nil }

    /// Whether it is known that a record is where it was.
    private func stays(_ name: String) -> Bool { shares[name].map { $0 == before(name) } ?? false }

    /// The share that follows from what decides, which is known.
    private func share(by above: Above) -> String? {
        switch above {
        case .share(let share): share
        case .record(let name): share(of: name)
        case .region(let share, let top): stays(top) ? share : nil
        }
    }

    /// What decides about one of ``names``.
    private func above(_ name: String) -> Above {
        if let own = rootShares[name] { return .share(own) }
        guard let record = saved[name] else { return above(unsaved: name) }
        // The record of a share is in what it shares.
        return record.share != nil ? .share(name) : above(childOf: record.record.parent)
    }

    /// What decides about what has this parent.
    private func above(childOf parent: String?) -> Above {
        guard let parent else { return .share(nil) }
        if saved[parent] != nil || touched[parent] != nil { return .record(parent) }
        return rootShares[parent].map { .share($0) } ?? above(unsaved: parent)
    }

    private func above(unsaved name: String) -> Above {
        if let top = tops[name] { return .record(top) }
        guard !gone.contains(name) else { return .share(nil) }
        guard let top = regionTops[name] else { return .share(before(name)) }
        return .region(before(name), top: top)
    }

    /// Finds the first of ``names`` above records that no operation saves, in their hierarchies.
    private mutating func findTops(above names: Set<String>) {
        regionTops = [:]
        var ways = WaysUp<String>()
        for name in names where saved[name] == nil {
            regionTops[name] = ways.find(from: name) { current in
                guard ownShare(of: current) == nil, let parent = paths?[current]?.parent else {
                    return .end
                }
                let isNamed = saved[parent] != nil || touched[parent] != nil
                return isNamed ? .found(parent) : .up(parent)
            }
        }
    }

    /// The share that a record is the root of after the batch.
    private func ownShare(of name: String) -> String? {
        rootShares[name]
            ?? paths?[name]?.ownShare.flatMap { ended.contains($0) ? nil : $0 }
    }

    /// Finds the share of a record, and of all above it of which it is not known yet.
    private mutating func settle(_ name: String) {
        var visited: Set<String> = []
        settle(name, &visited)
    }

    private mutating func settle(_ name: String, _ visited: inout Set<String>) {
        var path: [String] = []
        var current = name
        var share: String?
        // Of a circle, nothing is below a root.
        walk: while visited.insert(current).inserted {
            if let known = shares[current] {
                share = known
                break
            }
            path.append(current)
            switch above(current) {
            case .share(let found):
                share = found
                break walk
            case .record(let next): current = next
            case .region(let found, let top):
                if shares[top] == nil, !visited.contains(top) { settle(top, &visited) }
                share = stays(top) ? found : nil
                break walk
            }
        }
        for name in path { shares[name] = .some(share) }
    }

    /// Forgets the shares of all that is below records, and returns it.
    private mutating func forgetAll(below tops: [String]) -> [String] {
        var forgotten: Set<String> = []
        var open = tops
        while let name = open.popLast() {
            for child in (savedChildren[name] ?? []) + (taken[name]?.below ?? [])
            where forgotten.insert(child).inserted {
                open.append(child)
            }
        }
        for name in forgotten { shares[name] = nil }
        return forgotten.sorted()
    }

    // MARK: What is taken along

    /// Reads which shares hold records, and which have them as their roots.
    private mutating func note(_ names: Set<String>, in reader: some HierarchyReading) throws {
        for share in try sharing.readShares(of: names, in: zone, limits, reader) {
            guard let root = share.root, !ended.contains(share.name), makers[root] == nil else {
                continue
            }
            rootShares[root] = share.name
        }
    }

    /// Finds what a record takes along; returns whether that is no more than may be.
    private mutating func take(_ top: String, in reader: some HierarchyReading) throws -> Bool {
        var found = Taken()
        var frontier: Set<String> = [top]
        while !frontier.isEmpty {
            guard try readChildren(of: frontier, in: reader) else { return false }
            let children = frontier.flatMap { sharing.children(of: $0) }.filter {
                saved[$0] == nil && !gone.contains($0) && tops[$0] == nil && $0 != top
            }
            try note(Set(children), in: reader)
            frontier = []
            for child in children {
                if rootShares[child] != nil {
                    found.roots.append(child)
                    continue
                }
                tops[child] = top
                if touched[child] != nil {
                    found.below.append(child)
                } else {
                    found.names.append(child)
                    found.below += savedChildren[child] ?? []
                    frontier.insert(child)
                }
            }
            // Each record is below one, so that all together are bounded, too.
            guard tops.count <= limits.movedRecords else { return false }
        }
        taken[top] = found
        return true
    }

    /// Keeps what moved.
    private mutating func conclude(in reader: some HierarchyReading) throws {
        holders = shares.compactMapValues { $0 }
        var movedNames: Set<String> = []
        for (top, found) in taken where hasMoved(top) {
            let share = share(of: top)
            for name in found.names {
                if let share { holders[name] = share }
                if before(name) != share { movedNames.insert(name) }
            }
        }
        guard !movedNames.isEmpty else { return }
        moved = try reader.recordsWithoutFields(movedNames, in: zone.key).values
            .sorted { $0.position < $1.position }
    }

    // MARK: What cannot be

    /// Fails what cannot be, whatever becomes of the other operations that fail.
    private mutating func findFailures() {
        var found: [String: WireError] = [:]
        for name in names { found[name] = failure(of: name) }
        let independent = found.filter { name, _ in !isBelow(name, among: found) }
        // Of a circle, each is below the others.
        for (name, error) in independent.isEmpty ? found : independent {
            failures[blamed(name)] = error
        }
    }

    /// The operation that is to blame for where a record would be: the one that makes its share or
    /// saves it, else the one that takes it along, else the one that ends its share.
    private func blamed(_ name: String) -> String {
        var visited: Set<String> = []
        var current = name
        while visited.insert(current).inserted {
            if let maker = makers[current] { return maker }
            if saved[current] != nil { return current }
            guard let top = tops[current] else { break }
            current = top
        }
        return enders[name] ?? name
    }

    private func failure(of name: String) -> WireError? {
        // SHARE-4: a root is in no other hierarchy.
        guard !isRootInside(name) else { return .alreadyShared(name) }
        guard let found = taken[name], hasMoved(name) else { return nil }
        if let share = share(of: name) {
            var others = found.roots.filter { rootShares[$0] != share }
            // Of what is to be shared anew, nothing may be.
            if makers[name] != nil {
                others += found.names.filter { before($0) != nil && before($0) != share }
            }
            if let other = others.min() { return .alreadyShared(other) }
        }
        return nil
    }

    /// Whether a record is the root of a share, and inside of another one.
    private func isRootInside(_ name: String) -> Bool {
        guard let own = rootShares[name] else { return false }
        let other: String?
        if let record = saved[name] {
            other = share(by: above(childOf: record.record.parent))
        } else {
            other = makers[name] == nil ? nil : before(name)
        }
        return other != nil && other != own
    }

    /// Whether the share of a record depends on another one that fails.
    private func isBelow(_ name: String, among failing: [String: WireError]) -> Bool {
        var visited: Set<String> = [name]
        var next = above(name)
        if isRootInside(name), let record = saved[name] {
            next = above(childOf: record.record.parent)
        }
        while let current = next.dependence, visited.insert(current).inserted {
            if failing[current] != nil { return true }
            next = above(current)
        }
        return false
    }

    /// Fails all that moves where too much is above some records to know where that leads.
    private mutating func failMoves(_ lower: String) {
        let error = WireError.tooManyAbove(lower, in: zone, limits)
        for saved in saved.values where saved.getsParent { failures[saved.record.name] = error }
        for maker in makers.values { failures[maker] = error }
    }
}

extension RecordBatch.SavedRecord {
    /// Whether a record that was there gets another parent, or none.
    var getsParent: Bool { previous.map { $0.parent != record.parent } ?? false }
}

extension WireError {
    /// Nobody can know where what moves would lead.
    static func tooManyAbove(_ lower: String, in zone: StoredZone, _ limits: Limits) -> WireError {
        badRequest(
            "more than \(limits.recordsAbove) records of zone '\(shortened(zone.name))' are above "
                + "\(lower) (recordsAbove); what is to come into a share, or to leave it, is more "
                + "than \(limits.movedRecords) records: move it in parts",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.recordsAbove)
    }
}
