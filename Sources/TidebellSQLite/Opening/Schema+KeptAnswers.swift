// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The answers to writes that may be asked for again, and the sizes of each user's.
    static let keptAnswers = """
        CREATE TABLE kept_answer (
            number INTEGER PRIMARY KEY,
            user INTEGER NOT NULL,
            client_id TEXT NOT NULL,
            request_id TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            body BLOB NOT NULL,
            kept_at INTEGER NOT NULL,
            UNIQUE (user, client_id, request_id)
        ) STRICT;

        CREATE TABLE kept_answer_size (
            user INTEGER PRIMARY KEY,
            bytes INTEGER NOT NULL
        ) STRICT;
        """
}
