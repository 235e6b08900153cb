// SPDX-License-Identifier: Apache-2.0
package import TidebellCore

extension SQLTransaction {
    package func keepAnswer(
        _ answer: KeptAnswer, to write: WriteID, at now: Instant, exceeding bytes: Int
    ) throws {
        let size = try connection.remembering { () -> Int? in
            try connection.run(
                """
                INSERT INTO kept_answer (user, client_id, request_id, fingerprint, body, kept_at)
                VALUES (?, ?, ?, ?, ?,
                    max(?, ifnull((SELECT retention_moment FROM store WHERE id = 1), 0)))
                """,
                write.user, write.clientID, write.requestID, answer.fingerprint, answer.body, now
            )
            var known = 0
            let isKnown = try connection.stepAhead(KeptAnswer.storedSize, [write.user]) {
                known = Int($0.int(0))
            }
            guard !isKnown else {
                try connection.run(Self.addKeptSize, write.user, answer.size)
                return known + answer.size
            }
            return try connection.first(
                "\(Self.addKeptSize) RETURNING bytes", write.user, answer.size
            ) { Int($0.int(0)) }
        }
        // More than what is too much, so that not each further write has to look.
        guard let size, size > bytes else { return }
        _ = try removeOldest(of: write.user, bytes: size - bytes * 3 / 4, limit: .max)
    }

    private static let addKeptSize = """
        INSERT INTO kept_answer_size (user, bytes) VALUES (?, ?)
        ON CONFLICT (user) DO UPDATE SET bytes = kept_answer_size.bytes + excluded.bytes
        """

    package func removeAnswers(
        keptBefore moment: Instant, at now: Instant, exceeding bytes: Int, limit: Int
    ) throws -> Int {
        var count = try removeAnswers(keptBefore: moment, at: now, limit: limit)
        while count < limit {
            let total = try connection.first(
                "SELECT ifnull(sum(bytes), 0) FROM kept_answer_size"
            ) { Int($0.int(0)) }
            let most: (user: UserID, bytes: Int)? = try connection.first(
                "SELECT user, bytes FROM kept_answer_size ORDER BY bytes DESC LIMIT 1"
            ) { (try $0.value(0), Int($0.int(1))) }
            guard let total, let most, total > bytes else { break }
            // In parts, so that several who have much lose alike.
            let part = min(total - bytes, max(1, most.bytes / 4))
            count += try removeOldest(of: most.user, bytes: part, limit: limit - count)
        }
        return count
    }

    /// An answer that may go.
    fileprivate struct Candidate {
        var number: Int64
        var user: UserID
        var size: Int
    }

    private func removeAnswers(
        keptBefore moment: Instant, at now: Instant, limit: Int
    ) throws -> Int {
        // The table only grows at its end, so age cuts off its beginning. What is of the future
        // was kept before the next one that is not, and is as old.
        var old: [Candidate] = []
        var ofFuture: [Candidate] = []
        try connection.each(
            "SELECT number, user, length(body), kept_at FROM kept_answer ORDER BY number"
        ) { columns in
            let keptAt = try columns.value(3, as: Instant.self)
            guard keptAt < moment || keptAt > now else { return false }
            ofFuture.append(try Candidate(columns))
            if keptAt < moment {
                old += ofFuture
                ofFuture = []
            }
            return old.count < limit
        }
        old = Array(old.prefix(limit))
        try remove(old)
        return old.count
    }

    /// Removes the oldest answers of a user until so many bytes are gone.
    private func removeOldest(of user: UserID, bytes: Int, limit: Int) throws -> Int {
        let all = try connection.rows(
            "SELECT number, user, length(body) FROM kept_answer WHERE user = ? ORDER BY number",
            user
        ) { try Candidate($0) }
        var left = bytes
        let oldest = all.prefix(limit).prefix { candidate in
            defer { left -= candidate.size }
            return left > 0
        }
        try remove(Array(oldest))
        // A size without answers would be looked at for ever.
        if oldest.isEmpty {
            try connection.run("DELETE FROM kept_answer_size WHERE user = ?", user)
        }
        return oldest.count
    }

    private func remove(_ answers: [Candidate]) throws {
        var sizes: [UserID: Int] = [:]
        for answer in answers {
            try connection.run("DELETE FROM kept_answer WHERE number = ?", answer.number)
            sizes[answer.user, default: 0] += answer.size
        }
        for (user, size) in sizes {
            try connection.run(
                "UPDATE kept_answer_size SET bytes = bytes - ? WHERE user = ?", size, user
            )
            try connection.run(
                "DELETE FROM kept_answer_size WHERE user = ? AND bytes <= 0", user
            )
        }
    }
}

extension SQLTransaction.Candidate {
    fileprivate init(_ columns: Columns) throws {
        self.init(
            number: columns.int(0), user: try columns.value(1),
            size: Int(columns.int(2)) + KeptAnswer.rowSize
        )
    }
}
