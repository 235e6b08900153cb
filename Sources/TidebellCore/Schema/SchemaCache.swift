// SPDX-License-Identifier: Apache-2.0
import Synchronization
package import TidebellWire

/// The record types that requests asked for last, of one store.
///
/// It needs no word from anybody who changes a schema, in this process or another: what it
/// has is of one revision, which the request has read in its own transaction, and a
/// revision never stands for anything else. So what a transaction put here that was undone
/// is of a revision that nobody sees again.
package final class SchemaCache: Sendable {
    fileprivate struct Entry {
        var revision: SchemaRevision
        var types: [String: StoredRecordType] = [:]
        /// Its container, its types and their fields.
        var size = 1
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
    /// - Parameter capacity: The most containers, types and fields together that it holds
    ///   (``Limits/cachedSchemaFields``).
    package init(capacity: Int = Limits().cachedSchemaFields) {
        self.capacity = capacity
    }

    /// How many containers, types and fields it holds.
    package var size: Int { state.withLock(\.size) }

    /// The containers of which it holds types.
    package var containers: Set<ContainerKey> { state.withLock { Set($0.entries.keys) } }

    /// Returns those of the types that are here.
    func recordTypes(
        _ types: Set<String>, in container: ContainerKey, at revision: SchemaRevision
    ) -> [String: StoredRecordType] {
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
    ///
    /// That a container has none of the types is not kept: anybody may ask for any container.
    package func keep(
        _ types: [String: StoredRecordType], in container: ContainerKey,
        at revision: SchemaRevision
    ) {
        guard !types.isEmpty else { return }
        state.withLock { state in
            var entry = Entry(revision: revision)
            if let known = state.entries.removeValue(forKey: container) {
                state.size -= known.size
                if known.revision == revision { entry = known }
            }
            for (name, type) in types where entry.types[name] == nil {
                entry.types[name] = type
                entry.size += type.fields.count + 1
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
    /// Lets go of the containers that were asked for least recently, of more of them than must
    /// be: so that they are put in order once for many that come.
    fileprivate mutating func makeRoom(for size: Int, in capacity: Int) {
        guard self.size + size > capacity else { return }
        let oldestFirst = entries.sorted { $0.value.lastUse < $1.value.lastUse }
        for (container, entry) in oldestFirst
        where self.size + size > capacity - capacity / 8 && self.size > 0 {
            entries.removeValue(forKey: container)
            self.size -= entry.size
        }
    }
}
