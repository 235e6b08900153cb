// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// What saving records needs of the store: what is saved, what it is checked against, and
/// the outbox.
package typealias RecordSaving = ZoneWriting & RecordWriting & AssetWriting & SchemaReading
    & FieldKeyWriting & OutboxWriting & StorageUseReading & UserReading & AddressReading
    & ShareWriting & SharedRecordWriting & SettlingWriting & FieldIndexWriting

extension ModifyRecords {
    /// What saving and deleting records came to.
    package struct Outcome: Sendable {
        package var response: Response
        /// The zone of which the caller left a share: it is to go from their own database next, or
        /// to show there that it changed.
        package var left: OwnSharedZone?
    }

    /// Saves and deletes records of one zone (web-services 5.2).
    ///
    /// Atomic batches, the rule in custom zones, are written whole or not at all
    /// (SAVE-14); what fails carries its own error, the rest `ATOMIC_ERROR`
    /// (SAVE-15). The change, its position in the zone's history and its outbox
    /// entry are one transaction, so a push can neither precede the change nor be
    /// lost (PUSH-14).
    ///
    /// Where records bring types or fields that the container's schema lacks, nothing is
    /// written: the schema is a step of another scope, which comes first (``SchemaGrowth``).
    ///
    /// - Parameter returnsSyncToken: Whether the answer carries the zone's newest sync
    ///   token, if it tracks changes.
    package static func attempt(
        _ request: Request, for call: Call, in transaction: some RecordSaving,
        returnsSyncToken: Bool = false
    ) throws -> StepOutcome<Outcome, SchemaGrowth> {
        let outcome = try attempt(request, for: call, transaction)
        guard returnsSyncToken, case .done(var done) = outcome else { return outcome }
        do {
            let access = try call.access(to: request.zoneID, in: transaction)
            done.response.syncToken = access.syncToken(for: call)
            return .done(done)
        } catch let error as WireError where error.code == .zoneNotFound {
            // Who has left the share has no access any more.
            return outcome
        }
    }

    /// Saves and deletes records, and lets the schema grow by itself: for whoever has all
    /// scopes in one transaction.
    package static func run(
        _ request: Request, for call: Call, in transaction: some RecordSaving & SchemaWriting,
        returnsSyncToken: Bool = false
    ) throws -> Response {
        try StepOutcome.settled {
            try attempt(request, for: call, in: transaction, returnsSyncToken: returnsSyncToken)
        } first: {
            try $0.run(in: transaction)
        }.response
    }

    private static func attempt(
        _ request: Request, for call: Call, _ transaction: some RecordSaving
    ) throws -> StepOutcome<Outcome, SchemaGrowth> {
        // Access
        let user = try call.requireUser()
        try request.check()
        var access = try call.access(to: request.zoneID, in: transaction)
        let stored = try access.make(in: transaction)
        access.stored = stored
        // Schema, save policy, references
        var batch = try RecordBatch(
            request, by: user, for: call, to: access, stored, in: transaction
        )
        try batch.plan()
        repeat {
            try batch.followReferences(in: transaction)
        } while try batch.followHierarchies(in: transaction)
            || batch.failBeyondQuota(in: transaction)
        if request.isAtomic, batch.hasFailures {
            return .done(Outcome(response: batch.rolledBack()))
        }
        if let growth = batch.schemaGrowth { return .needs(growth) }
        // Save, history, outbox
        let saved = try batch.save(in: transaction)
        try notify(saved, of: access, in: stored.database, for: call, in: transaction)
        let left = try saved.shared.flatMap {
            try Self.left($0, of: access, by: user, for: call, in: transaction)
        }
        return .done(Outcome(response: try batch.response(), left: left))
    }

    /// The zone as the user's own database is to have it, where they left a share of it.
    private static func left(
        _ shared: SharedChange, of access: ZoneAccess, by user: StoredUser, for call: Call,
        in reader: some ShareReading
    ) throws -> OwnSharedZone? {
        guard shared.ended.contains(user.id) else { return nil }
        let id = GrantedZoneID(owner: access.database.ownerName, zone: access.zoneID.zoneName)
        let isShared = try !reader.grantedZones(to: user.id, among: [id]).isEmpty
        return OwnSharedZone(
            access, shared.zone, at: shared.position, isShared: isShared, by: user, call)
    }

    /// Appends the outbox entry, where anybody could be notified (SUB-7, SUB-57, SUB-62).
    private static func notify(
        _ saved: SavedBatch, of access: ZoneAccess, in database: StoredDatabase,
        for call: Call, in transaction: some OutboxWriting
    ) throws {
        let kinds = database.subscriptionKinds
        let isAwaited = access.zoneID.isDefault ? kinds.contains(.query) : !kinds.isEmpty
        var changes = saved.changes
        guard !changes.isEmpty, isAwaited || saved.shared != nil else { return }
        if !kinds.contains(.query) {
            // Only query subscriptions look into records.
            for index in changes.indices {
                changes[index].fields = nil
                changes[index].system = nil
            }
        }
        try transaction.appendOutbox([
            access.outboxEntry(
                .records(changes), sharing: saved.shared, by: call, in: database)
        ])
    }
}

extension ModifyRecords.Request {
    /// Whether the batch is all or nothing: the default in custom zones, not
    /// available in default zones (SAVE-14, SAVE-16).
    var isAtomic: Bool { !zoneID.isDefault && atomic ?? true }

    /// Checks what makes the request as a whole malformed.
    func check() throws {
        guard !(zoneID.isDefault && atomic == true) else {
            throw WireError.badRequest("atomic operations not supported in default zone")
        }
        if let twice = operations.compactMap(\.recordName).firstDuplicate {
            throw WireError.badRequest(
                "record '\(WireError.shortened(twice))' is in the request twice"
            )
        }
        for (index, operation) in operations.enumerated() {
            if let missing = operation.missingField {
                throw WireError.badRequest(
                    "BadRequestException: missing required field '\(missing)' "
                        + "in operations[\(index)] (\(operation.type))"
                )
            }
        }
    }
}

extension ModifyRecords.Operation {
    /// The first member this type of operation cannot do without, if it is
    /// absent.
    fileprivate var missingField: String? {
        if type == .create { return recordType == nil ? "recordType" : nil }
        if recordName == nil { return "recordName" }
        return type.needsChangeTag && recordChangeTag == nil ? "recordChangeTag" : nil
    }
}
