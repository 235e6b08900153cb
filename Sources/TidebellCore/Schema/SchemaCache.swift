// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TidebellWire

/// The record types that requests asked for last, of one store.
///
/// It needs no word from anybody who changes a schema, in this process or another: what it
/// has is of one revision, which the request has read in its own transaction, and a
/// revision never stands for anything else. So what a transaction put here that was undone
/// is of a revision that nobody sees again.
package final class SchemaCache: Sendable {
    fileprivate struct Entry {
        var revision: SchemaRevision
        var types: [String: [String: StoredField]] = [:]
        var size = 0
        var lastUse = 0
    }

    fileprivate struct State {
        var entries: [ContainerKey: Entry] = [:]
        var size = 0
        var uses = 0
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// Creates an empty cache.
    ///
    /// - Parameter capacity: The most fields and types that it holds
    ///   (``Limits/cachedSchemaFields``).
    package init(capacity: Int = Limits().cachedSchemaFields) {
        self.capacity = capacity
    }

    /// How many fields and types it holds.
    package var size: Int { state.withLock(\.size) }

    /// Returns the fields of those of the types that are here.
    func fields(
        of types: Set<String>, in container: ContainerKey, at revision: SchemaRevision
    ) -> [String: [String: StoredField]] {
        state.withLock { state in
            guard let entry = state.entries[container], entry.revision == revision else {
                return [:]
            }
            state.uses += 1
            state.entries[container]?.lastUse = state.uses
            return types.reduce(into: [:]) { found, type in found[type] = entry.types[type] }
        }
    }

    /// Keeps types that were read; what is here of another revision of the container goes.
    func keep(
        _ types: [String: [String: StoredField]], in container: ContainerKey,
        at revision: SchemaRevision
    ) {
        state.withLock { state in
            var entry = Entry(revision: revision)
            if let known = state.entries.removeValue(forKey: container) {
                state.size -= known.size
                if known.revision == revision { entry = known }
            }
            for (name, fields) in types where entry.types[name] == nil {
                entry.types[name] = fields
                entry.size += fields.count + 1
            }
            guard entry.size <= capacity else { return }
            state.uses += 1
            entry.lastUse = state.uses
            state.makeRoom(for: entry.size, in: capacity)
            state.entries[container] = entry
            state.size += entry.size
        }
    }
}

extension SchemaCache.State {
    /// Lets go of the containers that were asked for least recently.
    fileprivate mutating func makeRoom(for size: Int, in capacity: Int) {
        while self.size + size > capacity,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries.removeValue(forKey: oldest.key)
            self.size -= oldest.value.size
        }
    }
}
