// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The answers to writes that may be asked for again.
    ///
    /// Grows at its end and loses rows at its beginning; `total` is the size of all rows
    /// up to this one.
    static let keptAnswers = """
        CREATE TABLE kept_answer (
            number INTEGER PRIMARY KEY,
            user INTEGER NOT NULL,
            client_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            body BLOB NOT NULL,
            kept_at INTEGER NOT NULL,
            total INTEGER NOT NULL,
            UNIQUE (user, client_id, request_id)
        ) STRICT;
        """
}
