// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import Foundation

/// What another connection of the same database has sent with `NOTIFY`.
package struct PostgresNotification: Sendable, Hashable {
    package var channel: String
    package var payload: String
    /// The server's number of the connection that sent it.
    package var sender: Int32
}

/// What ends a wait for notifications from another thread.
package final class PostgresWaker: Sendable {
    private let reading: Int32
    private let writing: Int32

    /// Creates a waker; fails where the process has no descriptors left.
    package init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.other, "no pipe can be made: \(String(cString: strerror(errno)))")
        }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Ends the wait that is under way, or else the next one.
    package func wake() {
        var byte: UInt8 = 1
        // A full pipe wakes, too.
        _ = write(writing, &byte, 1)
    }

    fileprivate var descriptor: Int32 { reading }

    fileprivate func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(reading, &bytes, bytes.count) > 0 {}
    }
}

extension PostgresConnection {
    /// Waits for notifications of the channels that the connection listens to (`LISTEN`), until one has come,
    /// `waker` was woken or `time` is over; returns what has come.
    ///
    /// Nothing may be asked meanwhile.
    ///
    /// - Throws: The ``PostgresError`` of a connection that was lost: what was sent since is lost, too.
    package func notifications(
        waiting time: Duration, or waker: PostgresWaker
    ) throws -> [PostgresNotification] {
        let known = takeNotifications()
        guard known.isEmpty, let connection else {
            guard self.connection == nil else { return known }
            throw failure ?? PostgresError(.connectionLost, "the connection was closed")
        }
        var entries = [
            pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let (seconds, attoseconds) = time.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        _ = poll(&entries, 2, Int32(clamping: max(milliseconds, 0)))
        waker.drain()
        guard isAlive else {
            let error =
                failure ?? PostgresError(.connectionLost, Self.message(of: connection))
            close()
            throw error
        }
        return takeNotifications()
    }

    private func takeNotifications() -> [PostgresNotification] {
        guard let connection else { return [] }
        var taken: [PostgresNotification] = []
        while let found = PQnotifies(connection) {
            taken.append(
                PostgresNotification(
                    channel: String(cString: found.pointee.relname),
                    payload: String(cString: found.pointee.extra), sender: found.pointee.be_pid))
            PQfreemem(found)
        }
        return taken
    }
}
