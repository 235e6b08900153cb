// SPDX-License-Identifier: Apache-2.0

/// Who waits to have a password checked, and who is next.
///
/// Those who signed in before from the same address and all others, by turns; of each, one
/// from each address in turn. So a crowd from one address delays the others by one of its
/// own, or by two where it signed in before.
package struct SignInLine<Ticket> {
    /// The most that wait, unless the server is configured otherwise; some tenths of a second each.
    package static var capacity: Int { 64 }

    private let capacity: Int
    /// Those who signed in before.
    private var known = Turns<String, Ticket>()
    private var others = Turns<String, Ticket>()
    /// Whether the last turn was of one who signed in before.
    private var lastWasKnown = false

    /// Creates an empty line in which so many can wait.
    package init(capacity: Int = Self.capacity) { self.capacity = capacity }

    /// How many wait.
    package var count: Int { known.count + others.count }

    /// Lets somebody wait; returns who cannot any more, for want of room: the last one of
    /// the address that most wait from, be it the new one.
    package mutating func enter(
        _ ticket: Ticket, from address: String, goesFirst: Bool
    ) -> Ticket? {
        if goesFirst {
            known.enter(ticket, as: address)
        } else {
            others.enter(ticket, as: address)
        }
        return count > capacity ? removeLastOfMost() : nil
    }

    /// Removes and returns who is next.
    package mutating func next() -> Ticket? {
        let isKnown = known.count > 0 && (!lastWasKnown || others.count == 0)
        lastWasKnown = isKnown
        return isKnown ? known.next() : others.next()
    }

    /// Removes and returns the one for which `isLeaving` is true, which waits no longer.
    package mutating func remove(where isLeaving: (Ticket) -> Bool) -> Ticket? {
        known.remove(where: isLeaving) ?? others.remove(where: isLeaving)
    }

    private mutating func removeLastOfMost() -> Ticket? {
        func size(_ address: String) -> Int {
            known.count(of: address) + others.count(of: address)
        }
        // Of equals the one whose turn is last.
        let addresses = others.order.reversed() + known.order.reversed()
        let most = addresses.max { size($0) < size($1) }
        return most.flatMap { others.removeLast(of: $0) ?? known.removeLast(of: $0) }
    }
}
