// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Gives a new cloud its first user and API token.
package enum MakeFirstUser {
    /// Whether a cloud has neither users nor API tokens.
    package static func isNew(
        _ reader: some AccountReading & ServerKeyReading & TokenReading
    ) throws -> Bool {
        try ListUsers.run(in: reader).isEmpty && ListTokens.run(.api, in: reader).isEmpty
    }

    /// Makes the user, with a web token good in all containers, and the API token, and returns the account; nil, and nothing is made, where
    /// there are users or API tokens: of two servers that begin at once, one makes them.
    ///
    /// - Parameters:
    ///   - webToken: The hash under which the user's token is kept.
    ///   - apiToken: The hash under which the API token is kept.
    package static func run(
        named name: String, webToken: [UInt8], apiToken: [UInt8], at now: Instant,
        in transaction: some AccountWriting & ServerKeyReading & SessionWriting & TokenWriting
    ) throws -> AccountID? {
        guard try isNew(transaction) else { return nil }
        try AddToken.run(
            .api, apiToken, named: "first run", for: nil, lifetime: nil, at: now, in: transaction)
        return try AddUser.run(
            named: name, token: webToken, lifetime: AddWebToken.lifetime, at: now, in: transaction)
    }
}
