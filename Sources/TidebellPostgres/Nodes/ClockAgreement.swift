// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling

/// Whether the clock of this machine is that of the others: nodes hold leases, and date records, by it.
enum ClockAgreement {
    /// By how much the clock of a node may differ from the server's: half of what those of two may.
    private static let tolerance = SharedLeases.clockTolerance / 2

    /// Fails where it is not.
    static func check(
        on connection: PostgresConnection, at now: Instant = Time.system.now()
    ) throws {
        var theirs = Instant(rawValue: 0)
        try connection.rows("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint") {
            theirs = Instant(rawValue: $0.int(0))
        }
        let difference = abs(now.rawValue - theirs.rawValue)
        guard Duration.milliseconds(difference) > tolerance else { return }
        throw StoreOpenError.unreachable(
            reason:
                "the clock of this machine differs by \(difference / 1000) seconds from that of the database "
                + "server, and nodes need clocks that agree (as NTP keeps them)")
    }
}
