// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What following hierarchies needs of the store.
typealias HierarchyReading = RecordReading & ShareReading & SharedRecordReading

extension RecordBatch {
    /// Fails where somebody else than the owner deletes what is shared as a whole (SHARE-13).
    func checkDeletingRoot(_ name: String) throws {
        guard access.sharedRights != nil, sharing.byRoot[name] != nil else { return }
        throw WireError.rootOfOthers(name)
    }

    /// Finds out which records come into hierarchies that are shared, which leave them, and
    /// which shares end with the batch; returns whether that failed an operation.
    ///
    /// A record belongs to the hierarchy of its parent, at any depth, unless it is a root. Who
    /// reads need not know: it is kept with each record (``SharedRecord``).
    mutating func followHierarchies(in reader: some HierarchyReading) throws -> Bool {
        hierarchies = HierarchyChanges()
        guard sharing.isConcerned else { return false }
        guard try !endShares(in: reader) else { return true }
        guard try !failImpossibleShares() else { return true }
        var walk = HierarchyWalk(self)
        try walk.run(in: reader)
        hierarchies.holders = walk.holders
        hierarchies.moved = walk.moved
        sharing = walk.sharing
        if !walk.failures.isEmpty {
            fail { walk.failures[$0] }
            return true
        }
        return failOutsideOfShares()
    }

    /// SHARE-14: a share ends with its record, when its owner deletes that, or with its root.
    private mutating func endShares(in reader: some HierarchyReading) throws -> Bool {
        let cascade = Set(cascaded.map(\.name))
        if zone.sharing == .hierarchies, !cascade.isEmpty {
            sharing.add(holders: try reader.sharesHolding(cascade, in: zone.key))
            sharing.add(found: try reader.shares(ofRoots: cascade, in: zone.key))
        }
        let deleted = deletedNames
        if access.sharedRights != nil,
            cascade.contains(where: { sharing.byRoot[$0] != nil })
        {
            // It may be in a share that the caller knows nothing of.
            fail { deleted.contains($0) ? .takesRootAlong($0) : nil }
            return true
        }
        var endedRecords: Set<String> = []
        for name in deleted.union(cascade).sorted() {
            if let share = sharing.byName[name] {
                hierarchies.ended.append(share)
            } else if let share = sharing.byRoot[name], !deleted.contains(share.name) {
                hierarchies.ended.append(share)
                endedRecords.insert(share.name)
            }
        }
        if !endedRecords.isEmpty {
            hierarchies.endedRecords = try reader.records(endedRecords, in: zone.key).values
                .sorted { $0.name < $1.name }
        }
        let saved = savedRecords
        hierarchies.touched = hierarchies.ended.compactMap { share in
            share.root.flatMap { root in
                saved[root] == nil && !deleted.contains(root) && !cascade.contains(root)
                    ? sharing.roots[root] : nil
            }
        }
        return false
    }

    /// SHARE-2, SHARE-4: what is to be shared must be there, and not be shared yet.
    private mutating func failImpossibleShares() throws -> Bool {
        let saved = savedRecords
        let gone = deletedNames.union(cascaded.map(\.name))
        let ended = Set(hierarchies.ended.map(\.name))
        var shared: Set<String> = []
        var errors: [String: WireError] = [:]
        let isWhole = newShares.contains { $0.value.share?.root == nil }
        for (name, record) in newShares.sorted(by: { $0.key < $1.key }) {
            guard let root = record.share?.root else { continue }
            guard !isWhole else {
                // SHARE-5
                errors[name] = .badRequest(
                    "record '\(WireError.shortened(root))' and its whole zone cannot both be shared",
                    ckCode: CKErrorCode.serverRejectedRequest
                )
                continue
            }
            let stored = gone.contains(root) ? nil : sharing.roots[root]
            guard saved[root] != nil || stored != nil else {
                errors[name] = .badRequest(
                    "record '\(WireError.shortened(root))', which share "
                        + "'\(WireError.shortened(name))' is for, does not exist; save it before, "
                        + "or in the same batch",
                    ckCode: CKErrorCode.invalidArguments
                )
                continue
            }
            let isShared = sharing.byRoot[root].map { !ended.contains($0.name) } ?? false
            guard !isShared, shared.insert(root).inserted else {
                errors[name] = .alreadyShared(root)
                continue
            }
            guard let stored else { continue }
            let tag = request.operations[names.firstIndex(of: name) ?? 0].share.root?
                .recordChangeTag
            guard tag == nil || tag == stored.position.changeTag else {
                errors[name] = WireError(
                    .conflict,
                    "record '\(WireError.shortened(root))', which share "
                        + "'\(WireError.shortened(name))' is for, has changed"
                )
                continue
            }
            hierarchies.touched.append(stored)
        }
        fail { errors[$0] }
        return !errors.isEmpty
    }

