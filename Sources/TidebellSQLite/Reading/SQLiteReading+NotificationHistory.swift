// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteReading {
    package func notificationHistory(
        of user: UserID, after place: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry] {
        // Two ranges of two indexes; each gives enough for the whole page.
        let unread = try connection.rows(
            HistoryEntry.unread, user, place, limit, read: HistoryEntry.init(unread:)
        )
        let read = try connection.rows(
            marks == .all ? HistoryEntry.read : HistoryEntry.readUntold, user, place, limit,
            read: HistoryEntry.init(read:)
        )
        guard !read.isEmpty else { return unread }
        return Array((unread + read).sorted { $0.place < $1.place }.prefix(limit))
    }

    package func notificationSequences(
        _ ids: Set<String>, of user: UserID
    ) throws -> [String: NotificationSequence] {
        var found: [String: NotificationSequence] = [:]
        guard !ids.isEmpty else { return found }
        try connection.each(
            """
            SELECT notification_id, sequence FROM notification
            WHERE user = ? ORDER BY sequence DESC
            """,
            user
        ) { columns in
            let id = columns.text(0)
            if ids.contains(id) { found[id] = try columns.value(1) }
            return found.count < ids.count
        }
        return found
    }
}

extension HistoryEntry {
    fileprivate static let unread = """
        SELECT sequence, notification_id, coalesce(full_payload, payload) FROM notification
        WHERE user = ? AND sequence > ? AND read_place IS NULL ORDER BY sequence LIMIT ?
        """
    fileprivate static let read = """
        SELECT read_place, notification_id, read_told FROM notification
        INDEXED BY notification_read
        WHERE user = ? AND read_place > ? ORDER BY read_place LIMIT ?
        """
    fileprivate static let readUntold = """
        SELECT read_place, notification_id, read_told FROM notification
        INDEXED BY notification_read
        WHERE user = ? AND read_place > ? AND read_told = 0 ORDER BY read_place LIMIT ?
        """

    fileprivate init(unread columns: Columns) throws {
        self.init(
            place: try columns.value(0), notificationID: columns.text(1),
            content: .unread(payload: columns.bytes(2))
        )
    }

    fileprivate init(read columns: Columns) throws {
        self.init(
            place: try columns.value(0), notificationID: columns.text(1),
            content: .read(isTold: columns.bool(2))
        )
    }
}
