// SPDX-License-Identifier: Apache-2.0

/// Who waits, one of each key in turn: a crowd with one key delays another key's by one of its own.
package struct Turns<Key: Hashable, Ticket> {
    /// By key; none is empty.
    private var tickets: [Key: [Ticket]] = [:]
    /// The keys in the order of their turns, without ``latest``.
    private var others: [Key] = []
    /// How many wait.
    package private(set) var count = 0
    /// The key of who was next before: what is left of it waits behind all who come until the next
    /// one is asked for.
    private var latest: Key?

    /// The keys in the order of their turns.
    package var order: [Key] {
        guard let latest, tickets[latest] != nil else { return others }
        return others + [latest]
    }

    /// Creates an empty line.
    package init() {}

    /// How many wait with a key.
    package func count(of key: Key) -> Int { tickets[key]?.count ?? 0 }

    /// Notes who was next while nobody waited: they wait behind all who come now.
    package mutating func noteTurn(of key: Key) {
        assert(count == 0, "whoever waits has had no turn")
        latest = key
    }

    /// Lets somebody wait.
    package mutating func enter(_ ticket: Ticket, as key: Key) {
        if tickets[key] == nil, key != latest { others.append(key) }
        tickets[key, default: []].append(ticket)
        count += 1
    }

    /// Removes and returns who is next.
    package mutating func next() -> Ticket? {
        // Where only one key waits, its turn needs no line: most who wait for a commit are one user's.
        if others.isEmpty, let latest, let ticket = remove(0, of: latest) { return ticket }
        if let latest, tickets[latest] != nil { others.append(latest) }
        latest = others.isEmpty ? nil : others.removeFirst()
        return latest.flatMap { remove(0, of: $0) }
    }

    /// Removes and returns the first for which `isLeaving` is true.
    package mutating func remove(where isLeaving: (Ticket) -> Bool) -> Ticket? {
        for (key, waiting) in tickets {
            guard let index = waiting.firstIndex(where: isLeaving) else { continue }
            return remove(index, of: key)
        }
        return nil
    }

    /// Removes and returns the last one with a key.
    package mutating func removeLast(of key: Key) -> Ticket? {
        tickets[key].flatMap { remove($0.count - 1, of: key) }
    }

    private mutating func remove(_ index: Int, of key: Key) -> Ticket? {
        guard let slot = tickets.index(forKey: key) else { return nil }
        count -= 1
        let ticket = tickets.values[slot].remove(at: index)
        if tickets.values[slot].isEmpty {
            tickets.remove(at: slot)
            if key != latest { others.removeAll { $0 == key } }
        }
        return ticket
    }
}

extension Turns: Sendable where Key: Sendable, Ticket: Sendable {}
