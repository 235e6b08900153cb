// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    func putBadges(_ badges: [UserID: Int]) throws {
        for (user, count) in badges {
            try connection.run(
                """
                INSERT INTO badge (user, count) VALUES (?, ?)
                ON CONFLICT (user) DO UPDATE SET count = excluded.count
                """,
                user, count
            )
        }
    }
}
