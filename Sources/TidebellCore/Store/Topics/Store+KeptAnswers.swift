// SPDX-License-Identifier: Apache-2.0

/// The answers that were given to named writes.
package protocol KeptAnswerReading {
    /// Returns the answer that was given to a write; nil when it was never done, or
    /// its answer is no longer kept.
    func keptAnswer(to write: WriteID) throws -> KeptAnswer?
}

/// Answers to named writes are kept for a while.
package protocol KeptAnswerWriting: KeptAnswerReading {
    /// Keeps the answer to a write that has none yet. Where the user's answers then exceed
    /// `bytes` of ``KeptAnswer/size``, the user's oldest go, about a quarter of them. It counts
    /// as kept at the moment from which retention counts back, where that is after `now`.
    func keepAnswer(
        _ answer: KeptAnswer, to write: WriteID, at now: Instant, exceeding bytes: Int
    ) throws

    /// Removes answers kept before `moment`; then, beyond `bytes` of ``KeptAnswer/size``,
    /// the oldest of the users who have most. At most about `limit`; returns how many went.
    ///
    /// An answer that was kept after `now`, by a clock that was ahead, goes with the next one
    /// that was not.
    func removeAnswers(
        keptBefore moment: Instant, at now: Instant, exceeding bytes: Int, limit: Int
    ) throws -> Int
}
