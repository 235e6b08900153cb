// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL

// Commits that move neither a position nor the notification log, and must not be lost
// unnoticed all the same: accounts, tokens, devices, subscriptions, webhooks, permissions.
// They are counted, once for each commit. What a reader acknowledged, or that a token was
// used, is not: losing that repeats a push at worst, and it is written all the time.
extension SQLTransaction {
    /// Under which name their number stands in SQLite's table of numbers given last: it is
    /// one, and a table of its own would be one more page in every such commit.
    static let quietChangesName = "quiet_change"

    /// How many there were.
    func quietChanges() throws -> Int64 {
        try connection.first(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", Self.quietChangesName
        ) { $0.int(0) } ?? 0
    }

    /// Counts one more, and returns how many there were.
    func countQuietChange() throws -> Int64 {
        let count = try quietChanges() + 1
        try connection.run(
            count == 1
                ? "INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)"
                : "UPDATE sqlite_sequence SET seq = ? WHERE name = ?",
            count, Self.quietChangesName
        )
        return count
    }
}
