// SPDX-License-Identifier: Apache-2.0

extension SchemaSteps.Step {
    /// The terms of a query subscription that is found by several, but for the first, which stands
    /// in its row. What was saved before is found as it was then, until it is saved anew.
    static let subscriptionTerms = SchemaSteps.Step(
        name: "subscriptions are found by several terms",
        sql: """
            CREATE TABLE subscription_term (
                database INTEGER NOT NULL,
                zone_name TEXT NOT NULL,
                record_type TEXT NOT NULL,
                term TEXT NOT NULL,
                serial INTEGER NOT NULL,
                PRIMARY KEY (database, zone_name, record_type, term, serial)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX subscription_term_serial ON subscription_term (serial);
            """
    )
}
