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
        // What was read holds for the next walk, too.
        sharing = walk.sharing
        hierarchies.holders = walk.holders
        hierarchies.moved = walk.moved
        hierarchies.isDeferred = walk.isDeferred
        if let (name, error) = walk.failures.min(by: { $0.key < $1.key }) {
            // The batch is looked at again without what fails: something must.
            guard fail({ walk.failures[$0] }) > 0 else {
                throw WireError(
                    .internalError,
                    "record '\(WireError.shortened(name))' cannot be where the request takes it: "
                        + error.reason
                )
            }
            return true
        }
        return failOutsideOfShares()
    }

    /// SHARE-14: a share ends with its record, when its owner deletes that, or with its root.
    private mutating func endShares(in reader: some HierarchyReading) throws -> Bool {
        let cascade = Set(cascaded.map(\.name))
        if zone.sharing == .hierarchies, !cascade.isEmpty {
            try sharing.readHolders(of: cascade, in: zone, call.limits, reader)
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

    /// Fails the operations on records for which there is an error; returns how many.
    @discardableResult
    private mutating func fail(_ error: (String) -> WireError?) -> Int {
        var count = 0
        for index in outcomes.indices {
            switch outcomes[index] {
            case .save, .delete, .leave:
                guard let error = error(names[index]) else { continue }
                outcomes[index] = .failed(error.visible(to: call))
                count += 1
            case .nothingToDelete, .failed: break
            }
        }
        return count
    }

    /// The records of shares that the batch makes.
    var newShares: [String: SavedRecord] {
        savedRecords.filter { $0.value.share != nil && $0.value.previous == nil }
    }
}

extension WireError {
    /// A record is in a share already (SHARE-4).
    static func alreadyShared(_ name: String) -> WireError {
        badRequest(
            "record '\(shortened(name))' is shared already, directly or with a record above it: a "
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
