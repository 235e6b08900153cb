// SPDX-License-Identifier: Apache-2.0

extension SchemaSteps.Step {
    /// Rows of before have the entry 0 all of them, and so agree with one another.
    ///
    /// `unsettled_record` has what hangs below it still to look through, after `last`; the highest
    /// turn first. Rows of `ended_hierarchy` stand for those of a share that ended, up to a
    /// position; a new share of the name began after it.
    static let settling = SchemaSteps.Step(
        name: "hierarchies are settled step by step",
        sql: """
            ALTER TABLE shared_record ADD COLUMN entry INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE shared_record ADD COLUMN above INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE share ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE zone ADD COLUMN unsettled INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX zone_unsettled ON zone (key) WHERE unsettled = 1 AND deletion IS NULL;

            CREATE TABLE unsettled_record (
                zone INTEGER NOT NULL,
                name TEXT NOT NULL,
                turn INTEGER NOT NULL,
                last TEXT NOT NULL,
                PRIMARY KEY (zone, name)
            ) STRICT, WITHOUT ROWID;
            CREATE UNIQUE INDEX unsettled_record_turn ON unsettled_record (zone, turn);

            CREATE TABLE ended_hierarchy (
                zone INTEGER NOT NULL,
                share TEXT NOT NULL,
                position INTEGER NOT NULL,
                PRIMARY KEY (zone, share)
            ) STRICT, WITHOUT ROWID;
            """
    )

    /// Of records that came back into a hierarchy before all below them had followed, since when
    /// nobody saw them; empty for every zone that is settled.
    static let earlierDepartures = SchemaSteps.Step(
        name: "records remember when they left before they came back",
        sql: """
            CREATE TABLE earlier_departure (
                zone INTEGER NOT NULL,
                name TEXT NOT NULL,
                share TEXT NOT NULL,
                since INTEGER NOT NULL,
                PRIMARY KEY (zone, name, share, since)
            ) STRICT, WITHOUT ROWID;
            """
    )
}
