// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension SQLiteReading {
    package func listening(
        among listeners: Set<Listener>, at now: Instant
    ) throws -> Set<Listener> {
        var streams: [(DeviceKey, SessionID)] = []
        var couriers: Set<String> = []
        for listener in listeners {
            switch listener {
            case .stream(let device, let session): streams.append((device, session))
            case .courier(let token): couriers.insert(token)
            }
        }
        var found: Set<Listener> = []
        if !streams.isEmpty {
            try connection.each(Listener.streams, now, JSONText(streams)) { columns in
                let session = SessionID(rawValue: columns.text(1))
                found.insert(.stream(try columns.value(0), session))
                return true
            }
        }
        if !couriers.isEmpty {
            try connection.each(Listener.couriers, now, JSONText(couriers)) { columns in
                found.insert(.courier(token: columns.text(0)))
                return true
            }
        }
        return found
    }
}

extension JSONText {
    /// Writes an array of pairs of device and session, for `json_each`.
    fileprivate init(_ streams: [(DeviceKey, SessionID)]) {
        self.init(
            bytes: JSONWriter.write(capacity: 2 + 60 * streams.count) { writer in
                writer.array(streams) { writer, stream in
                    writer.array { writer in
                        writer.number(stream.0.rawValue)
                        writer.string(stream.1.rawValue)
                    }
                }
            }
        )
    }
}

extension Listener {
    /// The condition that a session lasts.
    private static func lasts(_ session: String, at now: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM web_token CROSS JOIN account ON account.id = web_token.account
            WHERE web_token.session = \(session) AND web_token.expires_at > \(now)
                AND account.disabled = 0
        )
        """
    }

    /// The condition that a row of `push_token_device` tells its device.
    static func mayHear(at now: String) -> String {
        """
        CASE WHEN push_token_device.session IS NULL THEN NOT EXISTS (
            SELECT 1 FROM user CROSS JOIN account ON account.id = user.account
            WHERE user.id = device.user AND account.disabled = 1
        ) ELSE \(lasts("push_token_device.session", at: now)) END
        """
    }

    fileprivate static let streams = """
        SELECT device.key, wanted.value ->> 1
        FROM json_each(?2) AS wanted CROSS JOIN device ON device.key = wanted.value ->> 0
        WHERE \(lasts("wanted.value ->> 1", at: "?1"))
        """

    fileprivate static let couriers = """
        SELECT DISTINCT push_token_device.token
        FROM json_each(?2) AS wanted
            CROSS JOIN push_token_device ON push_token_device.token = wanted.value
            CROSS JOIN device ON device.key = push_token_device.device
        WHERE push_token_device.given_out IS NOT NULL AND \(mayHear(at: "?1"))
        """
}
