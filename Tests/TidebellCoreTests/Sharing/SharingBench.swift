// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Anna's zone "Notes", which she shares with others, on a real store.
struct SharingBench {
    let bench: Bench
    let mia: StoredUser
    var anna: StoredUser { bench.anna }
    var otto: StoredUser { bench.otto }

    init() async throws {
        bench = try await Bench()
        mia = try await bench.store.write(.everything) { transaction in
            let account = try transaction.createAccount(named: "mia", at: Instant(rawValue: 1))
            return try transaction.makeUser(
                of: account, in: Bench.container,
                recordName: "_" + String(repeating: "b", count: 32), at: Instant(rawValue: 0))
        }
        try await bench.makeZone("Notes")
    }

    /// A call to the database in which the user has the zone.
    func call(_ user: StoredUser, limits: Limits = Limits()) -> Call {
        bench.call(user, scope: user.id == anna.id ? .private : .shared, limits: limits)
    }

    var zoneID: ZoneID { ZoneID(zoneName: "Notes", ownerRecordName: anna.recordName) }

    /// Saves and deletes records as a user.
    @discardableResult
    func modify(
        as user: StoredUser? = nil, limits: Limits = Limits(), atomic: Bool? = nil,
        _ operations: ModifyRecords.Operation...
    ) async throws -> [RecordResult] {
        try await modify(as: user, limits: limits, atomic: atomic, operations)
    }

    @discardableResult
    func modify(
        as user: StoredUser? = nil, limits: Limits = Limits(), atomic: Bool? = nil,
        _ operations: [ModifyRecords.Operation]
    ) async throws -> [RecordResult] {
        let call = call(user ?? anna, limits: limits)
        let request = ModifyRecords.Request(
            zoneID: zoneID, operations: operations, atomic: atomic)
        let scope = try await bench.store.scope(of: zoneID, for: call)
        return try await bench.store.save(request, for: call, in: scope).records
    }

    func lookup(_ names: String..., as user: StoredUser) async throws -> [RecordResult] {
        let call = call(user)
        let request = LookupRecords.Request(
            zoneID: zoneID, records: names.map { .init(recordName: $0) })
        return try await bench.store.read { try LookupRecords.run(request, for: call, in: $0) }
            .records
    }

    func query(
        as user: StoredUser, sorts: [WireSort] = [], limits: Limits = Limits()
    ) async throws -> [String] {
        let call = call(user, limits: limits)
        let request = QueryRecords.Request(
            query: WireQuery(recordType: "Note", sorts: sorts), zoneID: zoneID)
        return try await bench.store.read { try QueryRecords.run(request, for: call, in: $0) }
            .records.map(\.summary)
    }

    func changes(
        as user: StoredUser, since token: String? = nil, limit: Int? = nil,
        limits: Limits = Limits()
    ) async throws -> FetchZoneChanges.ZoneAnswer {
        let call = call(user, limits: limits)
        var options = FetchZoneChanges.Options()
        options.resultsLimit = limit
        let request = FetchZoneChanges.Request(
            zones: [.init(zoneID: zoneID, syncToken: token, options: options)])
        return try await bench.store.read { try FetchZoneChanges.run(request, for: call, in: $0) }
            .zones[0]
    }

    /// The zones of a user's shared database that changed, as `name` or `-name`.
    func sharedZones(
        of user: StoredUser, since token: String? = nil
    ) async throws -> (zones: [String], token: String) {
        let answer = try await bench.databaseChanges(
            since: token, call: bench.call(user, scope: .shared))
        let zones = answer.zones.map { zone in
            switch zone {
            case .zone(let zone): zone.zoneID.zoneName
            case .deleted(let zoneID, _): "-\(zoneID.zoneName)"
            case .failed(let zoneID, let error): "\(zoneID.zoneName) \(error.code.rawValue)"
            }
        }
        return (zones, answer.syncToken)
    }

