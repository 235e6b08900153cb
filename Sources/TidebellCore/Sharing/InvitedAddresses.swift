// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension StoredParticipant {
    /// The address that was invited, of which no user of the container was known then; nil where
    /// somebody is known, and of a one-time URL.
    var openAddress: UserLookup? {
        user == nil ? identity.lookup.flatMap(UserAddress.canonical) : nil
    }

    /// The same as the user who is known now.
    func bound(to user: StoredUser) -> StoredParticipant {
        var bound = self
        bound.user = user.id
        bound.identity.userRecordName = user.recordName
        return bound
    }
}

extension AddressReading {
    /// Returns a share with a user as the participant whom one of their addresses was invited as; the
    /// same where none was, or where they take part already.
    func bound(_ share: StoredShare, to user: StoredUser) throws -> StoredShare {
        guard share.participant(user.id) == nil,
            share.participants.contains(where: { $0.openAddress != nil })
        else { return share }
        let addresses = try verifiedAddresses(of: user.account)
        var bound = share
        let index = share.participants.firstIndex {
            $0.openAddress.map(addresses.contains) ?? false
        }
        if let index {
            bound.participants[index] = share.participants[index].bound(to: user)
        }
        return bound
    }

    /// Whether a verified address of an account was invited, which need not have a user in the
    /// share's container yet.
    func isInvited(_ account: AccountID, to share: StoredShare) throws -> Bool {
        let open = share.participants.compactMap(\.openAddress)
        return try !open.isEmpty && !verifiedAddresses(of: account).isDisjoint(with: open)
    }

    /// Whether an address was invited of which no account is known (SHARE-19).
    func hasUnknownAddress(_ share: StoredShare) throws -> Bool {
        let open = Set(share.participants.compactMap(\.openAddress))
        guard !open.isEmpty else { return false }
        let known = try addresses(among: open).filter(\.isVerified)
        return known.count < open.count
    }
}
