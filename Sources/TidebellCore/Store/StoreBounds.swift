// SPDX-License-Identifier: Apache-2.0

/// How much a store lets wait, and how long a transaction takes writes.
package struct StoreBounds: Sendable, Hashable {
    /// Writes that wait, of all callers; those beyond get `TRY_AGAIN_LATER`.
    package var waitingWrites = 4096
    /// Writes that wait, of one caller; those beyond get `THROTTLED`. The server itself has no
    /// such bound.
    package var waitingWritesPerCaller = 1024
    /// Reads at work or waiting, but for long ones.
    package var waitingReads = 4096
    /// How long a transaction that writes share takes further ones: what was not begun then is
    /// left to the next, so that who comes meanwhile waits for no more than this and one write; as
    /// long once more where a write failed after it wrote, and the others run again without it.
    package var commitTime = Duration.milliseconds(100)

    /// Creates the default bounds.
    package init() {}
}
