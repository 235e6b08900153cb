// SPDX-License-Identifier: Apache-2.0

/// Who waits to have a password checked, and who is next.
///
/// Those who signed in before from the same address and all others, by turns; of each, one
/// from each address in turn. So a crowd from one address delays the others by one of its
/// own, or by two where it signed in before.
package struct SignInLine<Ticket> {
    /// The most that wait; some tenths of a second each.
    package static var capacity: Int { 64 }

    /// Those who signed in before.
    private var known = AddressTurns<Ticket>()
    private var others = AddressTurns<Ticket>()
    /// Whether the last turn was of one who signed in before.
    private var lastWasKnown = false

    /// Creates an empty line.
    package init() {}

    /// How many wait.
    package var count: Int { known.count + others.count }

    /// Lets somebody wait; returns who cannot any more, for want of room: the last one of
    /// the address that most wait from, be it the new one.
    package mutating func enter(
        _ ticket: Ticket, from address: String, goesFirst: Bool
    ) -> Ticket? {
        if goesFirst {
            known.enter(ticket, from: address)
        } else {
            others.enter(ticket, from: address)
        }
        return count > Self.capacity ? removeLastOfMost() : nil
    }

    /// Removes and returns who is next.
    package mutating func next() -> Ticket? {
        let isKnown = known.count > 0 && (!lastWasKnown || others.count == 0)
        lastWasKnown = isKnown
        return isKnown ? known.next() : others.next()
    }

    /// Removes and returns the one that `isLeaving` says, who waits no longer.
    package mutating func remove(where isLeaving: (Ticket) -> Bool) -> Ticket? {
        known.remove(where: isLeaving) ?? others.remove(where: isLeaving)
    }

    private mutating func removeLastOfMost() -> Ticket? {
        func size(_ address: String) -> Int {
            known.count(from: address) + others.count(from: address)
        }
        // Of equals the one whose turn is last.
        let addresses = others.order.reversed() + known.order.reversed()
        let most = addresses.max { size($0) < size($1) }
        return most.flatMap { others.removeLast(from: $0) ?? known.removeLast(from: $0) }
    }
}

/// Who waits, one from each address in turn.
private struct AddressTurns<Ticket> {
    /// By address; none is empty.
    private var tickets: [String: [Ticket]] = [:]
    /// The addresses in the order of their turns.
    private(set) var order: [String] = []
    private(set) var count = 0

    func count(from address: String) -> Int { tickets[address]?.count ?? 0 }

    mutating func enter(_ ticket: Ticket, from address: String) {
        if tickets[address] == nil { order.append(address) }
        tickets[address, default: []].append(ticket)
        count += 1
    }

    mutating func next() -> Ticket? {
        guard let address = order.first else { return nil }
        let ticket = remove(0, from: address)
        // What is left of the address waits until all others had their turn.
        if tickets[address] != nil {
            order.removeFirst()
            order.append(address)
        }
        return ticket
    }

    mutating func remove(where isLeaving: (Ticket) -> Bool) -> Ticket? {
        for (address, waiting) in tickets {
            guard let index = waiting.firstIndex(where: isLeaving) else { continue }
            return remove(index, from: address)
        }
        return nil
    }

    mutating func removeLast(from address: String) -> Ticket? {
        tickets[address].flatMap { remove($0.count - 1, from: address) }
    }

    private mutating func remove(_ index: Int, from address: String) -> Ticket? {
        let ticket = tickets[address]?.remove(at: index)
        count -= 1
        if tickets[address]?.isEmpty ?? true {
            tickets[address] = nil
            order.removeAll { $0 == address }
        }
        return ticket
    }
}
