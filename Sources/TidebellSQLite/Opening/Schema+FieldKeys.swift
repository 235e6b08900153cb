// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The keys of zones with encrypted fields, wrapped by a root key that is not in the
    /// store; a zone is marked as `sealed` whether its key is here or was lost. And the
    /// records that an older version left with encrypted values in clear text.
    static let fieldKeys = """
        CREATE TABLE zone_key (
            zone INTEGER PRIMARY KEY,
            wrapped BLOB NOT NULL,
            root_key TEXT NOT NULL
        ) STRICT;

        CREATE TABLE unsealed_record (
            zone INTEGER NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (zone, name)
        ) STRICT, WITHOUT ROWID;
        """
}
