// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
    package func notificationHistory(
        of user: UserID, after position: NotificationSequence, marks: ReadMarks, limit: Int
    ) throws -> [HistoryEntry] {
        // Two ranges of two indexes; each gives enough for the whole page.
        let unread = try connection.rows(
            HistoryEntry.unread, user, position, limit, read: HistoryEntry.init(unread:)
        )
        let read = try connection.rows(
            marks == .all ? HistoryEntry.read : HistoryEntry.readUnreported, user, position, limit,
            read: HistoryEntry.init(read:)
        )
        guard !read.isEmpty else { return unread }
        return Array((unread + read).sorted { $0.position < $1.position }.prefix(limit))
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
    fileprivate static let readUnreported = """
        SELECT read_place, notification_id, read_told FROM notification
        INDEXED BY notification_read
        WHERE user = ? AND read_place > ? AND read_told = 0 ORDER BY read_place LIMIT ?
        """

    fileprivate init(unread columns: Columns) throws {
        self.init(
            position: try columns.value(0), notificationID: columns.text(1),
            content: .unread(payload: columns.bytes(2))
        )
    }

    fileprivate init(read columns: Columns) throws {
        self.init(
            position: try columns.value(0), notificationID: columns.text(1),
            content: .read(isReported: columns.bool(2))
        )
    }
}
