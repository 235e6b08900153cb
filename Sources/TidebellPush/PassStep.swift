// SPDX-License-Identifier: Apache-2.0

/// A stage of a pass that is over: a moment at which the process can die.
///
/// A pipeline may be given something to do at each, which stands for a crash by
/// failing there, or for what others do to the store meanwhile.
package enum PassStep: Sendable, Hashable, CaseIterable {
    case read, matched, coalesced, built
    /// The notifications are in the log, no route has them yet.
    case committed
    /// Every route knows of them.
    case published
}
