// SPDX-License-Identifier: Apache-2.0

/// What a device has that syncs the custom zones of its user: its copy of the records, and what
/// it did not send yet.
struct Replica: Sendable {
    /// A zone as far as the device has fetched it.
    struct Zone: Sendable {
        var token: String?
        var records: [String: Known] = [:]
    }

    var databaseToken: String?
    var zones: [String: Zone] = [:]
    /// The newest edit of each record, by zone and name.
    var unsent: [String: [String: Edit]] = [:]

    /// Whether everything was sent.
    var isSent: Bool { unsent.values.allSatisfy(\.isEmpty) }

    /// What the device would send of a zone: over what it knows, and nothing else.
    func edits(in zone: String) -> [Edit] {
        let known = zones[zone]?.records ?? [:]
        return (unsent[zone] ?? [:]).values.sorted { $0.name < $1.name }.map { edit in
            guard edit.kind == .put else { return edit }
            var edit = edit
            edit.known = known[edit.name]
            edit.kind = edit.known == nil ? .insert : .update
            return edit
        }
    }
}

/// A version of a record that a device knows.
struct Known: Sendable, Hashable {
    /// The number of the save that wrote it.
    var version: Int
    var changeTag: String
}
