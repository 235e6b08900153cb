// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Adds a web token of a user that the operator hands out: good until a day, and not renewed.
package enum AddWebToken {
    /// How long one is valid unless the operator chooses otherwise.
    package static let lifetime = Duration.seconds(365 * 24 * 3600)

    /// Keeps a further web token of the user of this name; the others stay valid. An unknown
    /// name fails, and so does a container that no request can name.
    ///
    /// - Parameters:
    ///   - hash: The hash under which the token is kept.
    ///   - container: The only container, in its environment, where it is good; nil for all.
    package static func run(
        _ hash: [UInt8], ofUser name: String, for container: ContainerKey?, lifetime: Duration,
        at now: Instant, in transaction: some AccountReading & SessionWriting
    ) throws {
        try container?.check()
        let account = try transaction.user(named: name)
        try run(hash, of: account, for: container, lifetime: lifetime, at: now, in: transaction)
    }

    static func run(
        _ hash: [UInt8], of account: AccountID, for container: ContainerKey?, lifetime: Duration,
        at now: Instant, in transaction: some SessionWriting
    ) throws {
        try transaction.putWebToken(
            StoredWebToken(
                account: account, expiresAt: now.advanced(by: lifetime),
                session: SessionID(beginningWith: hash, in: account.cell), origin: .operator,
                container: container, createdAt: now
            ),
            hash: hash
        )
    }
}
