// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

/// How far a store has come, as far as it can be compared with how far it had come before.
struct StoreProgress: Sendable, Hashable {
    var incarnation = Incarnation.first
    /// The latest position of all databases, erased ones too.
    var position = Position.start
    /// The end of the notification log.
    var notification = NotificationSequence.start
    /// The change that was committed last: what is older lacks it, though another database may
    /// have a later position. Nil where it is not known.
    var latest: LatestChange?
    /// How many commits changed something that moves neither of these numbers.
    var quietChanges: Int64 = 0

    /// Whether something of `other` is missing, as far as that is known without the databases.
    func isBehind(_ other: StoreProgress) -> Bool {
        incarnation < other.incarnation
            || incarnation == other.incarnation
                && (other.latest == nil && position < other.position
                    || notification < other.notification
                    || quietChanges < other.quietChanges)
    }
}

/// What is noted beside the database of its newest state, so that a database that comes back
/// from an older moment is known for it.
struct StoreNote: Sendable, Hashable {
    var identity: UInt64
    var progress: StoreProgress

    /// The size of a note; one write of a part of one sector is whole or not done.
    static let size = 192

    /// The note as it is stored: a line of words, filled up with blanks.
    var bytes: [UInt8] {
        var words = """
            tidebell \(identity) \(progress.incarnation.rawValue) \(progress.position.rawValue) \
            \(progress.notification.rawValue)
            """
        if let latest = progress.latest {
            words += " \(latest.database.rawValue) \(latest.position.rawValue)"
        }
        let text = "\(words) \(Self.checksum(words))"
        let blanks = String(repeating: " ", count: max(0, Self.size - 1 - text.utf8.count))
        return Array((text + blanks + "\n").utf8)
    }

    /// Reads a note; nil when there is none, or it is damaged.
    init?(bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }
        // There is no latest change before the first one. Earlier versions noted none at
        // all, and a seventh word that means nothing any more.
        guard bytes.count == Self.size, (6...8).contains(words.count),
            words.last == "\(Self.checksum(words.dropLast().joined(separator: " ")))"[...],
            let identity = UInt64(words[1]), let incarnation = Int64(words[2]),
            let position = Int64(words[3]), let notification = Int64(words[4])
        else { return nil }
        var latest: LatestChange?
        if words.count == 8 {
            guard let database = Int64(words[5]), let position = Int64(words[6]) else { return nil }
            latest = LatestChange(
                database: DatabaseID(rawValue: database), position: Position(rawValue: position)
            )
        }
        self.init(
            identity: identity,
            progress: StoreProgress(
                incarnation: Incarnation(rawValue: incarnation),
                position: Position(rawValue: position),
                notification: NotificationSequence(rawValue: notification), latest: latest
            )
        )
    }

    /// Creates a note.
    init(identity: UInt64, progress: StoreProgress) {
        self.identity = identity
        self.progress = progress
    }

    /// FNV-1a.
    static func checksum(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
