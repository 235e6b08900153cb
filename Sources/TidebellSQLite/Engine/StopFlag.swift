// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import Synchronization
import TidebellSQL

/// Signals statements to end, also to one that looks through a whole table.
final class StopFlag: Sendable {
    private let isRaisedItself = Atomic(false)
    private let other: StopFlag?

    /// Creates a flag that counts as raised with another one.
    init(besides other: StopFlag? = nil) { self.other = other }

    /// Whether statements are to end.
    var isRaised: Bool { isRaisedItself.load(ordering: .relaxed) || other?.isRaised == true }

    /// Ends statements, for good.
    func raise() { isRaisedItself.store(true, ordering: .relaxed) }
}

extension Connection {
    /// After how many of SQLite's instructions the flag is looked at; some microseconds.
    private static var instructions: Int32 { 1000 }

    /// Runs `body`, whose statements fail with SQLITE_INTERRUPT once the flag is raised. NB: one
    /// that writes undoes its whole transaction then.
    func stopping<Value>(at flag: StopFlag, _ body: () throws -> Value) rethrows -> Value {
        sqlite3_progress_handler(
            database.sqliteConnection, Self.instructions,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StopFlag>.fromOpaque(context).takeUnretainedValue().isRaised
                    ? 1 : 0
            },
            Unmanaged.passUnretained(flag).toOpaque()
        )
        defer {
            sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
            withExtendedLifetime(flag) {}
        }
        return try body()
    }
}
