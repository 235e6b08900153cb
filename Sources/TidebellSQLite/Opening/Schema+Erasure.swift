// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Accounts that were removed while they had users, and what is to become of their
    /// data; `position` is how far public records were looked through. `erased` counts
    /// what went, and knows no name.
    static let erasure = """
        CREATE TABLE removed_account (
            account INTEGER PRIMARY KEY,
            name TEXT,
            removed_at INTEGER NOT NULL,
            erasure INTEGER NOT NULL DEFAULT 0,
            position INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE erased (
            account INTEGER NOT NULL,
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (account, kind)
        ) STRICT, WITHOUT ROWID;
        """
}
