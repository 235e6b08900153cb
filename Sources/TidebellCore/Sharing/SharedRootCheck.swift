// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// SHARE-4, where nothing below what moves was looked at: finds what would take the root of a share
/// into another hierarchy, from below. All that is above the roots of the zone is read.
struct SharedRootCheck {
    /// What the batch saves, by name.
    let saved: [String: RecordBatch.SavedRecord]
    /// What is above the records of the batch.
    let paths: HierarchyPaths
    /// The share of each root after the batch.
    let rootShares: [String: String]
    /// The operation that makes the share of a root.
    let makers: [String: String]
    /// The shares that end.
    let ended: Set<String>
    let zone: StoredZone
    let limits: Limits
    /// Why operations cannot be.
    private(set) var failures: [String: WireError] = [:]

    /// That a record is below a root.
    private struct Inside {
        var root: String
        /// The lowest record on the way there that gets another parent.
        var moved: String?
    }

    init(
        saved: [String: RecordBatch.SavedRecord], paths: HierarchyPaths,
        rootShares: [String: String], makers: [String: String], ended: Set<String>,
        zone: StoredZone, limits: Limits
    ) {
        self.saved = saved
        self.paths = paths
        self.rootShares = rootShares
        self.makers = makers
        self.ended = ended
        self.zone = zone
        self.limits = limits
    }

    /// Checks the roots that the batch makes, and all others of the zone.
    mutating func run(in reader: some HierarchyReading) throws {
        guard !makers.isEmpty || saved.values.contains(where: \.getsParent) else { return }
        var ways = WaysUp<Inside>()
        check(makers.keys.sorted(), paths, &ways)
        var left = limits.recordsAbove
        var last = ""
        while true {
            let page = try reader.shareRoots(in: zone.key, after: last, limit: ShareGrant.perPage)
            let roots = page.filter { !ended.contains($0.share) }.map(\.root)
            let places = try reader.places(above: Set(roots), in: zone.key, limit: left)
            guard let places else {
                let error = WireError.tooManyAbove("those that are shared", in: zone, limits)
                for saved in saved.values where saved.getsParent {
                    failures[saved.record.name] = error
                }
                for maker in makers.values { failures[maker] = error }
                return
            }
            left -= places.count
            check(roots, HierarchyPaths(places), &ways)
            guard page.count >= ShareGrant.perPage, let end = page.last else { return }
            last = end.share
        }
    }

    private mutating func check(
        _ roots: [String], _ found: HierarchyPaths, _ ways: inout WaysUp<Inside>
    ) {
        for root in roots {
            let inside = ways.find(from: root) { name in
                guard let parent = parent(of: name, found) else { return .end }
                let own = rootShares[parent] ?? (found[parent] ?? paths[parent])?.ownShare
                guard let own, !ended.contains(own) else { return .up(parent) }
                return .found(Inside(root: parent, moved: isMoved(name) ? name : nil))
            } passing: { inside, name in
                Inside(root: inside.root, moved: isMoved(name) ? name : inside.moved)
            }
            // What comes below itself is in no other share.
            guard let inside, inside.root != root,
                let blamed = makers[root] ?? inside.moved ?? makers[inside.root]
            else { continue }
            failures[blamed] = .alreadyShared(root)
        }
    }

    private func isMoved(_ name: String) -> Bool { saved[name]?.getsParent ?? false }

    /// The parent that a record has after the batch.
    private func parent(of name: String, _ found: HierarchyPaths) -> String? {
        if let saved = saved[name] { return saved.record.parent }
        return (found[name] ?? paths[name])?.parent
    }
}