    /// SAVE-27: what a participant saves is in a hierarchy that they may write.
    private mutating func failOutsideOfShares() -> Bool {
        guard let rights = access.sharedRights else { return false }
        var errors: [String: WireError] = [:]
        for (name, saved) in savedRecords where saved.share == nil {
            do {
                try rights.checkWriting(of: name, in: hierarchies.holders[name])
            } catch let error as WireError {
                errors[name] = error
            } catch {}
        }
        fail { errors[$0] }
        return !errors.isEmpty
    }

    /// Fails the operations on records for which there is an error.
    private mutating func fail(_ error: (String) -> WireError?) {
        for index in outcomes.indices {
            switch outcomes[index] {
            case .save, .delete, .leave:
                guard let error = error(names[index]) else { continue }
                outcomes[index] = .failed(error.visible(to: call))
            case .nothingToDelete, .failed: break
            }
        }
    }

    /// The records of shares that the batch makes.
    var newShares: [String: SavedRecord] {
        savedRecords.filter { $0.value.share != nil && $0.value.previous == nil }
    }
}

/// Finds out in which hierarchy records are after a batch.
private struct HierarchyWalk {
    /// The share of each record after the batch that is saved, or that moved.
    private(set) var holders: [String: String] = [:]
    /// Records below those that moved, which no operation saves.
    private(set) var moved: [StoredRecord] = []
    /// Why operations cannot be.
    private(set) var failures: [String: WireError] = [:]

    private let saved: [String: RecordBatch.SavedRecord]
    private let gone: Set<String>
    private let ended: Set<String>
    private let touched: [String: StoredRecord]
    private let zone: ZoneKey
    private let limits: Limits
    /// With the holders of what was met on the way.
    private(set) var sharing: BatchSharing
    /// The share of each root after the batch.
    private var rootShares: [String: String] = [:]
    /// The operation that makes the share of a root.
    private var makers: [String: String] = [:]
    /// The share after the batch of records that hang below one that moved; nil for none.
    private var carried: [String: String?] = [:]
    private var movedNames: Set<String> = []

    init(_ batch: RecordBatch) {
        let ended = Set(batch.hierarchies.ended.map(\.name))
        saved = batch.savedRecords
        gone = batch.deletedNames.union(batch.cascaded.map(\.name))
        touched = Dictionary(batch.hierarchies.touched.map { ($0.name, $0) }) { first, _ in first }
        zone = batch.zone.key
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
    }

