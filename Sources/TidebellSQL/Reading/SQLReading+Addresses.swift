// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func addresses(among wanted: Set<UserLookup>) throws -> [StoredAddress] {
        guard !wanted.isEmpty else { return [] }
        return try connection.rows(
            StoredAddress.wanted, SQLList(addresses: wanted), read: StoredAddress.init)
    }

    package func addresses(of account: AccountID) throws -> [StoredAddress] {
        try connection.rows(StoredAddress.ofAccount, account, read: StoredAddress.init)
    }

    package func users(
        withAddresses wanted: Set<UserLookup>, in container: ContainerKey
    ) throws -> [UserLookup: StoredUser] {
        guard !wanted.isEmpty else { return [:] }
        let found = try connection.rows(
            StoredAddress.users, SQLList(addresses: wanted), container.container,
            container.environment
        ) {
            (try StoredAddress($0).address, try StoredUser($0, from: StoredAddress.columnCount))
        }
        return Dictionary(found) { first, _ in first }
    }
}

extension StoredAddress {
    fileprivate static let columnCount: Int32 = 4
    private static let columns = """
        account_address.kind, account_address.address, account_address.account,
        account_address.verified
        """
    private static let amongWanted = """
        FROM json_each(?) AS wanted
            CROSS JOIN account_address
                ON account_address.kind = wanted.value ->> 0
                AND account_address.address = \(SQLList.text("wanted.value ->> 1"))
        """
    fileprivate static let wanted = "SELECT \(columns) \(amongWanted)"
    fileprivate static let ofAccount =
        "SELECT \(columns) FROM account_address WHERE account = ? ORDER BY kind, address"
    fileprivate static let users = """
        SELECT \(columns), \(StoredUser.columns) \(amongWanted)
            CROSS JOIN user ON user.account = account_address.account
                AND user.container = ? AND user.environment = ?
        WHERE account_address.verified = 1
        """

    fileprivate init(_ columns: Columns) throws {
        let text = columns.text(1)
        let kind: AddressKind = try columns.value(0)
        self.init(
            address: kind == .email ? .emailAddress(text) : .phoneNumber(text),
            account: try columns.value(2), isVerified: columns.bool(3)
        )
    }
}

/// What an address is, as its table has it.
enum AddressKind: String, Bindable {
    case email, phone
}

extension UserLookup {
    /// Kind and text of an address; nil for a record name.
    var stored: (kind: AddressKind, text: String)? {
        switch self {
        case .userRecordName: nil
        case .emailAddress(let text): (.email, text)
        case .phoneNumber(let text): (.phone, text)
        }
    }
}

extension SQLList {
    /// A list of pairs of kind and address.
    fileprivate init(addresses: Set<UserLookup>) {
        let stored = addresses.compactMap(\.stored)
        self.init(columns: [.texts(stored.map(\.kind.rawValue)), .texts(stored.map(\.text))])
    }
}
