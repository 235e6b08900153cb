// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

/// The writes that wait for a transaction, one of each caller in turn.
///
/// One that waits alone, as most do, passes without the turns, which cost more than all else that
/// happens to it here.
package struct WaitingWrites {
    /// How many wait.
    package private(set) var count = 0
    /// The only one that waits; nil where none does, or several.
    private var single: (any WaitingWrite)?
    /// Whose the last one was that waited alone, where ``turns`` does not know that yet.
    private var latest: AccountID??
    private var turns = Turns<AccountID?, any WaitingWrite>()

    /// None waits.
    package init() {}

    /// How many wait of a caller.
    package func count(of caller: AccountID) -> Int {
        if let single { return single.caller == caller ? 1 : 0 }
        return count == 0 ? 0 : turns.count(of: caller)
    }

    /// Lets a write wait.
    package mutating func enter(_ write: any WaitingWrite) {
        count += 1
        guard count > 1 else { return single = write }
        if let latest { turns.noteTurn(of: latest) }
        if let single { turns.enter(single, as: single.caller) }
        (single, latest) = (nil, nil)
        turns.enter(write, as: write.caller)
    }

    /// Removes and returns the one whose turn it is.
    package mutating func next() -> (any WaitingWrite)? {
        guard count > 0 else { return nil }
        count -= 1
        guard let single else { return turns.next() }
        (self.single, latest) = (nil, .some(single.caller))
        return single
    }
}
