// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension RecordBatch {
    /// What the zone takes more after the batch, as far as it did not fail.
    var storageChange: StorageUse {
        let gone = (cascaded + hierarchies.endedRecords).reduce(StorageUse.zero) { $0 - $1.use }
        return outcomes.reduce(gone) { $0 + $1.storageChange }
    }

    /// Fails the saves that the quota has no room for; returns whether there were any.
    ///
    /// What shrinks or goes makes room first, then records get it in the order of the
    /// request. What does not grow is saved however full it is, and what has its parent
    /// in the batch fails with it (SAVE-26).
    mutating func failBeyondQuota(in reader: some StorageUseReading) throws -> Bool {
        let change = storageChange.bytes
        guard change > 0, let quota = access.quota(call.limits) else { return false }
        let used = try access.database.quotaUse(access.stored?.database, in: reader).bytes
        guard used + change > quota.bytes else { return false }
        var refused: Set<String> = []
        var room = quota.bytes - used - change
        for outcome in outcomes { room += max(0, outcome.storageChange.bytes) }
        for index in outcomes.indices {
            guard case .save(let saved) = outcomes[index] else { continue }
            let growth = outcomes[index].storageChange.bytes
            guard growth > room, growth > 0 else {
                room -= max(0, growth)
                continue
            }
            refused.insert(saved.record.name)
            outcomes[index] = .failed(
                quota.passed(byRecord: saved.record.name, of: growth, used: used).visible(to: call)
            )
        }
        failDependents(of: refused, quota, used: used)
        return !refused.isEmpty
    }

    /// SAVE-26: what depends on a record that there is no room for fails likewise, what
    /// depends on one that failed for its own parent with an internal error.
    private mutating func failDependents(of refused: Set<String>, _ quota: Quota, used: Int64) {
        var refused = refused
        var hasFailed: Bool
        repeat {
            hasFailed = false
            for index in outcomes.indices {
                guard case .save(let saved) = outcomes[index],
                    saved.references.contains(where: {
                        $0.kind != .deleteSelf && refused.contains($0.target)
                            && existing[$0.target] == nil
                    })
                else { continue }
                refused.insert(saved.record.name)
                outcomes[index] = .failed(
                    quota.passed(
                        byRecord: saved.record.name,
                        of: outcomes[index].storageChange.bytes, used: used
                    ).visible(to: call)
                )
                hasFailed = true
            }
        } while hasFailed
        let orphans = Set(names.indices.filter { outcomes[$0].isOrphan }.map { names[$0] })
        for index in outcomes.indices where outcomes[index].isOrphan {
            guard let parent = request.operations[index].parent ?? nil, orphans.contains(parent),
                parent != names[index]
            else { continue }
            outcomes[index] = .failed(
                WireError(
                    .internalError,
                    "record '\(WireError.shortened(parent))', the parent of record "
                        + "'\(WireError.shortened(names[index]))', failed"
                )
            )
        }
    }
}

extension RecordBatch.Outcome {
    /// What it makes the zone take more.
    fileprivate var storageChange: StorageUse {
        switch self {
        case .save(let saved), .leave(let saved):
            saved.record.use - (saved.previous?.use ?? .zero)
        case .delete(let record): .zero - record.use
        case .nothingToDelete, .failed: .zero
        }
    }

    /// Whether it failed because what it refers to is not there.
    fileprivate var isOrphan: Bool {
        if case .failed(let error) = self { error.code == .validatingReferenceError } else { false }
    }
}

extension [WireAsset] {
    /// The bytes of the files, each content once.
    var distinctBytes: Int64 {
        var counted: Set<String> = []
        return reduce(0) { sum, asset in
            guard let content = asset.content, counted.insert(content).inserted else { return sum }
            return sum + asset.size
        }
    }
}

/// The bound of what a database may hold.
struct Quota {
    var bytes: Int64
    /// Whose it is, and the name of the bound.
    var owner: String
    var bound: WireError.Bound
    /// Whether it is not the caller's, who does not learn what its owner holds.
    var isOfAnother = false

    func passed(byRecord name: String, of growth: Int64, used: Int64) -> WireError {
        passed("record '\(WireError.shortened(name))' needs \(growth) bytes more", used: used)
    }

    func passed(byZone name: String, used: Int64) -> WireError {
        passed(
            "zone '\(WireError.shortened(name))' counts \(StoredZone.overhead) bytes", used: used)
    }

    /// There is no room for a file either.
    func isFull(used: Int64) -> WireError {
        passed("there is no room for files", used: used)
    }

    private func passed(_ what: String, used: Int64) -> WireError {
        guard !isOfAnother else {
            return WireError(
                .quotaExceeded,
                "\(what); the owner of the zone has no room for it (\(bound.rawValue)): ask them to "
                    + "delete some"
            ).naming(bound)
        }
        return WireError(
            .quotaExceeded,
            "\(what); \(owner) hold \(used) of at most \(bytes) bytes (\(bound.rawValue)); "
                + "delete some first"
        ).naming(bound)
    }
}

extension DatabaseAccess {
    /// The quota that what is saved here counts against, which is the owner's
    /// (ACCT-9); nil for none.
    func quota(_ limits: Limits) -> Quota? {
        guard owner != nil else {
            return limits.containerQuota.map {
                Quota(
                    bytes: $0, owner: "the public records of the container",
                    bound: .containerQuota
                )
            }
        }
        return limits.userQuota.map {
            Quota(
                bytes: $0, owner: "the private records and zones of the user", bound: .userQuota)
        }
    }

    /// What counts against the quota now, which is of all private databases of a user.
    func quotaUse(
        _ stored: StoredDatabase?, in reader: some StorageUseReading
    ) throws -> StorageUse {
        guard let owner else { return stored?.use ?? .zero }
        return try reader.privateUse(of: owner.account)
    }
}

extension ZoneAccess {
    /// The quota that what the caller saves in the zone counts against: its owner's (SHARE-23).
    fileprivate func quota(_ limits: Limits) -> Quota? {
        var quota = database.quota(limits)
        quota?.isOfAnother = sharedRights != nil
        return quota
    }

    /// Fails with `QUOTA_EXCEEDED` where nothing may be added.
    func requireRoom(_ limits: Limits, in reader: some StorageUseReading) throws {
        guard let quota = quota(limits) else { return }
        let used = try database.quotaUse(stored?.database, in: reader).bytes
        guard used < quota.bytes else { throw quota.isFull(used: used) }
    }
}
