// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

/// By what a push token reaches a device: a session, as long as that lasts, or else the user's account, as long as it is
/// not disabled.
package struct PushAccess: Sendable, Hashable {
    package var session: SessionID?
    package var user: UserID

    package init(session: SessionID?, user: UserID) {
        self.session = session
        self.user = user
    }
}

/// Which tokens of devices are read.
package enum PushReach: Sendable {
    /// Those by which the device may receive something.
    case receiving
    /// All: sessions and accounts are in another database, which says whose access lasts
    /// (``SQLReading/lasting(among:at:)``).
    case any

    /// The condition for a row of `push_token_device`.
    func condition(at now: String) -> String {
        switch self {
        case .receiving: Listener.mayReceive(at: now)
        // A parameter that nothing names has no type.
        case .any: "\(now) IS NOT NULL"
        }
    }
}

extension SQLReading {
    /// Those that last, of tokens whose rows are in another database.
    package func lasting(
        among accesses: Set<PushAccess>, at now: Instant
    ) throws -> Set<PushAccess> {
        guard !accesses.isEmpty else { return [] }
        let sessions = try lastingSessions(Set(accesses.compactMap(\.session)), at: now)
        let users = accesses.filter { $0.session == nil }.map(\.user.rawValue)
        let disabled: Set<UserID> =
            users.isEmpty
            ? []
            : Set(
                try connection.rows(
                    """
                    SELECT user.id FROM json_each(?) AS wanted
                        CROSS JOIN user ON user.id = wanted.value
                        CROSS JOIN account ON account.id = user.account
                    WHERE account.disabled = 1
                    """, SQLList(users)
                ) { try $0.value(0) })
        return accesses.filter {
            $0.session.map(sessions.contains) ?? !disabled.contains($0.user)
        }
    }

    /// Which sessions last.
    package func lastingSessions(
        _ sessions: Set<SessionID>, at now: Instant
    ) throws -> Set<SessionID> {
        guard !sessions.isEmpty else { return [] }
        return Set(
            try connection.rows(
                """
                SELECT wanted.value FROM json_each(?2) AS wanted
                WHERE \(Listener.lasts("wanted.value", at: "?1"))
                """, now, SQLList(Set(sessions.map(\.rawValue)))
            ) { SessionID(rawValue: $0.text(0)) })
    }

    /// By what a token reaches a device; nil where it does not.
    package func access(of token: String, to device: DeviceKey) throws -> PushAccess? {
        try connection.first(
            """
            SELECT push_token_device.session, device.user
            FROM push_token_device CROSS JOIN device ON device.key = push_token_device.device
            WHERE push_token_device.token = ? AND push_token_device.device = ?
            """, token, device
        ) { PushAccess(session: try $0.optional(0), user: try $0.value(1)) }
    }

    /// By what couriers reach devices, of those that do.
    package func accesses(
        ofCouriers tokens: Set<String>
    ) throws -> [(token: String, access: PushAccess)] {
        guard !tokens.isEmpty else { return [] }
        return try connection.rows(
            """
            SELECT push_token_device.token, push_token_device.session, device.user
            FROM json_each(?) AS wanted
                CROSS JOIN push_token_device
                    ON push_token_device.token = \(SQLList.text("wanted.value"))
                CROSS JOIN device ON device.key = push_token_device.device
            WHERE push_token_device.given_out IS NOT NULL
            """, SQLList(tokens)
        ) {
            ($0.text(0), PushAccess(session: try $0.optional(1), user: try $0.value(2)))
        }
    }
}
