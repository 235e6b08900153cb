// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a batch has to know of the shares of its zone before anything is decided.
struct BatchSharing {
    /// Whether any share can be concerned: otherwise nothing is read, and nothing changes.
    let isConcerned: Bool
    /// The shares that operations name, or that hold what they name.
    private(set) var byName: [String: StoredShare] = [:]
    /// The same by the record that is shared.
    private(set) var byRoot: [String: StoredShare] = [:]
    /// The share that each record is in now that operations name, also as parent.
    private(set) var holders: [String: String] = [:]
    /// What is stored of that; where the zone is not settled it may not hold.
    private(set) var memberships: [String: HierarchyMembership] = [:]
    /// Since when nobody sees those that are stored where they do not hold.
    private(set) var hiddenSince: [String: Position] = [:]
    /// The users whom participants are named by, by record name or canonical address.
    private var users: [UserLookup: StoredUser] = [:]
    /// The records that shares are to be made for, or end for, and that no operation saves.
    private(set) var roots: [String: StoredRecord] = [:]
    /// The records right below others, as far as they were read.
    private var childNames: [String: [String]] = [:]
    /// How many these are.
    private var readChildren = 0
    /// The records of which it was read in which share they are, and what share they are root of.
    private var readNames: Set<String> = []
    /// What is above records that move, and these.
    private var paths: HierarchyPaths?
    private var pathNames: Set<String> = []

    init(
        _ request: ModifyRecords.Request, names: Set<String>, demanded: Set<String>,
        in zone: StoredZone, _ access: ZoneAccess, for call: Call,
        _ reader: some RecordReading & ShareReading & SharedRecordReading & UserReading
            & AddressReading
    ) throws {
        let newRoots = Set(request.operations.compactMap(\.share.root?.recordName))
        isConcerned =
            zone.sharing != .none
            || request.operations.contains { $0.recordType == ShareNames.recordType }
        guard isConcerned else { return }
        let named = names.union(demanded).union(newRoots)
        switch zone.sharing {
        case .none: break
        case .zoneWide: add(try reader.shares([ShareNames.zoneWideShare], in: zone.key))
        case .hierarchies:
            try readHolders(of: named, in: zone, call.limits, reader)
            add(
                try reader.shares(
                    named.union(holders.values).union(memberships.values.map(\.share)),
                    in: zone.key))
            add(try reader.shares(ofRoots: named, in: zone.key))
        }
        let ending = names.compactMap { byName[$0]?.root }
        roots = try reader.records(newRoots.union(ending).subtracting(names), in: zone.key)
        let lookups = lookups(of: request, in: access, for: call)
        if !lookups.isEmpty { users = try reader.users(meantBy: lookups, in: call.container) }
    }

    /// What those are named by whom operations let in or block. Of an operation that is refused
    /// whoever they are, nobody is looked up.
    func lookups(
        of request: ModifyRecords.Request, in access: ZoneAccess, for call: Call
    ) -> [UserLookup] {
        guard access.database.scope.createsZones, !access.zoneID.isDefault else { return [] }
        return request.operations.flatMap { operation -> [UserLookup] in
            guard operation.recordType == nil || operation.recordType == ShareNames.recordType,
                !operation.type.deletes
            else { return [] }
            let name = operation.recordName ?? ""
            let grant = access.sharedRights?.grant(of: name)
            guard access.sharedRights == nil || grant?.isAdministrator == true,
                ShareParticipants.mayBe(operation.share, of: byName[name], call.limits)
            else { return [] }
            return operation.share.participantLookups
        }
    }

    /// The user whom a participant is named by; nil for an address without one.
    func user(_ lookup: UserLookup) -> StoredUser? { users[lookup.compared] }

    private mutating func add(_ shares: [StoredShare]) {
        for share in shares {
            byName[share.name] = share
            if let root = share.root { byRoot[root] = share }
        }
    }

    /// The share that a record was in before the batch, if it goes on.
    func holder(of name: String, without ended: Set<String>) -> String? {
        holders[name].flatMap { ended.contains($0) ? nil : $0 }
    }

