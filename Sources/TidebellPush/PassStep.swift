// SPDX-License-Identifier: Apache-2.0

/// A stage of a pass that is over: a place where the process can die.
///
/// A pipeline may be given something to do at each, which stands for a crash by
/// failing there, or for what others do to the store meanwhile.
package enum PassStep: Sendable, Hashable, CaseIterable {
    case read, matched, coalesced, built
    /// The notifications are in the log, nobody was told of them yet.
    case committed
    /// Every route knows of them.
    case published
}
