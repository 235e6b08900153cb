// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Addresses of accounts; each is of one account at most. Those that are asked for are canonical.
package protocol AddressReading {
    /// Returns what is known of these addresses.
    func addresses(among wanted: Set<UserLookup>) throws -> [StoredAddress]

    /// Returns the addresses of an account.
    func addresses(of account: AccountID) throws -> [StoredAddress]

    /// Returns the users of a container by these addresses, where they are verified.
    func users(
        withAddresses wanted: Set<UserLookup>, in container: ContainerKey
    ) throws -> [UserLookup: StoredUser]
}

/// The operator gives accounts their addresses.
package protocol AddressWriting: AddressReading {
    /// Inserts an address, replacing what is known of the same one.
    func putAddress(_ address: StoredAddress) throws

    /// Removes an address; one that is not there is none.
    func removeAddress(_ address: UserLookup) throws
}

extension AddressReading where Self: UserReading {
    /// Returns the users of a container whom look-ups mean, by record name or by a verified
    /// address, each under what ``UserLookup/compared`` makes of the look-up.
    func users(
        meantBy lookups: some Sequence<UserLookup>, in container: ContainerKey
    ) throws -> [UserLookup: StoredUser] {
        var (names, addresses): (Set<String>, Set<UserLookup>) = ([], [])
        for lookup in lookups {
            if case .userRecordName(let name) = lookup {
                names.insert(name)
            } else if let address = UserAddress.canonical(lookup) {
                addresses.insert(address)
            }
        }
        var found = try users(withAddresses: addresses, in: container)
        guard !names.isEmpty else { return found }
        for user in try users(recordNames: names, in: container) {
            found[.userRecordName(user.recordName)] = user
        }
        return found
    }
}

extension AddressReading {
    /// Returns the verified addresses of an account.
    func verifiedAddresses(of account: AccountID) throws -> Set<UserLookup> {
        Set(try addresses(of: account).lazy.filter(\.isVerified).map(\.address))
    }
}