    /// Reads in which hierarchies further records are.
    mutating func readHolders(
        of names: Set<String>, in zone: StoredZone, _ limits: Limits,
        _ reader: some SharedRecordReading
    ) throws {
        let found = try reader.holders(of: names, in: zone, limits)
        holders.merge(found.shares) { known, _ in known }
        memberships.merge(found.memberships) { known, _ in known }
        let hidden = try found.hiddenSince(in: zone, reader)
        hiddenSince.merge(hidden) { known, _ in known }
    }

    /// What is stored of a record before the batch, if its share goes on.
    func membership(of name: String, without ended: Set<String>) -> HierarchyMembership? {
        memberships[name].flatMap { ended.contains($0.share) ? nil : $0 }
    }

    /// Adds shares that are found on the way.
    mutating func add(found shares: [StoredShare]) { add(shares) }

    /// The records right below another one, which ``readChildren(of:in:_:)`` read.
    func children(of name: String) -> [String] { childNames[name] ?? [] }

    /// Reads which records are right below others, for each of these once in a batch; returns
    /// whether they are no more than `limit` in all.
    mutating func readChildren(
        of names: Set<String>, in zone: ZoneKey, limit: Int, _ reader: some RecordReading
    ) throws -> Bool {
        let unread = names.filter { childNames[$0] == nil }
        guard !unread.isEmpty else { return true }
        guard readChildren <= limit,
            let found = try reader.children(of: unread, in: zone, limit: limit - readChildren)
        else { return false }
        for name in unread {
            let children = found[name] ?? []
            childNames[name] = children
            readChildren += children.count
        }
        return true
    }

    /// What is above records, read once in a batch; nil where that is more than `limit`.
    mutating func readPaths(
        above names: Set<String>, in zone: ZoneKey, limit: Int, _ reader: some SharedRecordReading
    ) throws -> HierarchyPaths? {
        if let paths, pathNames.isSuperset(of: names) { return paths }
        let all = names.union(pathNames)
        guard let places = try reader.places(above: all, in: zone, limit: limit) else { return nil }
        (pathNames, paths) = (all, HierarchyPaths(places))
        return paths
    }

    /// Reads which shares hold records, and returns those that have one of them as their root;
    /// each record is read once in a batch.
    mutating func readShares(
        of names: Set<String>, in zone: StoredZone, _ limits: Limits,
        _ reader: some ShareReading & SharedRecordReading
    ) throws -> [StoredShare] {
        let unread = names.subtracting(readNames)
        guard !unread.isEmpty else { return [] }
        readNames.formUnion(unread)
        try readHolders(of: unread, in: zone, limits, reader)
        let found = try reader.shares(ofRoots: unread, in: zone.key)
        add(found)
        return found
    }
}

/// What a batch does to the hierarchies of its zone, beside what its operations ask for.
struct HierarchyChanges {
    /// Shares that end.
    var ended: [StoredShare] = []
    /// The records of shares that end because their root goes.
    var endedRecords: [StoredRecord] = []
    /// Roots that no operation saves and that get a share or lose it: they change with it
    /// (SHARE-15).
    var touched: [StoredRecord] = []
    /// The share of each record after the batch that is saved, or hangs below one that moved.
    var holders: [String: String] = [:]
    /// Records below those that moved, which no operation saves, in a fixed order.
    var moved: [StoredRecord] = []
    /// Whether what hangs below the records of the batch follows later.
    var isDeferred = false

    /// The positions that it takes beside those of the operations.
    var positionCount: Int { endedRecords.count + touched.count + moved.count }
}

extension ShareChanges {
    /// What it names participants by, and those who are to be blocked.
    fileprivate var participantLookups: [UserLookup] {
        ((participants ?? []).map(\.identity) + (blocked ?? [])).flatMap { identity in
            [identity.userRecordName.map { .userRecordName($0) }, identity.lookup].compactMap(
                \.self)
        }
    }
}
