// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellHTTP

/// What a new cloud starts with; the tokens are not stored and cannot be shown
/// again.
package struct FirstRun: Sendable, Hashable {
    package var userName: String
    /// Valid for all containers.
    package var apiToken: String
    package var webToken: String
}

extension Accounts {
    /// The user that a new cloud starts with.
    package static let firstUser = "me"

    /// Gives a cloud without any user and API token its first ones; returns nil for any
    /// other cloud, be it one that another server gave them at this moment.
    package func prepareFirstRun() async throws -> FirstRun? {
        guard try await store.read({ try MakeFirstUser.isNew($0) }) else { return nil }
        let now = time.now()
        let (api, web) = (makeToken(), makeToken())
        // Users and tokens are of several scopes, and both are to be looked at by whoever writes.
        let account = try await store.write(.everything) {
            try MakeFirstUser.run(
                named: Self.firstUser, webToken: web.hash, apiToken: api.hash, at: now, in: $0)
        }
        guard let account else { return nil }
        return FirstRun(
            userName: Self.firstUser, apiToken: api.text,
            webToken: Secret.webToken(web.text, of: account))
    }
}
