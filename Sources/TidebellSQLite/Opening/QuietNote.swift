// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// What is noted beside the database of commits that moved neither a position nor the
/// notification log: how many there were in the present life of the store.
///
/// It stands after the ``StoreNote`` and apart from it, because commands beside a running
/// server make such commits too, and the server must not write over what they noted.
struct QuietNote: Sendable, Hashable {
    var identity: UInt64
    var incarnation: Incarnation
    var count: Int64

    /// Where it stands in the file.
    static let offset = StoreNote.size
    /// The size of a note; it ends in the first sector of the file.
    static let size = 128

    /// The note as it is stored: a line of words, filled up with blanks.
    var bytes: [UInt8] {
        let words = "quiet \(identity) \(incarnation.rawValue) \(count)"
        let text = "\(words) \(StoreNote.checksum(words))"
        let blanks = String(repeating: " ", count: max(0, Self.size - 1 - text.utf8.count))
        return Array((text + blanks + "\n").utf8)
    }

    /// Creates a note.
    init(identity: UInt64, incarnation: Incarnation, count: Int64) {
        self.identity = identity
        self.incarnation = incarnation
        self.count = count
    }

    /// Reads a note; nil when there is none, or it is damaged.
    init?(bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }
        guard bytes.count == Self.size, words.count == 5,
            words.last == "\(StoreNote.checksum(words.dropLast().joined(separator: " ")))"[...],
            let identity = UInt64(words[1]), let incarnation = Int64(words[2]),
            let count = Int64(words[3])
        else { return nil }
        self.init(
            identity: identity, incarnation: Incarnation(rawValue: incarnation), count: count
        )
    }
}
