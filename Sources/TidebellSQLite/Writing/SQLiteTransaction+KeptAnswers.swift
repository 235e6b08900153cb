// SPDX-License-Identifier: Apache-2.0
import TidebellCore

extension SQLiteTransaction {
    func keepAnswer(_ answer: KeptAnswer, to write: WriteID, at now: Instant) throws {
        try connection.run(
            """
            INSERT INTO kept_answer
                (user, client_id, request_id, fingerprint, body, kept_at, total)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            write.user, write.clientID, write.requestID, answer.fingerprint, answer.body, now,
            try keptAnswersTotal() + Int64(answer.size)
        )
    }

    func removeAnswers(keptBefore moment: Instant, exceeding bytes: Int, limit: Int) throws -> Int {
        // The table only grows at its end, so both bounds cut off its beginning.
        let excess = try keptAnswersTotal() - Int64(bytes)
        var last: Int64?
        var count = 0
        try connection.each(
            "SELECT number, kept_at, total FROM kept_answer ORDER BY number LIMIT ?", limit
        ) { columns in
            let isOld = try columns.value(1, as: Instant.self) < moment
            guard isOld || columns.int(2) <= excess else { return false }
            last = columns.int(0)
            count += 1
            return true
        }
        guard let last else { return 0 }
        try connection.run("DELETE FROM kept_answer WHERE number <= ?", last)
        return count
    }

    /// The sizes of all answers ever kept since the table was empty: the distance of
    /// two rows is what lies between them.
    private func keptAnswersTotal() throws -> Int64 {
        try connection.first(
            "SELECT total FROM kept_answer ORDER BY number DESC LIMIT 1"
        ) { $0.int(0) } ?? 0
    }
}
