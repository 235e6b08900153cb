// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// Which records hold a file, for whoever must do something about it.
package struct FileHolders: Sendable {
    /// The locations of some of them, at most ``most``.
    var locations: [StoreProblem] = []
    /// How many there are.
    var count = 0

    /// The most records that are named for one file.
    static let most = 3

    /// Creates holders; none are known.
    package init() {}

    /// Returns a problem of the file at the location of the first record, with the others in
    /// its words.
    package func problem(_ text: String) -> StoreProblem {
        guard var problem = locations.first else {
            return StoreProblem("\(text); no record holds it")
        }
        problem.problem = text
        guard count > 1 else { return problem }
        problem.problem +=
            "; also of " + locations.dropFirst().map(\.location).joined(separator: ", ")
        if count > locations.count {
            let more = count - locations.count
            problem.problem += " and \(more) more record\(more == 1 ? "" : "s")"
        }
        return problem
    }
}

extension StoreCheck {
    /// Returns which records of the store at `path` hold the files with these contents.
    package static func holders(
        of contents: [String], at path: String
    ) throws -> [String: FileHolders] {
        do {
            let queue = try SQLiteStore.queueThatOnlyReads(path)
            defer { try? queue.close() }
            return try queue.read { database in
                let check = StoreCheck(Connection(database))
                var holders: [String: FileHolders] = [:]
                for content in contents { holders[content] = try check.holders(of: content) }
                return holders
            }
        } catch {
            throw StoreOpenError(error, path: path)
        }
    }

    private func holders(of content: String) throws -> FileHolders {
        var holders = FileHolders()
        let count = try connection.first(
            "SELECT count(*) FROM asset_use WHERE content = ?", content
        ) { $0.int(0) }
        holders.count = Int(count ?? 0)
        let uses = try connection.rows(
            "SELECT zone, record FROM asset_use WHERE content = ? ORDER BY zone, record LIMIT ?",
            content, FileHolders.most
        ) { (zone: $0.int(0), record: $0.text(1)) }
        for use in uses {
            var location = try location(of: use.zone)
            location.record = use.record
            holders.locations.append(location)
        }
        return holders
    }
}