    /// Shares a record with some users, and returns the share.
    @discardableResult
    func share(
        _ root: String?, as name: String = "share", with participants: [WireParticipant] = [],
        permission: SharePermission? = nil
    ) async throws -> WireRecord {
        let saved = try await modify(
            .share(
                .create, root == nil ? ShareNames.zoneWideShare : name, of: root,
                participants: participants, permission: permission))
        if let error = saved[0].error { throw error }
        guard let record = saved[0].record else { throw WireError(.internalError, "no record") }
        return record
    }

    func accept(_ share: WireRecord, as user: StoredUser) async throws -> ShareMetadata {
        try await accept(share.shortGUID(), as: user)
    }

    /// Accepts a share by the last part of its URL; the user's own database has it when the
    /// pipeline brings it.
    func accept(_ shortGUID: String, as user: StoredUser) async throws -> ShareMetadata {
        try await acceptHalf(shortGUID, as: user).metadata
    }

    /// Accepts a share, without the step that comes after.
    func acceptHalf(
        _ shortGUID: String, as user: StoredUser
    ) async throws -> (metadata: ShareMetadata, zone: OwnSharedZone?) {
        let call = bench.call(user, scope: .public)
        let guid = ShortGUID(shortGUID, shouldFetchRootRecord: true)
        let database = try await bench.store.read {
            try AcceptShares.place(
                ofShare: guid.value, openedBy: user.account, within: call.onlyContainer, in: $0
            ).database
        }
        return try await bench.store.write(.database(database)) {
            try AcceptShares.run(guid, for: call, in: $0)
        }
    }

    /// Leaves a share of the zone, without the step that comes after.
    func leaveHalf(_ name: String = "share", as user: StoredUser) async throws -> OwnSharedZone? {
        let call = call(user)
        let request = ModifyRecords.Request(zoneID: zoneID, operations: [.forceDelete(name)])
        let scope = try await bench.store.scope(of: zoneID, for: call)
        let outcome = try await bench.store.write(scope) {
            try ModifyRecords.attempt(request, for: call, in: $0)
        }
        if case .done(let done) = outcome { return done.left }
        return nil
    }

    /// Takes the step that comes after accepting or leaving, twice: when it comes again it changes
    /// nothing.
    func finish(_ zone: OwnSharedZone?) async throws {
        for _ in 0..<2 {
            try await bench.store.writeInSteps(for: nil) { try zone?.run(as: $0) }
        }
    }

    func resolve(_ share: WireRecord, as user: StoredUser) async throws -> ShareResult {
        try await resolve(share.shortGUID(), as: user)
    }

    func resolve(_ shortGUID: String, as user: StoredUser) async throws -> ShareResult {
        let call = bench.call(user, scope: .public)
        return try await bench.store.read {
            try ResolveShares.run(
                .init(shortGUIDs: [ShortGUID(shortGUID)]), for: call, in: $0)
        }.results[0]
    }

    /// Asks for access to a share by the last part of its URL.
    func requestAccess(
        _ shortGUID: String, as user: StoredUser, limits: Limits = Limits()
    ) async throws {
        let call = bench.call(user, scope: .public, limits: limits)
        let database = try await bench.store.read {
            try RequestShareAccess.database(ofShare: shortGUID, for: call, in: $0)
        }
        try await bench.store.write(.database(database)) {
            try RequestShareAccess.run(shortGUID, for: call, in: $0)
        }
    }

    /// Saves Anna's share as she sees it, changed.
    @discardableResult
    func change(
        of name: String = "share", as user: StoredUser? = nil, limits: Limits = Limits(),
        _ changes: ShareChanges
    ) async throws -> RecordResult {
        let share = try await lookup(name, as: user ?? anna)[0].record
        let operation = ModifyRecords.Operation(
            .update, recordName: name, recordType: ShareNames.recordType,
            recordChangeTag: share?.recordChangeTag, fields: FieldChanges([:]), share: changes)
        return try await modify(as: user, limits: limits, operation)[0]
    }

