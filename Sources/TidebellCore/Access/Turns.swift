// SPDX-License-Identifier: Apache-2.0

/// Who waits, one of each key in turn: a crowd with one key delays another key's by one of its own.
package struct Turns<Key: Hashable, Ticket> {
    /// By key; none is empty.
    private var tickets: [Key: [Ticket]] = [:]
    /// The keys in the order of their turns.
    package private(set) var order: [Key] = []
    /// How many wait.
    package private(set) var count = 0

    /// Creates an empty line.
    package init() {}

    /// How many wait with a key.
    package func count(of key: Key) -> Int { tickets[key]?.count ?? 0 }

    /// Lets somebody wait.
    package mutating func enter(_ ticket: Ticket, as key: Key) {
        if tickets[key] == nil { order.append(key) }
        tickets[key, default: []].append(ticket)
        count += 1
    }

    /// Removes and returns who is next.
    package mutating func next() -> Ticket? {
        guard let key = order.first else { return nil }
        let ticket = remove(0, of: key)
        // What is left of the key waits until all others had their turn.
        if tickets[key] != nil {
            order.removeFirst()
            order.append(key)
        }
        return ticket
    }

    /// Removes and returns the first that `isLeaving` says.
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
        let ticket = tickets[key]?.remove(at: index)
        count -= 1
        if tickets[key]?.isEmpty ?? true {
            tickets[key] = nil
            order.removeAll { $0 == key }
        }
        return ticket
    }
}

extension Turns: Sendable where Key: Sendable, Ticket: Sendable {}
