// SPDX-License-Identifier: Apache-2.0
internal import CTidebellPostgres
internal import Foundation

extension PostgresConnection {
    /// Whether the connection, on which nothing is asked, still stands.
    package var isAlive: Bool {
        guard failure == nil, let connection else { return false }
        // What an idle connection gets are notices, and last words before the end.
        while isReadable(connection) {
            guard PQconsumeInput(connection) == 1 else { return false }
            _ = PQisBusy(connection)
        }
        return PQstatus(connection) == CONNECTION_OK
    }

    private func isReadable(_ connection: OpaquePointer) -> Bool {
        var entry = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) > 0
    }
}
