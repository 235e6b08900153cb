// SPDX-License-Identifier: Apache-2.0

/// Who waits to have a password checked, and who is next.
///
/// First those who signed in before from the same address, then one from each address in
/// turn. So a crowd from one address delays the others by one of its own.
package struct SignInLine<Ticket> {
    /// The most that wait; some tenths of a second each.
    package static var capacity: Int { 64 }

    private var first: [Ticket] = []
    /// Those who wait, by address; none is empty.
    private var rest: [String: [Ticket]] = [:]
    /// The addresses in the order of their turns.
    private var order: [String] = []

    /// Creates an empty line.
    package init() {}

    /// How many wait.
    package private(set) var count = 0

    /// Lets somebody wait; returns who cannot any more, for want of room: the last one of
    /// the address that most wait from, be it the new one.
    package mutating func enter(
        _ ticket: Ticket, from address: String, goesFirst: Bool
    ) -> Ticket? {
        count += 1
        if goesFirst {
            first.append(ticket)
        } else {
            if rest[address] == nil { order.append(address) }
            rest[address, default: []].append(ticket)
        }
        return count > Self.capacity ? removeLastOfMost() : nil
    }

    /// Removes and returns who is next.
    package mutating func next() -> Ticket? {
        guard count > 0 else { return nil }
        count -= 1
        if !first.isEmpty { return first.removeFirst() }
        guard !order.isEmpty else { return nil }
        let address = order.removeFirst()
        guard var tickets = rest[address] else { return nil }
        let ticket = tickets.removeFirst()
        rest[address] = tickets.isEmpty ? nil : tickets
        if !tickets.isEmpty { order.append(address) }
        return ticket
    }

    private mutating func removeLastOfMost() -> Ticket? {
        count -= 1
        // Of equals the one whose turn is last.
        let most = order.reversed().max {
            rest[$0, default: []].count < rest[$1, default: []].count
        }
        guard let most, var tickets = rest[most] else { return first.popLast() }
        let ticket = tickets.popLast()
        rest[most] = tickets.isEmpty ? nil : tickets
        if tickets.isEmpty { order.removeAll { $0 == most } }
        return ticket
    }
}
