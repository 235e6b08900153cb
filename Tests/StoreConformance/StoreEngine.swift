// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// An engine under test: how its stores come and go.
package protocol StoreEngine: Sendable {
    /// Whether a step that writes outside of its scope fails.
    var checksScopes: Bool { get }

    /// Opens an empty store.
    func makeStore() async throws -> any Store

    /// Closes a store and opens what it kept.
    func reopen(_ store: any Store) async throws -> any Store

    /// Closes a store and removes what it kept.
    func remove(_ store: any Store) async throws
}

extension StoreEngine {
    package var checksScopes: Bool { true }
}
