// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLReading {
    package func badges(of users: Set<UserID>) throws -> [UserID: Int] {
        let badges = try connection.rows(
            """
            SELECT badge.user, badge.count
            FROM json_each(?) AS wanted CROSS JOIN badge ON badge.user = wanted.value
            """,
            SQLList(users.map(\.rawValue).sorted())
        ) { (try $0.value(0) as UserID, Int($0.int(1))) }
        return Dictionary(badges) { first, _ in first }
    }
}
