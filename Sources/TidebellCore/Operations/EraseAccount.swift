// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Erases what a removed account left, step by step.
///
/// A step is one write of a bounded size, and what is still to do is in the store:
/// who stops between two steps goes on with the next, in this process or another.
///
/// What the person shared ends first, as if they had stopped sharing it: the zones leave the shared
/// databases of those who take part, and their devices are notified. Shares of others they leave. An
/// invitation that they never accepted stays as its owner made it.
///
/// Records in public databases stay unless the operator asks for more, as on CloudKit,
/// where an app that is asked to delete a person's data deletes the zones of their private
/// database ("Responding to Requests to Delete Data"): others may depend on what somebody
/// published. They name the person by a record name of which nobody knows the owner any
/// more.
package struct EraseAccount: Sendable {
    /// Rows that one step removes or looks at.
    package static let stepSize = 1000
    /// Public records that one step deletes: each may take others along.
    private static let deletions = 50
    /// Shares that one step ends: each may have many who take part.
    private static let shares = 20

    /// The limits in force.
    package var limits: Limits
    /// The store's identity.
    package var storeIdentity: UInt64

    /// Creates a value.
    package init(limits: Limits, storeIdentity: UInt64) {
        self.limits = limits
        self.storeIdentity = storeIdentity
    }

    /// Does one step; returns whether nothing is left to do.
    package func step(
        _ account: AccountID, at now: Instant, as steps: some StoreSteps
    ) throws -> Bool {
        let sharing = try steps.write(.everything) {
            try endSharing(of: account, at: now, in: $0)
        }
        guard let sharing else {
            return try steps.write(.everything) { try eraseSome(of: account, at: now, in: $0) }
        }
        // The outbox of the owner's database goes with it: nobody else would notify them.
        try NotifyParticipants(sharing)?.run(at: now, as: steps)
        return false
    }

    /// Ends some of the shares that the user has; returns the change that this is, nil where
    /// there are none.
    private func endSharing(
        of account: AccountID, at now: Instant,
        in transaction: some RecordSaving & ErasureReading
    ) throws -> OutboxEntry? {
        guard let removed = try transaction.removedAccount(account), removed.erasure != .none,
            let user = try transaction.users(of: account, limit: 1).first,
            let database = try transaction.database(
                DatabaseKey(container: user.container, scope: .private, owner: user.id)),
            let zone = try transaction.zones(nil, in: database.id).first(where: {
                $0.sharing != .none
            })
        else { return nil }
        let position = try transaction.advance(database.id, by: 1, at: now)
        // No token of a participant is ahead of the zone.
        try transaction.touchZone(zone.key, position: position, clientChangeToken: nil)
        var sharing = SharedChange(zone: zone.key, position: position)
        for share in try transaction.shares(in: zone.key, after: "", limit: Self.shares) {
            sharing.ended += try transaction.endShare(share, at: position, in: zone.key)
        }
        // A damaged zone may have none: it no longer counts as shared.
        try transaction.removeShares([], in: zone.key)
        return OutboxEntry(
            database: database.id, zoneName: zone.name, zoneOwner: user.recordName,
            event: .records([]), sharing: sharing, originUser: nil, originClient: nil,
            committedAt: now
        )
    }

    /// Erases some of what there is, once nothing is shared any more.
    private func eraseSome(
        of account: AccountID, at now: Instant,
        in transaction: some RecordSaving & ErasureWriting
    ) throws -> Bool {
        guard let removed = try transaction.removedAccount(account), removed.erasure != .none
        else { return true }
        guard let user = try transaction.users(of: account, limit: 1).first else {
            try transaction.endErasing(account)
            return true
        }
        if try leaveShares(as: user, at: now, transaction) { return false }
        if let zone = try transaction.publicZone(of: user) {
            let isLookedThrough = try erasePublic(
                removed, user, in: zone.zone, at: now, transaction
            )
            guard isLookedThrough else { return false }
            try eraseUserRecord(of: user, in: zone, at: now, transaction)
        }
        if try transaction.eraseRows(of: user, at: now, limit: Self.stepSize) {
            try transaction.setErasurePosition(.start, of: account)
        }
        return false
    }

    /// Leaves shares of a zone that the user takes part in, as the user could have done (SHARE-14);
    /// returns whether there was such a zone. What they wrote there is its owner's, and stays.
    private func leaveShares(
        as user: StoredUser, at now: Instant,
        _ transaction: some RecordSaving & ErasureWriting
    ) throws -> Bool {
        guard let granted = try transaction.grantedZones(to: user.id, among: nil).first
        else { return false }
        let grants = granted.grants.filter { !$0.hasEnded }.prefix(Self.shares)
        let request = ModifyRecords.Request(
            zoneID: ZoneID(
                zoneName: granted.zone.name, ownerRecordName: granted.owner.recordName),
            operations: grants.map { .init(.forceDelete, recordName: $0.share) }, atomic: false
        )
        do {
            let call = call(as: user, in: .shared, at: now)
            _ = try ModifyRecords.attempt(request, for: call, in: transaction)
        } catch is WireError {}
        // Where a share cannot be saved, what it let the user do ends all the same.
        try transaction.putGrants(
            grants.map { grant in
                var ended = grant
                ended.hasEnded = true
                return ended
            }
        )
        return true
    }

    private func call(as user: StoredUser, in scope: DatabaseScope, at now: Instant) -> Call {
        Call(
            container: user.container, scope: scope, user: user, now: now,
            storeIdentity: storeIdentity, limits: limits, uuids: .unneeded
        )
    }

    /// Deletes some of the records that the user made in the public database, as the user
    /// could have done; returns whether all were looked at.
    private func erasePublic(
        _ removed: RemovedAccount, _ user: StoredUser, in zone: StoredZone, at now: Instant,
        _ transaction: some RecordSaving & ErasureWriting
    ) throws -> Bool {
        guard removed.erasure == .everything else { return true }
        let page = try transaction.records(
            createdBy: user.recordName, in: zone.key, after: removed.position,
            limit: Self.deletions, lookingAt: Self.stepSize
        )
        // The user's own record is none that anybody could delete.
        let names = page.names.filter { $0 != user.recordName }
        let deleted = try names.count { try delete($0, of: user, at: now, transaction) }
        try transaction.noteErased(.publicRecords, deleted, of: removed.account)
        try transaction.noteErased(.keptPublicRecords, names.count - deleted, of: removed.account)
        guard let next = page.next else { return true }
        try transaction.setErasurePosition(next, of: removed.account)
        return false
    }

    /// Deletes a public record, and returns whether it could go: one that would take too many
    /// others along stays.
    private func delete(
        _ name: String, of user: StoredUser, at now: Instant, _ transaction: some RecordSaving
    ) throws -> Bool {
        let call = call(as: user, in: .public, at: now)
        let request = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: ZoneID.defaultName),
            operations: [.init(.forceDelete, recordName: name)]
        )
        do {
            guard
                case .done(let outcome) = try ModifyRecords.attempt(
                    request, for: call, in: transaction)
            else { return false }
            return outcome.response.records.allSatisfy {
                if case .failed = $0 { false } else { true }
            }
        } catch is WireError {
            // Too much would go with it: decided before anything is written.
            return false
        }
    }

    /// Removes the record that stands for the user in the public database.
    private func eraseUserRecord(
        of user: StoredUser, in location: (database: StoredDatabase, zone: StoredZone),
        at now: Instant, _ transaction: some RecordSaving & ErasureWriting
    ) throws {
        let name = user.recordName
        guard
            var record = try transaction.recordsWithoutFields([name], in: location.zone.key)[name]
        else { return }
        let change = .zero - record.use
        record.size = 0
        record.position = try transaction.advance(
            location.database.id, by: 1, at: now, adding: change
        )
        record.fields = .none
        record.parent = nil
        record.isDeleted = true
        record.modified.timestamp = now.rawValue
        // Records of users are not queried (QUERY-11), so that no index has them.
        try transaction.putRecords([record], in: location.zone.key)
        try transaction.putReferences([], from: [name], in: location.zone.key)
        try transaction.putAssetUses([name: []], in: location.zone.key, at: now)
        try transaction.touchZone(
            location.zone.key, position: record.position, clientChangeToken: nil,
            adding: change
        )
        try transaction.noteErased(.records, 1, of: user.account)
    }
}

extension ZoneReading {
    /// Returns the default zone of the public database of a user's container; nil while
    /// nothing was ever written to it.
    fileprivate func publicZone(
        of user: StoredUser
    ) throws -> (database: StoredDatabase, zone: StoredZone)? {
        let key = DatabaseKey(container: user.container, scope: .public, owner: nil)
        guard let database = try database(key),
            let zone = try zones([ZoneID.defaultName], in: database.id).first
        else { return nil }
        return (database, zone)
    }
}
