// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension RequestShareAccess {
    /// Returns in which database a share is for which a caller may ask. A share of another container
    /// does not exist here.
    package static func database(
        ofShare shortGUID: String, for call: Call, in reader: some ShareReading
    ) throws -> DatabaseKey {
        guard let found = try reader.share(at: ShareLink(shortGUID)),
            found.database.key.container == call.container
        else { throw WireError.shareNotFound(shortGUID) }
        return found.database.key
    }

    /// Notes that the caller asks to be let into a share (SHARE-21), in its database. For who takes part
    /// or asked before, nothing changes.
    ///
    /// Whoever is blocked gets the answer that they would get otherwise, and no request is noted.
    ///
    /// Fails as if there were no share where asking is not allowed, with `participantAlreadyInvited`
    /// for who only has to accept (ERR-46), and with `limitExceeded` while too many wait.
    package static func run(
        _ shortGUID: String, for call: Call, in transaction: some RecordSaving
    ) throws {
        let user = try call.requireUser()
        let link = ShareLink(shortGUID)
        guard var found = try transaction.share(at: link),
            let owner = try found.owner(in: transaction)
        else { throw WireError.shareNotFound(shortGUID) }
        guard user.id != owner.id else { return }
        try found.bind(to: user, by: link, in: transaction)
        let share = found.share
        if let participant = share.participant(user.id), participant.permission != .none {
            guard participant.isInvited else { return }
            throw WireError.alreadyInvited
        }
        guard share.publicPermission == .none else {
            guard !share.isBlocked(user.id) else { throw WireError.shareNotFound(shortGUID) }
            throw WireError.badRequest(
                "the share is open to everybody who has its URL: accept it instead of asking")
        }
        guard share.allowsAccessRequests else {
            throw try found.closedError(shortGUID, in: transaction)
        }
        let waiting = share.outsiders.filter { !$0.isBlocked }
        guard !waiting.contains(where: { $0.user == user.id }) else { return }
        guard waiting.count < call.limits.requestersPerShare else {
            throw WireError.badRequest(
                "\(waiting.count) users wait for access to the share already; ask again when some "
                    + "have an answer",
                ckCode: CKErrorCode.limitExceeded
            ).naming(.requestersPerShare)
        }
        guard !share.isBlocked(user.id) else { return }
        var asked = share
        asked.outsiders =
            (asked.outsiders + [try transaction.requester(user, at: call.now)]).inOrder
        var access = DatabaseAccess(key: found.database.key, owner: owner).access(
            to: found.zone, of: found.database)
        // The record does not show who asked: participants see it who may not know.
        try found.save(
            asked, stamp: nil, isForManagers: true, in: &access, for: call, transaction)
    }
}

extension AddressReading {
    /// Somebody who asks for access: those whom they ask see a verified address of theirs, if they
    /// have one, an e-mail address first.
    fileprivate func requester(_ user: StoredUser, at now: Instant) throws -> StoredOutsider {
        let addresses = try verifiedAddresses(of: user.account).sorted {
            ($0.isPhoneNumber ? 1 : 0, $0.addressText ?? "")
                < ($1.isPhoneNumber ? 1 : 0, $1.addressText ?? "")
        }
        return StoredOutsider(
            user: user.id,
            identity: UserIdentity(userRecordName: user.recordName, lookup: addresses.first),
            since: now)
    }
}

extension UserLookup {
    fileprivate var isPhoneNumber: Bool {
        if case .phoneNumber = self { true } else { false }
    }
}
