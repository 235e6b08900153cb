// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ListServerKeys {
    /// The most keys that are listed and looked at.
    package static let mostListed = 10_000

    /// A key as the operator sees it.
    package struct Item: Sendable, Hashable {
        package var key: StoredServerKey
        /// When it was used last, to the hour; nil for never.
        package var usedAt: Instant?
        /// When it expires; nil for never.
        package var expiresAt: Instant?
    }

    /// Returns the keys, oldest first; expired ones too.
    ///
    /// - Parameter container: Whose keys; nil for all containers.
    package static func run(
        for container: ContainerKey?, in reader: some ServerKeyReading & SessionReading
    ) throws -> [Item] {
        try reader.serverKeys(limit: mostListed)
            .filter { container == nil || $0.container == container }
            .map { key in
                let token = try reader.webToken(hash: key.webTokenHash)
                let never = key.createdAt.advanced(by: ServerKeyRule.lifetime)
                let end = token?.expiresAt ?? key.createdAt
                return Item(
                    key: key, usedAt: token?.usedAt, expiresAt: end < never ? end : nil)
            }
    }
}
