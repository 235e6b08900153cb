// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Gives an account an e-mail address or a phone number.
package enum AddAddress {
    /// The most addresses of one account.
    package static let mostOfAccount = 20

    /// Adds an address to a user, or changes whether theirs is verified; returns it as it is stored.
    ///
    /// By a verified address others invite the user to shares, and find them if they permit it
    /// (SHARE-22, ACCT-6). Fails for what is no address, and for one that another user has.
    package static func run(
        _ text: String, of name: String, isVerified: Bool,
        in transaction: some AccountReading & AddressWriting
    ) throws -> UserLookup {
        let account = try transaction.user(named: name)
        let address = try OperatorError.address(text)
        if let known = try transaction.addresses(among: [address]).first,
            known.account != account
        {
            let holder = try transaction.accountNames([known.account])[known.account] ?? "another"
            throw OperatorError(
                .taken, .address,
                "The address '\(address.addressText ?? text)' is of the user '\(holder)': an "
                    + "address is of one user."
            )
        }
        let others = try transaction.addresses(of: account).filter { $0.address != address }
        guard others.count < mostOfAccount else {
            throw OperatorError(
                .tooMany, .address,
                "The user '\(name)' has \(mostOfAccount) addresses already: remove one first."
            )
        }
        try transaction.putAddress(
            StoredAddress(address: address, account: account, isVerified: isVerified))
        return address
    }
}

/// Takes an address away from an account: nobody finds the user by it any more. Where they take part
/// in shares they go on.
package enum RemoveAddress {
    /// Removes an address of a user, and returns it; fails where it is none of theirs.
    package static func run(
        _ text: String, of name: String, in transaction: some AccountReading & AddressWriting
    ) throws -> UserLookup {
        let account = try transaction.user(named: name)
        let address = try OperatorError.address(text)
        guard try transaction.addresses(of: account).contains(where: { $0.address == address })
        else {
            throw OperatorError(
                .unknown, .address,
                "The user '\(name)' has no address '\(address.addressText ?? text)'."
            )
        }
        try transaction.removeAddress(address)
        return address
    }
}

/// Lists the addresses of an account.
package enum ListAddresses {
    /// Returns the addresses of a user, e-mail addresses first; an unknown name fails.
    package static func run(
        of name: String, in reader: some AccountReading & AddressReading
    ) throws -> [StoredAddress] {
        try reader.addresses(of: try reader.user(named: name))
    }
}

extension OperatorError {
    fileprivate static func address(_ text: String) throws -> UserLookup {
        guard let address = UserAddress.parsed(text) else {
            throw OperatorError(
                .invalid, .address,
                "'\(text)' is neither an e-mail address nor a phone number; write "
                    + "anna@example.org or +49 170 1234567."
            )
        }
        return address
    }
}
