// SPDX-License-Identifier: Apache-2.0

/// To which scope the rows of each table belong (``StoreScope``).
///
/// A rule is SQL about `row`, the row that was written; a row is in the scope of a step where any
/// of its table's rules holds.
enum ScopeRules {
    /// The function that a rule asks whether the present step has a scope.
    static let function = "scope_is"

    /// All tables of a store.
    static let tables: [String: [String]] = [
        "field_type": [catalogue],
        // What a schema says of one user goes with the user.
        "private_field": [catalogue, user("row.user")],
        "schema_revision": [catalogue],
        "schema_trait": [catalogue],
        "schema_deployment": [catalogue],
        "query_use": [catalogue],
        "webhook": [catalogue],

        "store": [store],
        "store_secret": [store],
        "api_token": [store],
        "admin_token": [store],
        "asset": [store],
        "lost_asset": [store],
        // Under way between servers: whose a device will be is known once its code is entered.
        "device_sign_in": [store],
        "finished_visit": [store],
        // A message to whoever removes files, who looks whether it is true.
        "asset_unused": [store, anyDatabase],

        "account": [account("row.id")],
        "account_address": [account("row.account")],
        "account_identity": [account("row.account")],
        "web_token": [account("row.account")],
        "server_key": [account("row.account")],
        "removed_account": [account("row.account")],
        "erased": [account("row.account")],
        "awaited_upload": [
            account("(SELECT account FROM user WHERE id = ifnull(row.user, row.owner))")
        ],
        // Made with the account; how far their log was cut off is the user's own.
        "user": [account("row.account"), user("row.id")],

        "application_permission": [user("row.user")],
        "badge": [user("row.user")],
        "user_role": [user("row.user")],
        "device": [user("row.user")],
        "notification": [user("row.user")],
        "delivery": [user("row.user")],
        // A name that whoever registers it last has.
        "push_token": [anyUser],
        "push_token_device": [ofDevice],
        "push_queue": [ofDevice],
        // What waits for a webhook goes with it.
        "webhook_queue": [
            user("row.user"),
            """
            \(function)('catalogue', (
                SELECT container || char(10) || environment FROM webhook WHERE id = row.webhook
            ))
            """,
        ],

        "database": [
            """
            \(function)('database', row.id, row.container || char(10) || row.environment
                || char(10) || row.scope || char(10) || row.owner)
            """
        ],
        "zone": [database("row.database")],
        "subscription": [database("row.database")],
        "subscription_term": [database("row.database")],
        "outbox": [database("row.database")],
        "outbox_queue": [database("row.database")],
        "told": [database("(SELECT database FROM outbox WHERE id = row.change)")],
        "record": [ofZone],
        "reference": [ofZone],
        "field_index": [ofZone],
        "field_index_entry": [
            database(
                """
                (SELECT zone.database FROM field_index CROSS JOIN zone ON zone.key = field_index.zone
                    WHERE field_index.id = row.field_index)
                """
            )
        ],
        "removed_zone": [ofZone],
        "share": [ofZone],
        "share_grant": [ofZone],
        "share_outsider": [ofZone],
        "shared_record": [ofZone],
        "unsettled_record": [ofZone],
        "ended_hierarchy": [ofZone],
        "earlier_departure": [ofZone],
        "shared_zone": [database("row.database")],
        "asset_use": [ofZone],
        "zone_key": [ofZone],
        "unsealed_record": [ofZone],
        // The answers to writes of whatever database are in the transaction of the write.
        "kept_answer": [anyDatabase],
        "kept_answer_size": [anyDatabase],
    ]

    private static let store = "\(function)('store')"
    private static let catalogue =
        "\(function)('catalogue', row.container || char(10) || row.environment)"
    private static let anyUser = "\(function)('any user')"
    private static let anyDatabase = "\(function)('any database')"
    private static let ofZone = database("(SELECT database FROM zone WHERE key = row.zone)")

    /// One page has a token for all its containers: it is one account's.
    private static let ofDevice = """
        ifnull((
            SELECT max(\(user("own.id"))) FROM device
                CROSS JOIN user AS theirs ON theirs.id = device.user
                CROSS JOIN user AS own ON own.account = theirs.account
            WHERE device.key = row.device
        ), \(anyUser))
        """

    private static func account(_ key: String) -> String { "\(function)('account', \(key))" }
    private static func user(_ key: String) -> String { "\(function)('user', \(key))" }
    private static func database(_ key: String) -> String { "\(function)('database', \(key))" }
}
