// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellCore
import TidebellWire

/// Rows as this process read them last, by which it is guessed what a transaction is going to ask for.
///
/// Nothing is answered from here: a guess becomes a value of a statement that is sent ahead
/// (``ReadAhead``), and whoever reads gets the rows of that only where they ask the same. So a wrong one costs a
/// statement for nothing, and is never seen.
package final class RowGuesses: Sendable {
    /// The most rows of a kind.
    private static let capacity = 10_000

    private struct State {
        var databases: [DatabaseKey: StoredDatabase] = [:]
        var keys: [DatabaseID: DatabaseKey] = [:]
        var zones: [GroupMemory.ZonePlace: StoredZone] = [:]
        var revisions: [ContainerKey: SchemaRevision] = [:]
        var accounts: [WebTokenHash: StoredWebToken] = [:]
    }

    private let state = Mutex(State())

    /// Begins without any.
    package init() {}

    /// Forgets all of them.
    package func forget() { state.withLock { $0 = State() } }

    /// What the database with an ID is, which never changes; nil where that is not known.
    package func key(of database: DatabaseID) -> DatabaseKey? {
        state.withLock { $0.keys[database] }
    }

    func database(_ key: DatabaseKey) -> StoredDatabase? { state.withLock { $0.databases[key] } }

    func zones(_ names: Set<String>, in database: DatabaseID) -> [StoredZone] {
        state.withLock { state in
            names.compactMap {
                state.zones[GroupMemory.ZonePlace(database: database, name: ExactText($0))]
            }
        }
    }

    func revision(of container: ContainerKey) -> SchemaRevision? {
        state.withLock { $0.revisions[container] }
    }

    func webToken(hash: WebTokenHash) -> StoredWebToken? { state.withLock { $0.accounts[hash] } }

    func note(_ database: StoredDatabase) {
        state.withLock { state in
            Self.keep(database, as: database.key, in: &state.databases)
            Self.keep(database.key, as: database.id, in: &state.keys)
        }
    }

    func note(_ zones: [StoredZone]) {
        state.withLock { state in
            for zone in zones {
                let place = GroupMemory.ZonePlace(
                    database: zone.database, name: ExactText(zone.name))
                Self.keep(zone, as: place, in: &state.zones)
            }
        }
    }

    func note(_ revision: SchemaRevision, of container: ContainerKey) {
        state.withLock { Self.keep(revision, as: container, in: &$0.revisions) }
    }

    func note(_ token: StoredWebToken, hash: WebTokenHash) {
        state.withLock { Self.keep(token, as: hash, in: &$0.accounts) }
    }

    private static func keep<Key, Value>(
        _ value: Value, as key: Key, in values: inout [Key: Value]
    ) {
        // All of them busy: starting afresh costs each one round trip more.
        if values.count >= capacity, values[key] == nil { values = [:] }
        values[key] = value
    }
}
