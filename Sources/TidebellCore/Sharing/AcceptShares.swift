// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellWire

extension ResolveShares {
    /// Returns what shares are, by the last parts of their URLs (SHARE-18); to whom one is
    /// closed, it does not exist (SHARE-19, SHARE-21).
    package static func run(
        _ request: Request, for call: Call,
        in reader: some ShareReading & RecordReading & UserReading & AddressReading
    ) throws -> Response {
        let account = try call.requireUser().account
        return Response(
            results: try request.shortGUIDs.map { guid in
                do {
                    return .share(try metadata(of: guid, to: account, for: call, in: reader))
                } catch let error as WireError {
                    return .failed(shortGUID: guid.value, error.visible(to: call))
                }
            }
        )
    }

    /// Returns what one share is to an account, of whatever container.
    package static func metadata(
        of guid: ShortGUID, to account: AccountID, for call: Call,
        in reader: some ShareReading & RecordReading & UserReading & AddressReading
    ) throws -> ShareMetadata {
        guard var found = try reader.share(shortGUID: guid.value),
            call.mayUse(found.database.key.container),
            let owner = try found.owner(in: reader)
        else { throw WireError.shareNotFound(guid.value) }
        // The caller is another user in every container.
        let call = call.acting(
            as: try reader.user(of: account, in: found.container), in: found.container)
        try found.bind(to: call.user, in: reader)
        guard let access = found.access(for: call.user, of: owner) else {
            throw try found.closedError(guid.value, in: reader)
        }
        return try found.metadata(asked: guid, in: access, for: call, reader)
    }
}

/// Where a share is, and who an account is there that may open it.
package struct SharePlace: Sendable, Hashable {
    package var database: DatabaseKey
    /// Nil for an account that was never in the share's container.
    package var user: StoredUser?

    /// The share's container.
    package var container: ContainerKey { database.container }
}

extension AcceptShares {
    /// Returns where a share is that an account wants to accept, of whatever container: nothing
    /// is revealed to whom it is closed, nor by a token that is not good in its container.
    ///
    /// - Parameter onlyContainer: The only container where the caller's token is good.
    package static func place(
        ofShare shortGUID: String, openedBy account: AccountID, within onlyContainer: ContainerKey?,
        in reader: some ShareReading & UserReading & AddressReading
    ) throws -> SharePlace {
        guard var found = try reader.share(shortGUID: shortGUID),
            onlyContainer.map({ $0 == found.container }) ?? true,
            let owner = try found.owner(in: reader)
        else { throw WireError.shareNotFound(shortGUID) }
        let user = try reader.user(of: account, in: found.container)
        try found.bind(to: user, in: reader)
        let isOpen = found.access(for: user, of: owner) != nil
        guard try isOpen || (user == nil && reader.isInvited(account, to: found.share)) else {
            throw try found.closedError(shortGUID, in: reader)
        }
        return SharePlace(database: found.database.key, user: user)
    }

    /// Makes the caller a participant who accepted (SHARE-16), in the database of the share;
    /// where they did before, nothing changes.
    package static func run(
        _ guid: ShortGUID, for call: Call, in transaction: some RecordSaving
    ) throws -> ShareMetadata {
        let user = try call.requireUser()
        guard var found = try transaction.share(shortGUID: guid.value),
            let owner = try found.owner(in: transaction)
        else { throw WireError.shareNotFound(guid.value) }
        try found.bind(to: user, in: transaction)
        guard var access = found.access(for: user, of: owner) else {
            throw try found.closedError(guid.value, in: transaction)
        }
        guard access.sharedRights != nil else {
            return try found.metadata(asked: guid, in: access, for: call, transaction)
        }
        let rules = ShareParticipants(
            user: { _ in nil }, makeID: { call.uuids[0].uuidString }, owner: owner,
            limits: call.limits
        )
        guard let accepted = try rules.accepted(found.share, by: user) else {
            throw try found.closedError(guid.value, in: transaction)
        }
        if accepted != found.share {
            try save(accepted, over: &found, by: user, in: &access, for: call, transaction)
        }
        return try found.metadata(asked: guid, in: access, for: call, transaction)
    }

