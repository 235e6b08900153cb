// SPDX-License-Identifier: Apache-2.0

/// What a new cloud starts with; the tokens are not stored and cannot be shown
/// again.
import TidebellCore
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
    /// other cloud.
    package func prepareFirstRun() async throws -> FirstRun? {
        guard try await names().isEmpty, try await tokens(.api).isEmpty else { return nil }
        return FirstRun(
            userName: Self.firstUser,
            apiToken: try await makeAPIToken(named: "first run"),
            webToken: try await add(named: Self.firstUser)
        )
    }
}