    /// Gives a user an address.
    func give(_ address: String, to user: StoredUser, isVerified: Bool = true) async throws {
        try await bench.store.write(.everything) { transaction in
            let name = try transaction.accountNames([user.account])[user.account] ?? ""
            _ = try AddAddress.run(address, of: name, isVerified: isVerified, in: transaction)
        }
    }

    /// Makes another user.
    func user(_ name: String) async throws -> StoredUser {
        try await bench.store.write(.everything) { transaction in
            let account = try transaction.createAccount(named: name, at: Instant(rawValue: 1))
            return try transaction.makeUser(
                of: account, in: Bench.container, recordName: "_\(name)",
                at: Instant(rawValue: 0))
        }
    }

    /// Takes steps in which records follow into hierarchies, each of `limit` records at most: all
    /// there are, or some.
    func settle(_ limit: Int = 400, steps: Int = .max) async throws {
        let call = call(anna)
        for _ in 0..<steps {
            let isSettled = try await bench.store.write(try .database(of: call)) { transaction in
                let zones = try transaction.unsettledZones(from: ZoneKey(rawValue: 0), limit: 1)
                return try zones.allSatisfy {
                    try SettleHierarchies.step(
                        $0.zone.key, limit: limit, at: call.now, in: transaction)
                }
            }
            if isSettled { return }
        }
    }

    /// Whether nothing is left to follow.
    func isSettled() async throws -> Bool {
        try await bench.store.read {
            try $0.unsettledZones(from: ZoneKey(rawValue: 0), limit: 1).isEmpty
        }
    }

    /// Takes all pending changes to participants, as a pass of the pipeline does, and returns the
    /// changes of shared databases that this appended.
    @discardableResult
    func tellParticipants(again entries: [OutboxEntry]? = nil) async throws -> [OutboxEntry] {
        let now = call(anna).now
        var pending = try await bench.outbox().filter { $0.sharing != nil }
        if let entries { pending = entries }
        let changes = pending
        let known = Set(try await bench.outbox().map(\.id))
        // Twice: a pass that comes again does nothing.
        for _ in 0..<2 {
            try await bench.store.writeInSteps(for: nil) { steps in
                for change in NotifyParticipants.of(changes) { try change.run(at: now, as: steps) }
            }
        }
        for entry in pending {
            try await bench.store.write(.databaseWithID(entry.database)) {
                try $0.markNotified(
                    upTo: entry.position, in: entry.database, keeping: false)
            }
        }
        return try await bench.outbox().filter { !known.contains($0.id) }
    }
}

extension WireParticipant {
    /// Somebody who is to be invited.
    static func invited(
        _ user: StoredUser, _ permission: SharePermission = .readWrite,
        _ role: ParticipantRole = .privateUser
    ) -> WireParticipant {
        WireParticipant(
            identity: UserIdentity(userRecordName: user.recordName), permission: permission,
            role: role)
    }
}

extension ModifyRecords.Operation {
    /// An operation on a share.
    static func share(
        _ type: ModifyRecords.OperationType, _ name: String = "share", of root: String? = nil,
        tag: String? = nil, participants: [WireParticipant]? = nil,
        permission: SharePermission? = nil, fields: [String: Field?] = [:]
    ) -> ModifyRecords.Operation {
        ModifyRecords.Operation(
            type, recordName: name, recordType: ShareNames.recordType, recordChangeTag: tag,
            fields: FieldChanges(fields),
            share: ShareChanges(
                root: root.map { .init(recordName: $0) }, publicPermission: permission,
                participants: participants)
        )
    }
}

extension WireRecord {
    /// The share that the record is.
    var share: WireShare? { if case .share(let share)? = sharing { share } else { nil } }

    /// The last part of the URL of the share that the record is.
    func shortGUID() throws -> String {
        guard let share else { throw WireError(.internalError, "no share") }
        return share.shortGUID
    }

    /// The participants but the owner: who, what, and since when.
    var participants: [String] {
        (share?.participants ?? []).dropFirst().map {
            "\($0.identity.userRecordName ?? "-") \($0.permission) \($0.role) \($0.acceptance)"
        }
    }
}