    /// Saves the record of the share with its new participant: a change like any other, of which
    /// everybody is notified who may (SUB-56).
    private static func save(
        _ accepted: StoredShare, over found: inout LocatedShare, by user: StoredUser,
        in access: inout ZoneAccess, for call: Call, _ transaction: some RecordSaving
    ) throws {
        let zone = found.zone
        guard var record = try transaction.records([accepted.name], in: zone.key)[accepted.name]
        else { throw WireError.shareNotFound(accepted.shortGUID) }
        record.position = try transaction.advance(zone.database, by: 1, at: call.now)
        record.modified = RecordStamp(
            timestamp: call.now.rawValue, userRecordName: user.recordName,
            deviceID: call.makeDeviceID()
        )
        try transaction.putRecords([record], in: zone.key)
        try transaction.touchZone(zone.key, position: record.position, clientChangeToken: nil)
        _ = try transaction.saveShare(
            accepted, over: found.share, at: record.position, in: zone.key)
        let change = RecordChange(
            recordName: record.name, recordType: record.type, event: .updated)
        var shared = SharedChange(
            zone: zone.key, position: record.position, isZoneWide: accepted.root == nil)
        if accepted.root != nil {
            try transaction.putSharedRecords(
                [
                    SharedRecord(
                        name: record.name, share: accepted.name, position: record.position)
                ],
                in: zone.key
            )
            shared.hierarchies[accepted.name] = [change]
        }
        found.share = accepted
        found.zone.position = record.position
        access.stored?.zone.position = record.position
        try transaction.appendOutbox([
            access.outboxEntry(.records([change]), sharing: shared, by: call, in: found.database)
        ])
    }
}

extension LocatedShare {
    fileprivate var container: ContainerKey { database.key.container }

    fileprivate func owner(in reader: some UserReading) throws -> StoredUser? {
        try database.key.owner.flatMap { try reader.users([$0])[$0] }
    }

    /// Takes the user as the participant whom one of their addresses was invited as.
    fileprivate mutating func bind(to user: StoredUser?, in reader: some AddressReading) throws {
        if let user { share = try reader.bound(share, to: user) }
    }

    /// What the caller may know of the share, to whom it is open.
    fileprivate func metadata(
        asked guid: ShortGUID, in access: ZoneAccess, for call: Call,
        _ reader: some ShareReading & RecordReading
    ) throws -> ShareMetadata {
        let isOwner = access.sharedRights == nil
        let participant = share.participant(call.user?.id)
        let wantsRoot = guid.shouldFetchRootRecord
        let root = wantsRoot ? share.root : nil
        let records = try reader.records(Set([share.name, root].compactMap { $0 }), in: zone.key)
        guard let record = records[share.name] else { throw WireError.shareNotFound(guid.value) }
        let answers = ShareAnswers(CollectionOfOne(share), for: call, in: access)
        let selection = FieldSelection(
            desiredKeys: guid.rootRecordDesiredKeys, numbersAsStrings: false, for: call)
        return ShareMetadata(
            shortGUID: guid.value, container: database.key.container,
            scope: isOwner ? .private : .shared, zoneID: access.zoneID,
            rootRecordName: share.root,
            rootRecord: try root.flatMap { records[$0] }?.answered(
                to: call, in: access, selecting: selection, answers),
            share: try record.answered(to: call, in: access, selecting: .all, answers),
            ownerIdentity: UserIdentity(userRecordName: access.database.ownerName),
            participantPermission: isOwner
                ? .readWrite : participant?.permission ?? share.publicPermission,
            participantStatus: isOwner ? .accepted : participant?.acceptance ?? .pending,
            participantRole: isOwner ? .owner : participant?.role ?? .publicUser
        )
    }

    /// What somebody gets to whom the share is closed: an address of theirs may have been
    /// invited (SHARE-19); otherwise as if there were none.
    fileprivate func closedError(
        _ shortGUID: String, in reader: some AddressReading
    ) throws -> WireError {
        guard try reader.hasUnknownAddress(share) else { return .shareNotFound(shortGUID) }
        return .badRequest(
            "the share was sent to an address of which no account is known; if it is yours, have "
                + "it added to your account",
            ckCode: CKErrorCode.participantMayNeedVerification
        )
    }
}

extension WireError {
    /// There is no share with this URL, or none for the caller.
    fileprivate static func shareNotFound(_ shortGUID: String) -> WireError {
        WireError(
            .notFound,
            "there is no share with the URL part '\(shortened(shortGUID))' for this user: it ended, "
                + "or was never shared with them"
        )
    }
}
