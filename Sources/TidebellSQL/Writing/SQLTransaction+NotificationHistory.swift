// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func markNotificationsRead(
        _ sequences: Set<NotificationSequence>, of user: UserID
    ) throws {
        let unread: [NotificationSequence] = try connection.rows(
            """
            SELECT notification.sequence
            FROM json_each(?) AS wanted CROSS JOIN notification
                ON notification.sequence = wanted.value
            WHERE notification.user = ? AND notification.read_place IS NULL
            ORDER BY notification.sequence
            """,
            SQLList(sequences.map(\.rawValue)), user
        ) { try $0.value(0) }
        for (position, sequence) in zip(try takePositions(unread.count, of: user), unread) {
            try connection.run(
                """
                UPDATE notification SET read_place = ?, read_told = 0, full_payload = NULL
                WHERE sequence = ?
                """,
                position, sequence
            )
        }
    }

    package func markReadMarksReported(_ positions: Set<NotificationSequence>, of user: UserID)
        throws
    {
        for position in positions {
            try connection.run(
                "UPDATE notification SET read_told = 1 WHERE user = ? AND read_place = ?",
                user, position
            )
        }
    }

    /// Takes the next numbers of the user's log, which notifications and marks share so
    /// that one number stands for what a reader of the history has.
    private func takePositions(_ count: Int, of user: UserID) throws -> [Int64] {
        guard count > 0 else { return [] }
        if let own = try ownNumbers(count, of: user) { return own }
        return try connection.takeNumbers(count, of: "notification")
    }
}
