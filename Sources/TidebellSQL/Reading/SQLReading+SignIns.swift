// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

extension SQLReading {
    package func deviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn? {
        try connection.first(
            "SELECT \(StoredDeviceSignIn.columns) FROM device_sign_in WHERE hash = ?", hash,
            read: StoredDeviceSignIn.init
        )
    }

    package func deviceSignIn(userCode: String) throws -> StoredDeviceSignIn? {
        try connection.first(
            "SELECT \(StoredDeviceSignIn.columns) FROM device_sign_in WHERE user_code = ?",
            userCode, read: StoredDeviceSignIn.init
        )
    }

    package func deviceSignInCounts(
        in container: ContainerKey, of address: String?, at now: Instant
    ) throws -> DeviceSignInCounts {
        try connection.first(
            """
            SELECT count(*), count(CASE WHEN container = ? AND environment = ? THEN 1 END),
                count(CASE WHEN address = ? THEN 1 END)
            FROM device_sign_in WHERE expires_at > ?
            """,
            container.container, container.environment, address, now
        ) {
            DeviceSignInCounts(
                all: Int($0.int(0)), inContainer: Int($0.int(1)), ofAddress: Int($0.int(2)))
        } ?? DeviceSignInCounts(all: 0, inContainer: 0, ofAddress: 0)
    }
}

extension StoredDeviceSignIn {
    static let columns = """
        hash, user_code, container, environment, methods, device_name, network, address, expires_at,
            account, user_name, proof, by_provider
        """

    init(_ columns: Columns) throws {
        let account: AccountID? = try columns.optional(9)
        self.init(
            hash: columns.bytes(0), userCode: columns.text(1),
            container: ContainerKey(
                container: columns.text(2), environment: try columns.value(3)),
            methods: columns.optionalText(4).map(AppSignIn.Method.all),
            deviceName: columns.optionalText(5), network: columns.optionalText(6),
            address: columns.optionalText(7), expiresAt: try columns.value(8),
            entered: account.map { account in
                Entered(
                    account: account, name: columns.text(10), proof: columns.optionalBytes(11),
                    isByProvider: columns.bool(12))
            }
        )
    }
}

extension AppSignIn.Method {
    /// Returns the ways to sign in that a column has, separated by spaces.
    static func all(in text: String) -> Set<Self> {
        Set(text.split(separator: " ").compactMap { Self(rawValue: String($0)) })
    }

    /// The ways to sign in as a column has them.
    static func text(of methods: Set<Self>) -> String {
        methods.map(\.rawValue).sorted().joined(separator: " ")
    }
}