    /// Goes on until nothing moves any more: what moved may carry a parent of what is saved.
    mutating func run(in reader: some HierarchyReading) throws {
        // Also those that operations do not name, as the parents that records had.
        let parents = Set(saved.values.compactMap(\.record.parent))
        sharing.add(holders: try reader.sharesHolding(parents, in: zone))
        let names = (Array(saved.keys) + touched.keys).sorted()
        checkParents()
        var last: [String: String]?
        // Each round settles what hangs below what the round before settled.
        for _ in 0...names.count + 1 where failures.isEmpty {
            holders = [:]
            for name in names {
                var visited: Set<String> = []
                holders[name] = shareAfter(name, &visited)
            }
            guard holders != last else { break }
            last = holders
            (carried, movedNames) = ([:], [])
            for name in names where failures.isEmpty {
                checkRoot(name)
                let isNew = touched[name] == nil && saved[name]?.previous == nil
                guard !isNew, holders[name] != before(name) else { continue }
                try carry(name, to: holders[name], in: reader)
            }
        }
        guard failures.isEmpty else { return }
        for (name, share) in carried { holders[name] = share }
        guard !movedNames.isEmpty else { return }
        moved = try reader.recordsWithoutFields(movedNames, in: zone).values
            .sorted { $0.position < $1.position }
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

    /// The share that a record was in, if it goes on.
    private func before(_ name: String) -> String? { sharing.holder(of: name, without: ended) }

    private func shareAfter(_ name: String, _ visited: inout Set<String>) -> String? {
        if let own = rootShares[name] { return own }
        guard let record = saved[name] else {
            if let carried = carried[name] { return carried }
            return gone.contains(name) ? nil : before(name)
        }
        // The record of a share is in what it shares.
        if record.share != nil { return name }
        guard let parent = record.record.parent, visited.insert(name).inserted else { return nil }
        return shareAfter(parent, &visited)
    }

    /// SHARE-4: a root is in no other hierarchy.
    private mutating func checkRoot(_ name: String) {
        guard let own = rootShares[name] else { return }
        let above: String?
        if let record = saved[name] {
            var visited: Set<String> = [name]
            above = record.record.parent.flatMap { shareAfter($0, &visited) }
        } else {
            above = makers[name] == nil ? nil : before(name)
        }
        guard let above, above != own else { return }
        failures[makers[name] ?? name] = .alreadyShared(name)
    }

    /// Takes all that hangs below a record along, but for what the batch saves itself.
    private mutating func carry(
        _ top: String, to share: String?, in reader: some HierarchyReading
    ) throws {
        var frontier: Set<String> = [top]
        while !frontier.isEmpty {
            let sources = Set(
                try reader.references(to: frontier, in: zone).lazy
                    .filter { $0.kind == .parent }.map(\.source)
            ).filter { saved[$0] == nil && !gone.contains($0) && carried[$0] == nil && $0 != top }
            sharing.add(holders: try reader.sharesHolding(sources, in: zone))
            let roots = Set(
                try reader.shares(ofRoots: sources, in: zone)
                    .filter { !ended.contains($0.name) && $0.name != share }.compactMap(\.root)
            ).union(sources.filter { makers[$0] != nil && rootShares[$0] != share })
            // Of what is to be shared anew, nothing may be.
            var shared = roots
            if makers[top] != nil {
                for name in sources where before(name) != nil && before(name) != share {
                    shared.insert(name)
                }
            }
            if share != nil, let other = shared.min() {
                failures[makers[top] ?? top] = .alreadyShared(other)
                return
            }
            frontier = sources.subtracting(roots)
            for name in frontier {
                carried[name] = .some(share)
                if before(name) != share { movedNames.insert(name) }
            }
            guard movedNames.count <= limits.movedRecords else {
                failures[makers[top] ?? top] = WireError.badRequest(
                    "more than \(limits.movedRecords) records below record "
                        + "'\(WireError.shortened(top))' would come into a share or leave it with "
                        + "one save (movedRecords); move them in parts",
                    ckCode: CKErrorCode.limitExceeded
                ).naming(.movedRecords)
                return
            }
        }
    }
}

extension WireError {
    /// A record is in a share already (SHARE-4).
    fileprivate static func alreadyShared(_ name: String) -> WireError {
        badRequest(
            "record '\(shortened(name))' is shared already, by itself or with a record above it: a "
                + "record is in one share",
            ckCode: CKErrorCode.alreadyShared
        )
    }

    /// A participant deletes what a root of a share refers to (SHARE-13).
    fileprivate static func takesRootAlong(_ name: String) -> WireError {
        WireError(
            .accessDenied,
            "WRITE operation not permitted: record '\(shortened(name))' is deleted by the owner of "
                + "the zone only, because others would be deleted with it"
        )
    }

    /// A participant deletes what is shared as a whole (SHARE-13).
    fileprivate static func rootOfOthers(_ name: String) -> WireError {
        WireError(
            .accessDenied,
            "WRITE operation not permitted: record '\(shortened(name))' is the root of a share, and "
                + "only its owner deletes it; to leave the share, delete the share"
        )
    }
}
