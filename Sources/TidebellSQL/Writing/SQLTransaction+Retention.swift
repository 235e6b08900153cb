// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func moveRetention(to now: Instant, byAtMost step: Duration) throws -> Instant {
        let last: Instant? =
            try connection.first(Self.lastMoment) {
                $0.isNull(0) ? nil : try $0.value(0)
            } ?? nil
        guard let last else {
            try setRetention(now)
            return now
        }
        let moment = max(last.advanced(by: .zero - step), min(now, last.advanced(by: step)))
        if moment != last { try setRetention(moment) }
        return min(moment, now)
    }

    private func setRetention(_ moment: Instant) throws {
        try connection.run("UPDATE store SET retention_moment = ? WHERE id = 1", moment)
    }

    /// The moment, or what shows when a store without one was in use: the end of an index, or
    /// the latest change of a database, whose position is no less than its time.
    private static let lastMoment = """
        SELECT coalesce(
            retention_moment,
            (SELECT max(seen_at) FROM device),
            (SELECT max(created_at) FROM notification),
            (SELECT max(modified_at) FROM record WHERE deleted = 1),
            (SELECT nullif(max(head), 0) FROM database)
        ) FROM store WHERE id = 1
        """
}
