// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
package import TidebellWire

// By what others find and invite users.
extension Accounts {
    /// Gives a user an e-mail address or a phone number; returns it as it is stored.
    package func addAddress(
        _ text: String, of name: String, isVerified: Bool = true
    ) async throws -> UserLookup {
        try await store.write(.account(try await account(named: name))) {
            try AddAddress.run(text, of: name, isVerified: isVerified, in: $0)
        }
    }

    /// Takes an address away from a user; returns it as it was stored.
    package func removeAddress(_ text: String, of name: String) async throws -> UserLookup {
        try await store.write(.account(try await account(named: name))) {
            try RemoveAddress.run(text, of: name, in: $0)
        }
    }

    /// Returns the addresses of a user.
    package func addresses(of name: String) async throws -> [StoredAddress] {
        try await store.read { try ListAddresses.run(of: name, in: $0) }
    }
}
