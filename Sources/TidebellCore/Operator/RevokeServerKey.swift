// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension RevokeServerKey {
    /// Ends the key with this ID, of which the beginning is enough where it names one; returns it.
    /// An unknown or ambiguous ID fails.
    ///
    /// Its account goes with it, and with that its subscriptions and push tokens; its public records
    /// stay, as those of a removed user do.
    ///
    /// - Parameter container: Where alone the key may be; nil is anywhere.
    package static func run(
        _ id: String, in container: ContainerKey?, at now: Instant,
        in transaction: some AccountWriting & SessionReading & ServerKeyReading
    ) throws -> StoredServerKey {
        let named = try ListServerKeys.run(for: container, in: transaction).filter {
            TokenID.text(id, names: $0.key.id)
        }
        guard let key = named.first?.key, named.count == 1 else {
            throw OperatorError(
                named.isEmpty ? .unknown : .ambiguous, .key,
                named.isEmpty
                    ? "There is no server-to-server key '\(WireError.shortened(id))'."
                    : "'\(id)' names \(named.count) keys, give more digits.",
                remedy: .listServerKeys)
        }
        try transaction.removeAccount(key.account, at: now)
        return key
    }
}
