// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func shorten(_ event: OutboxEntry.Event, of change: OutboxEntryID) throws {
        try connection.run(
            "UPDATE outbox SET event = ? WHERE id = ?", JSONText(bytes: event.encoded),
            try connection.numbering().outboxes.row(of: change)
        )
    }

    package func appendNotifiedMatches(_ matches: [NotifiedMatch]) throws {
        let numbers = try connection.numbering().outboxes
        for match in matches {
            try connection.run(
                """
                INSERT INTO told (change, user, subscription_id, record_name, notification_id,
                    sequence, merged, collapse_id, background, payload_size, pruned, last)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                numbers.row(of: match.change), match.user, match.subscriptionID, match.recordName,
                match.notificationID, match.sequence, match.isMerged, match.collapseID,
                match.isBackground, match.payloadSize,
                match.pruned.isEmpty ? nil : match.pruned.joined(separator: ","), match.isLast
            )
        }
    }

    package func appendDeliveries(_ deliveries: [Delivery]) throws {
        for delivery in deliveries {
            try connection.run(
                """
                INSERT INTO delivery (notification, user, client_id, route, at, answer)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                delivery.notification, delivery.user, delivery.clientID, delivery.route,
                delivery.at, delivery.answer
            )
        }
    }

    package func removeExplanations(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int {
        let changes = try removeChanges(before: moment, exceeding: bounds, limit: limit)
        guard changes < limit else { return changes }
        return changes + (try removeDeliveries(before: moment, exceeding: bounds, limit: limit))
    }

    // MARK: -

    /// Removes changes that may go, each after all its matches.
    private func removeChanges(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int {
        let excess = try excess(of: bounds)
        // What was set aside for its damage stays for longer.
        let setAside = moment.advanced(by: .zero - OutboxEntry.setAsideRetention)
        var last: Int64 = 0
        try connection.each(
            """
            SELECT id, committed_at, \(OutboxEntry.isNotified) FROM outbox
            WHERE told_through >= 0 OR committed_at < ? ORDER BY id LIMIT ?
            """,
            setAside, limit
        ) { columns in
            let isOld = try columns.value(1, as: Instant.self) < moment
            guard columns.bool(2), isOld || columns.int(0) <= excess else { return false }
            last = columns.int(0)
            return true
        }
        guard last > 0 else { return 0 }
        let matches = try connection.rows(
            """
            DELETE FROM told WHERE number IN (
                SELECT number FROM told WHERE change <= ? ORDER BY change LIMIT ?
            ) RETURNING number
            """,
            last, limit
        ) { $0.int(0) }.count
        // The changes go when nothing of them is left.
        guard matches < limit else { return matches }
        let changes = try connection.rows(
            """
            DELETE FROM outbox WHERE id <= ? AND (told_through >= 0 OR committed_at < ?)
            RETURNING id
            """,
            last, setAside
        ) { $0.int(0) }.count
        return max(matches, changes)
    }

    /// The newest change that is one too many.
    private func excess(of bounds: ExplanationBounds) throws -> Int64 {
        // Rows are numbered without gaps worth counting.
        let step = try connection.numberStepExpression(of: "outbox")
        let numbers = try connection.first(
            "SELECT ifnull(max(id), 0) / \(step), \(step) FROM outbox"
        ) { (last: $0.int(0), step: $0.int(1)) }
        let tooMany = (numbers?.last ?? 0) - Int64(bounds.changes)
        let newest = tooMany > 0 ? tooMany * (numbers?.step ?? 1) : 0
        let crowded =
            try connection.first(
                """
                SELECT change FROM told WHERE number <= (SELECT max(number) FROM told) - ?
                ORDER BY number DESC LIMIT 1
                """,
                bounds.matches
            ) { $0.int(0) } ?? 0
        return max(newest, crowded)
    }

    private func removeDeliveries(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int {
        var last: Int64 = 0
        let excess =
            (try connection.first("SELECT max(number) FROM delivery") { $0.int(0) } ?? 0)
            - Int64(bounds.deliveries)
        try connection.each(
            "SELECT number, at FROM delivery ORDER BY number LIMIT ?", limit
        ) { columns in
            let isOld = try columns.value(1, as: Instant.self) < moment
            guard isOld || columns.int(0) <= excess else { return false }
            last = columns.int(0)
            return true
        }
        guard last > 0 else { return 0 }
        return try connection.rows(
            "DELETE FROM delivery WHERE number <= ? RETURNING number", last
        ) { $0.int(0) }.count
    }
}
