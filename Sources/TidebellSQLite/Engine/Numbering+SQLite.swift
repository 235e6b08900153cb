// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellSQL

// What connections of SQLite know of how their store numbers, by functions of SQL: whoever opens a
// connection of their own finds it out so.
extension Numbering {
    /// Finds out how the store of a connection numbers, which was not told that.
    init(of connection: Connection) throws {
        self.init(
            notifications: try NotificationNumbers(of: connection),
            outboxes: try OutboxNumbers(of: connection))
    }
}

extension NotificationNumbers {
    /// Adds the function to a connection.
    func define(in database: Database) {
        let isPerUser = self == .perUser
        database.add(
            function: DatabaseFunction(Self.function, argumentCount: 2, pure: true) { values in
                guard isPerUser, let user = Int64.fromDatabaseValue(values[0]) else { return nil }
                return Self.next(of: user, after: Int64.fromDatabaseValue(values[1]) ?? 0)
            }
        )
    }

    /// Returns how a connection numbers.
    init(of connection: Connection) throws {
        let isPerUser = try connection.first("SELECT \(Self.function)(0, 0) IS NOT NULL") {
            $0.bool(0)
        }
        self = isPerUser == true ? .perUser : .shared
    }
}

extension OutboxNumbers {
    /// The SQL function by which a connection knows how it numbers.
    private static let function = "tidebell_numbers_each_outbox"

    /// Adds the function to a connection.
    func define(in database: Database) {
        let isPerDatabase = self == .perDatabase
        database.add(
            function: DatabaseFunction(Self.function, argumentCount: 0, pure: true) { _ in
                isPerDatabase
            }
        )
    }

    /// Returns how a connection numbers.
    init(of connection: Connection) throws {
        let isPerDatabase = try connection.first("SELECT \(Self.function)()") { $0.bool(0) }
        self = isPerDatabase == true ? .perDatabase : .shared
    }
}
