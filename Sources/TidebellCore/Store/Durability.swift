// SPDX-License-Identifier: Apache-2.0

/// When a write survives a power cut.
package enum Durability: Sendable {
    /// When it returns.
    case immediate
    /// With the next write that is durable when it returns; before that a power cut may undo it, whole and with
    /// all that came after it. Everybody reads it as any other, and an end of the process does not undo it.
    ///
    /// For what is done again from something that is durable, and then comes to the same: notifications, whose
    /// changes stand in the outbox. No number of a notification that it gave out is given out again.
    case eventual
}
