// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLReading {
    package func pushToken(_ token: String) throws -> StoredPushToken? {
        try connection.first(
            StoredPushToken.withToken, token, read: StoredPushToken.init
        )
    }

    package func pushToken(
        courier: String, at now: Instant
    ) throws -> (token: StoredPushToken, devices: [StoredDevice])? {
        try pushToken(courier: courier, at: now, reaching: .receiving)
            .map { ($0, $1.map(\.device)) }
    }

    /// The same with what each device is reached by.
    package func pushToken(
        courier: String, at now: Instant, reaching reach: PushReach
    ) throws -> (token: StoredPushToken, devices: [(device: StoredDevice, access: PushAccess)])? {
        let token = try connection.first(
            StoredPushToken.withCourier, courier, read: StoredPushToken.init
        )
        guard let token else { return nil }
        let devices = try connection.rows(
            StoredDevice.withToken(reaching: reach), now, token.token
        ) { (try StoredDevice($0), PushAccess(session: try $0.optional(4), user: try $0.value(1))) }
        return (token, devices)
    }

    package func devicesWithTokens(
        of users: Set<UserID>, at now: Instant
    ) throws -> [DeviceTokens] {
        try devicesWithTokens(of: users, at: now, reaching: .receiving) { _ in true }
    }

    /// The same; of the tokens that reach a device those that `isWanted` holds for.
    package func devicesWithTokens(
        of users: Set<UserID>, at now: Instant, reaching reach: PushReach,
        where isWanted: (PushAccess) throws -> Bool
    ) throws -> [DeviceTokens] {
        guard !users.isEmpty else { return [] }
        var found: [DeviceTokens] = []
        try connection.each(
            """
            SELECT device.user, device.client_id, push_token.token, push_token.apns_environment,
                push_token.topic, push_token.registered_at, push_token_device.session
            FROM json_each(?2) AS wanted CROSS JOIN device ON device.user = wanted.value
            LEFT JOIN push_token_device ON push_token_device.device = device.key
                AND \(reach.condition(at: "?1"))
            LEFT JOIN push_token
                ON push_token.token = push_token_device.token AND push_token.courier IS NULL
            ORDER BY device.user, device.client_id, push_token.token
            """,
            now, SQLList(users.map(\.rawValue))
        ) { columns in
            let user: UserID = try columns.value(0)
            let clientID = columns.text(1)
            if found.last?.user != user || found.last?.clientID != clientID {
                found.append(DeviceTokens(user: user, clientID: clientID, tokens: []))
            }
            let access = PushAccess(session: try columns.optional(6), user: user)
            guard !columns.isNull(2), try isWanted(access) else { return true }
            found[found.count - 1].tokens.append(
                StoredPushToken(
                    token: columns.text(2), apnsEnvironment: try columns.value(3), courier: nil,
                    topic: columns.optionalText(4), registeredAt: try columns.value(5)
                )
            )
            return true
        }
        return found
    }

    package func pushTarget(_ key: PushTargetKey, at now: Instant) throws -> PushTarget? {
        try pushTarget(key, at: now, reaching: .receiving)?.target
    }

    /// The same with what the device is reached by.
    package func pushTarget(
        _ key: PushTargetKey, at now: Instant, reaching reach: PushReach
    ) throws -> (target: PushTarget, access: PushAccess)? {
        try connection.first(PushTarget.byKey(reaching: reach), now, key.token, key.device) {
            let target = try PushTarget($0)
            return (target, PushAccess(session: try $0.optional(8), user: target.user))
        }
    }
}

extension StoredDevice {
    /// The devices that a courier's token reaches, each with the courier's position.
    fileprivate static func withToken(reaching reach: PushReach) -> String {
        """
        SELECT device.key, device.user, device.client_id, push_token_device.given_out,
            push_token_device.session
        FROM push_token_device CROSS JOIN device ON device.key = push_token_device.device
        WHERE push_token_device.token = ?2 AND push_token_device.given_out IS NOT NULL
            AND \(reach.condition(at: "?1"))
        ORDER BY device.key
        """
    }
}

extension StoredPushToken {
    private static let columns = "token, apns_environment, courier, topic, registered_at"
    fileprivate static let withToken = "SELECT \(columns) FROM push_token WHERE token = ?"
    fileprivate static let withCourier = "SELECT \(columns) FROM push_token WHERE courier = ?"

    fileprivate init(_ columns: Columns) throws {
        self.init(
            token: columns.text(0),
            apnsEnvironment: try columns.value(1),
            courier: columns.optionalText(2),
            topic: columns.optionalText(3),
            registeredAt: try columns.value(4)
        )
    }
}

extension PushTarget {
    fileprivate static func byKey(reaching reach: PushReach) -> String {
        """
        SELECT push_token_device.token, push_token_device.device, device.user, device.client_id,
            push_token.apns_environment, push_token.topic, push_token.registered_at,
            push_token_device.delivered, push_token_device.session
        FROM push_token_device
            CROSS JOIN push_token ON push_token.token = push_token_device.token
            CROSS JOIN device ON device.key = push_token_device.device
        WHERE push_token_device.token = ?2 AND push_token_device.device = ?3
            AND push_token_device.delivered IS NOT NULL AND \(reach.condition(at: "?1"))
        """
    }

    fileprivate init(_ columns: Columns) throws {
        self.init(
            key: PushTargetKey(token: columns.text(0), device: try columns.value(1)),
            user: try columns.value(2),
            clientID: columns.text(3),
            apnsEnvironment: try columns.value(4),
            topic: columns.optionalText(5),
            registeredAt: try columns.value(6),
            delivered: try columns.value(7)
        )
    }
}
