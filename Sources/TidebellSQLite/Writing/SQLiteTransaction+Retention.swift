// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    func moveRetention(to now: Instant, byAtMost step: Duration) throws -> Instant {
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

    /// The moment, or what shows when a store without one was in use; all are the ends of
    /// an index.
    private static let lastMoment = """
        SELECT coalesce(
            retention_moment,
            (SELECT max(seen_at) FROM device),
            (SELECT max(created_at) FROM notification),
            (SELECT max(modified_at) FROM record WHERE deleted = 1)
        ) FROM store WHERE id = 1
        """
}
