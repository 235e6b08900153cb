// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension LocatedShare {
    var container: ContainerKey { database.key.container }

    func owner(in reader: some UserReading) throws -> StoredUser? {
        try database.key.owner.flatMap { try reader.users([$0])[$0] }
    }

    /// Whether a one-time URL waits for whoever opens it first.
    func awaits(_ link: ShareLink) -> Bool {
        participant(awaiting: link) != nil
    }

    private func participant(awaiting link: ShareLink) -> Int? {
        guard let key = link.oneTimeKey else { return nil }
        return share.participants.firstIndex { $0.user == nil && $0.oneTimeKey == key }
    }

    /// Takes the user as the participant whom one of their addresses was invited as, or whose
    /// one-time URL they opened (SHARE-20). Nothing is stored before they accept.
    ///
    /// Fails with `participantAlreadyInvited` where they open a one-time URL and have an invitation of
    /// their own: the URL stays good for somebody else (ERR-46).
    mutating func bind(
        to user: StoredUser?, by link: ShareLink, in reader: some AddressReading
    ) throws {
        guard let user, user.id != database.key.owner, !share.isBlocked(user.id) else { return }
        share = try reader.bound(share, to: user)
        guard let opened = participant(awaiting: link) else { return }
        guard let known = share.participant(user.id) else {
            share.participants[opened] = share.participants[opened].bound(to: user)
            return
        }
        if known.isInvited { throw WireError.alreadyInvited }
    }

    /// Saves the share and its record: a change like any other, of which everybody is notified who
    /// may (SUB-56).
    ///
    /// - Parameters:
    ///   - stamp: Who changed the record; nil leaves that as it is, where it is nobody's business.
    ///   - isForManagers: Whether nothing changed that other participants may see. Where none of them
    ///     is an administrator they are not notified, and find the record changed when they fetch
    ///     the zone for something else.
    mutating func save(
        _ changed: StoredShare, stamp: RecordStamp?, isForManagers: Bool = false,
        in access: inout ZoneAccess, for call: Call, _ transaction: some RecordSaving
    ) throws {
        guard var record = try transaction.records([changed.name], in: zone.key)[changed.name]
        else { throw WireError.shareNotFound(changed.shortGUID) }
        let previous = record
        record.position = try transaction.advance(zone.database, by: 1, at: call.now)
        if let stamp { record.modified = stamp }
        try transaction.putRecords([record], replacing: [previous], in: zone)
        try transaction.touchZone(zone.key, position: record.position, clientChangeToken: nil)
        _ = try transaction.saveShare(
            changed, over: share, at: record.position, in: zone.key)
        let change = RecordChange(
            recordName: record.name, recordType: record.type, event: .updated)
        var shared = SharedChange(
            zone: zone.key, position: record.position, isZoneWide: changed.root == nil)
        if changed.root != nil {
            try transaction.putSharedRecords(
                [
                    SharedRecord(
                        name: record.name, share: changed.name, position: record.position)
                ],
                in: zone.key
            )
            shared.hierarchies[changed.name] = [change]
        }
        share = changed
        zone.position = record.position
        access.stored?.zone.position = record.position
        let isTold =
            !isForManagers || changed.access.values.contains { $0.role == .administrator }
        try transaction.appendOutbox([
            access.outboxEntry(
                .records([change]), sharing: isTold ? shared : nil, by: call, in: database)
        ])
    }

    /// What somebody gets to whom the share is closed: an address of theirs may have been
    /// invited (SHARE-19); otherwise as if there were none.
    func closedError(
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

extension StoredParticipant {
    /// Whether an invitation waits for their answer.
    var isInvited: Bool { acceptance != .accepted && permission != .none }
}

extension WireError {
    /// There is no share with this URL, or none for the caller.
    static func shareNotFound(_ shortGUID: String) -> WireError {
        WireError(
            .notFound,
            "there is no share with the URL part '\(shortened(shortGUID))' for this user: it ended, "
                + "or was never shared with them"
        )
    }

    /// The caller has an invitation to answer first (ERR-46).
    static var alreadyInvited: WireError {
        .badRequest(
            "you are invited to the share already: accept that invitation, by the share's own URL",
            ckCode: CKErrorCode.participantAlreadyInvited
        )
    }
}
