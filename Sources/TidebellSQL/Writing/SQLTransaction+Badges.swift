// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func putBadges(_ badges: [UserID: Int]) throws {
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
