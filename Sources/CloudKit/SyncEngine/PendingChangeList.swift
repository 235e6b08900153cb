// SPDX-License-Identifier: Apache-2.0

/// The changes that are to be sent, each item once, in order (SYNC-19).
///
/// A change of an item replaces the opposite one and goes to the end; the same
/// change again stays where it is, and one that could not be sent goes to the end. Every
/// addition has a number of its own, so that a change that was made again while it was
/// being sent is not taken for sent.
struct PendingChangeList<Change: PendingChange>: Sendable {
    /// The number of an addition; grows with each.
    typealias Edition = UInt64

    private struct Entry {
        var change: Change
        var position: Edition
        var edition: Edition
    }

    private var entries: [Change.ItemID: Entry] = [:]
    /// The newest addition or postponement.
    private(set) var edition: Edition = 0

    /// Creates a list of changes, added one after the other.
    init(_ changes: [Change] = []) {
        for change in changes { add(change) }
    }

    /// The changes in order.
    var changes: [Change] { entries.values.sorted { $0.position < $1.position }.map(\.change) }

    /// Whether nothing is to be sent.
    var isEmpty: Bool { entries.isEmpty }

    /// Adds a change; returns whether the changes differ now.
    @discardableResult
    mutating func add(_ change: Change) -> Bool {
        edition += 1
        let known = entries[change.itemID]
        let isKnown = known?.change == change
        let position = isKnown ? known?.position ?? edition : edition
        entries[change.itemID] = Entry(change: change, position: position, edition: edition)
        return !isKnown
    }

    /// Removes a change; the opposite one of the same item stays. Returns whether it was there.
    @discardableResult
    mutating func remove(_ change: Change) -> Bool {
        guard entries[change.itemID]?.change == change else { return false }
        entries[change.itemID] = nil
        return true
    }

    /// Removes a change unless it was added again after `edition`, or is another by now.
    /// Returns whether it was removed.
    @discardableResult
    mutating func remove(_ change: Change, addedUpTo edition: Edition) -> Bool {
        guard let entry = entries[change.itemID], entry.change == change,
            entry.edition <= edition
        else { return false }
        entries[change.itemID] = nil
        return true
    }

    /// Moves a change to the end, behind what may have better luck, unless it was added
    /// again after `edition`, or is another by now.
    mutating func postpone(_ change: Change, addedUpTo edition: Edition) {
        guard var entry = entries[change.itemID], entry.change == change,
            entry.edition <= edition
        else { return }
        self.edition += 1
        entry.position = self.edition
        entries[change.itemID] = entry
    }
}
