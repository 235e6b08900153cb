// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteReading {
    package func notificationPlace(
        for user: UserID, after sequence: NotificationSequence,
        excludingOrigin client: String?, newest count: Int
    ) throws -> NotificationSequence? {
        guard let client else {
            return try connection.first(
                """
                SELECT sequence FROM notification WHERE user = ? AND sequence > ?
                ORDER BY sequence DESC LIMIT 1 OFFSET ?
                """,
                user, sequence, count - 1
            ) { try $0.value(0) }
        }
        return try connection.first(
            """
            SELECT sequence FROM notification
            WHERE user = ? AND sequence > ? AND origin_client IS NOT ?
            ORDER BY sequence DESC LIMIT 1 OFFSET ?
            """,
            user, sequence, client, count - 1
        ) { try $0.value(0) }
    }
}
