// SPDX-License-Identifier: Apache-2.0

extension SchemaSteps.Step {
    /// Indexes of what is in records, one for each zone, type and thing that is indexed; entries
    /// stand in the order of their keys. A zone without any is marked so, and costs nothing.
    static let fieldIndexes = SchemaSteps.Step(
        name: "records are found by indexes",
        sql: """
            ALTER TABLE zone ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;

            CREATE TABLE field_index (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                zone INTEGER NOT NULL,
                type TEXT NOT NULL,
                name TEXT NOT NULL,
                state INTEGER NOT NULL,
                built_through INTEGER NOT NULL,
                made_at INTEGER NOT NULL,
                used_at INTEGER NOT NULL
            ) STRICT;
            CREATE INDEX field_index_zone ON field_index (zone, type, name);
            CREATE INDEX field_index_unfinished ON field_index (id) WHERE state <> 1;
            CREATE INDEX field_index_use ON field_index (used_at) WHERE state <> 2;

            CREATE TABLE field_index_entry (
                field_index INTEGER NOT NULL,
                key BLOB NOT NULL,
                position INTEGER NOT NULL,
                PRIMARY KEY (field_index, key, position)
            ) STRICT, WITHOUT ROWID;
            """
    )
}
