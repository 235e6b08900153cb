// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore
import TidebellSQL

/// Commits that are not flushed to the disk: the next one that is flushed makes them durable, too.
///
/// They are those of ``Durability/eventual``. What a power cut takes with them comes again from the outbox,
/// under the same notification IDs; but devices have seen the numbers of their notifications, so that no
/// other one may get these. Therefore numbers are reserved, a flushed commit says up to which, and a start
/// that finds a reservation leaves all of them out.
///
/// `@unchecked Sendable`: all state is only touched on the queue of the writer connection.
final class UnflushedCommits: @unchecked Sendable {
    /// How many numbers are reserved at once.
    static let numbersReserved: Int64 = 1 << 16

    private let isPossible: Bool
    private var isFlushing = true
    /// The last number that is reserved.
    private var reserved = NotificationSequence.start
    /// The last number that was given out by these commits and those between them.
    private(set) var lastNotification = NotificationSequence.start
    /// Whether the last commit is not flushed.
    private var isPending = false
    /// Whether pages of the log may not come to the disk any more.
    private(set) var hasHole = false

    /// Creates what knows of no reservation.
    init(_ numbering: Numbering) {
        // Only numbers of one counter can be reserved at once.
        isPossible = numbering.notifications == .shared
    }

    /// Whether a transaction of one write may stay unflushed.
    func mayFollow(_ write: any WaitingWrite) -> Bool {
        isPossible && write.durability == .eventual && reserved > .start
    }

    /// Whether a number is reserved.
    func hasReserved(_ notification: NotificationSequence) -> Bool { notification <= reserved }

    /// Has commits from now on flushed, or not; not within a transaction.
    func setFlushing(_ isFlushing: Bool, on connection: Connection) throws {
        guard isFlushing != self.isFlushing else { return }
        // Not by a statement that is kept: this one takes effect when it is prepared.
        try connection.database.execute(
            sql: "PRAGMA synchronous = \(isFlushing ? "FULL" : "NORMAL")")
        self.isFlushing = isFlushing
    }

    /// Notes why a transaction or a copy of the log failed. Where a flush fails, Linux reports it once and may give up all
    /// pages that waited for it, also those of commits before: what is flushed later would stand behind a
    /// hole in the log, and not be found after a power cut.
    func noteFailure(_ error: any Error) {
        guard isPending, let error = error as? DatabaseError,
            [.SQLITE_IOERR, .SQLITE_FULL].contains(error.resultCode)
        else { return }
        hasHole = true
        reserved = .start
    }

    /// Copies the log to the database, and begins it anew, where it may have a hole; fails as long as that
    /// does.
    func closeHole(in log: WriteAheadLog, on connection: Connection) throws {
        guard hasHole else { return }
        try log.empty(on: connection)
        (hasHole, isPending) = (false, false)
    }

    /// Reserves numbers in a transaction that is flushed, where the next unflushed ones need some.
    func reserve(
        after notification: NotificationSequence, for write: any WaitingWrite,
        in transaction: SQLTransaction
    ) throws -> NotificationSequence? {
        guard isPossible, write.durability == .eventual,
            reserved.rawValue - notification.rawValue < Self.numbersReserved / 2
        else { return nil }
        return try transaction.reserveNotifications(Self.numbersReserved)
    }

    /// Notes a reservation that is durable.
    func noteReserved(_ notification: NotificationSequence) { reserved = notification }

    /// Notes a commit and the last number that it gave out.
    func noteCommit(_ notification: NotificationSequence, isFlushed: Bool) {
        lastNotification = max(lastNotification, notification)
        isPending = !isFlushed
    }
}

extension SQLTransaction {
    /// Under which name the reservation stands in SQLite's table of numbers given last.
    private static let reservationName = "reserved_notification"

    /// Reserves so many numbers behind the last one; returns the last that is reserved.
    fileprivate func reserveNotifications(_ count: Int64) throws -> NotificationSequence {
        let reserved = try lastNotificationNumber().rawValue + count
        try removeReservation()
        try connection.run(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", Self.reservationName, reserved)
        return NotificationSequence(rawValue: reserved)
    }

    /// Removes the reservation: what was given out is durable.
    func removeReservation() throws {
        try connection.run(
            "DELETE FROM sqlite_sequence WHERE name = ?", Self.reservationName)
    }

    /// Leaves the reserved numbers out, because some may have been given out and lost.
    func leaveReservedNumbersOut() throws {
        let reserved = try connection.first(
            "SELECT seq FROM sqlite_sequence WHERE name = ?", Self.reservationName
        ) { $0.int(0) }
        guard let reserved else { return }
        try connection.run("BEGIN IMMEDIATE")
        if try lastNotificationNumber().rawValue < reserved {
            try connection.run("DELETE FROM sqlite_sequence WHERE name = 'notification'")
            try connection.run(
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('notification', ?)", reserved)
        }
        try removeReservation()
        try connection.run("COMMIT")
    }
}
