// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// What the cloud was at a moment that its store may come back to.
struct Moment: Sendable {
    let model: Model
    let sharing: SharingState
    let progress: Progress
}

/// How far a store had come: what it gave out last.
struct Progress: Sendable, Hashable {
    var incarnation: Incarnation
    /// The latest position of each database.
    var heads: [DatabaseKey: Position] = [:]
    /// Where the logs of people end.
    var logs: [UserID: NotificationSequence] = [:]

    /// Whether a store that is here has lost something of one that was there.
    func lacks(_ other: Progress) -> Bool {
        incarnation < other.incarnation
            || other.logs.contains { user, end in logs[user] ?? .start < end }
            || other.heads.contains { key, head in heads[key] ?? .start < head }
    }
}

/// A commit to which the write-ahead log can be cut.
struct LoggedMoment: Sendable {
    /// How long the log was then.
    let size: Int
    let moment: Moment
}

/// A backup and what was in it.
struct MadeBackup: Sendable {
    let folder: URL
    let moment: Moment
}

/// A position of a database, and with it a change tag, over all lives of the store.
struct GivenPosition: Hashable {
    var database: DatabaseKey
    var position: Position
}
