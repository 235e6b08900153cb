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
        var budget = ShareAnswerBudget(call.limits)
        return Response(
            results: try request.shortGUIDs.map { guid in
                do {
                    try budget.check()
                    let metadata = try metadata(of: guid, to: account, for: call, in: reader)
                    budget.note(metadata)
                    return .share(metadata)
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
        let link = ShareLink(guid.value)
        guard var found = try reader.share(at: link),
            call.mayUse(found.database.key.container),
            let owner = try found.owner(in: reader)
        else { throw WireError.shareNotFound(guid.value) }
        // The caller is another user in every container.
        let call = call.acting(
            as: try reader.user(of: account, in: found.container), in: found.container)
        try found.bind(to: call.user, by: link, in: reader)
        guard let access = found.access(for: call.user, of: owner) else {
            throw try found.closedError(guid.value, in: reader)
        }
        return try found.metadata(asked: guid, in: access, for: call, reader)
    }
}

/// How much is in the answers about shares that one request asks for: one may be named several
/// times.
package struct ShareAnswerBudget: Sendable {
    private let limit: Int
    private var bytes = 0

    /// Takes the limit of what the records of one request may be.
    package init(_ limits: Limits) { limit = limits.namedRecordBytes }

    /// Fails once more than the limit is in the answers.
    package func check() throws {
        guard bytes <= limit else { throw WireError.tooManyBytes(limit) }
    }

    /// Counts an answer.
    package mutating func note(_ metadata: ShareMetadata) {
        bytes += metadata.share.fields.json.count + (metadata.rootRecord?.fields.json.count ?? 0)
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
        let link = ShareLink(shortGUID)
        guard var found = try reader.share(at: link),
            onlyContainer.map({ $0 == found.container }) ?? true,
            let owner = try found.owner(in: reader)
        else { throw WireError.shareNotFound(shortGUID) }
        let user = try reader.user(of: account, in: found.container)
        try found.bind(to: user, by: link, in: reader)
        let isOpen =
            try found.access(for: user, of: owner) != nil
            || user == nil && (found.awaits(link) || reader.isInvited(account, to: found.share))
        guard isOpen else { throw try found.closedError(shortGUID, in: reader) }
        return SharePlace(database: found.database.key, user: user)
    }

    /// Makes the caller a participant who accepted (SHARE-16), in the database of the share; by a
    /// one-time URL that nobody accepted yet, its participant (SHARE-20). Where they accepted before,
    /// nothing changes.
    ///
    /// - Returns: What they have now, and the zone that is to come into their own database next;
    ///   nil for the owner.
    package static func run(
        _ guid: ShortGUID, for call: Call, in transaction: some RecordSaving
    ) throws -> (metadata: ShareMetadata, zone: OwnSharedZone?) {
        let user = try call.requireUser()
        let link = ShareLink(guid.value)
        guard var found = try transaction.share(at: link),
            let owner = try found.owner(in: transaction)
        else { throw WireError.shareNotFound(guid.value) }
        try found.bind(to: user, by: link, in: transaction)
        guard var access = found.access(for: user, of: owner) else {
            throw try found.closedError(guid.value, in: transaction)
        }
        guard access.sharedRights != nil else {
            return (try found.metadata(asked: guid, in: access, for: call, transaction), nil)
        }
        let rules = ShareParticipants(
            user: { _ in nil }, makeID: { call.uuids[0].uuidString }, makeOneTimeKey: { "" },
            owner: owner, now: call.now, limits: call.limits
        )
        guard let accepted = try rules.accepted(found.share, by: user) else {
            throw try found.closedError(guid.value, in: transaction)
        }
        let isNews = accepted != found.share
        if isNews {
            let stamp = RecordStamp(
                timestamp: call.now.rawValue, userRecordName: user.recordName,
                deviceID: call.makeDeviceID())
            try found.save(accepted, stamp: stamp, in: &access, for: call, transaction)
        }
        return (
            try found.metadata(asked: guid, in: access, for: call, transaction),
            OwnSharedZone(
                access, found.zone.key, at: found.zone.position, isShared: true, isNews: isNews,
                by: user, call)
        )
    }
}

extension LocatedShare {
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
}
