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
        _ ids: Set<String>, of user: UserID, after position: NotificationSequence
    ) throws -> [String: NotificationSequence] {
        guard !connection.indexesNotificationIDs else {
            sendAhead { ahead in
                for id in ids { _ = try ahead.notificationSequence(id, of: user) }
            }
            var found: [String: NotificationSequence] = [:]
            for id in ids {
                guard let known = try notificationSequence(id, of: user), known > position else {
                    continue
                }
                found[id] = known
            }
            return found
        }
        var found: [String: NotificationSequence] = [:]
        guard !ids.isEmpty else { return found }
        try connection.each(
            """
            SELECT notification_id, sequence FROM notification
            WHERE user = ? AND sequence > ? ORDER BY sequence DESC
            """,
            user, position
        ) { columns in
            let id = columns.text(0)
            if ids.contains(id) { found[id] = try columns.value(1) }
            return found.count < ids.count
        }
        return found
    }

    fileprivate func notificationSequence(
        _ id: String, of user: UserID
    ) throws -> NotificationSequence? {
        try connection.first(
            "SELECT max(sequence) FROM notification WHERE user = ? AND notification_id = ?", user,
            id
        ) { $0.isNull(0) ? nil : try $0.value(0) } ?? nil
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
