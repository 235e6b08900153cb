// SPDX-License-Identifier: Apache-2.0
package import TidebellCore
import TidebellWire

extension SQLTransaction {
    package func putDeviceSignIn(_ device: StoredDeviceSignIn) throws -> Bool {
        try connection.first(
            """
            INSERT OR IGNORE INTO device_sign_in (\(StoredDeviceSignIn.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING 1
            """,
            device.hash, device.userCode, device.container.container,
            device.container.environment, device.methods.map(AppSignIn.Method.text),
            device.deviceName, device.network, device.address, device.expiresAt,
            device.entered?.account, device.entered?.name, device.entered?.proof,
            device.entered?.isByProvider ?? false
        ) { _ in true } ?? false
    }

    package func enterDeviceSignIn(
        userCode: String, by user: StoredDeviceSignIn.Entered, at now: Instant
    ) throws -> Bool {
        try connection.first(
            """
            UPDATE device_sign_in SET account = ?, user_name = ?, proof = ?, by_provider = ?
            WHERE user_code = ? AND expires_at > ? AND account IS NULL RETURNING 1
            """,
            user.account, user.name, user.proof, user.isByProvider, userCode, now
        ) { _ in true } ?? false
    }

    package func takeDeviceSignIn(hash: [UInt8]) throws -> StoredDeviceSignIn? {
        try connection.first(
            "DELETE FROM device_sign_in WHERE hash = ? RETURNING \(StoredDeviceSignIn.columns)",
            hash, read: StoredDeviceSignIn.init
        )
    }

    package func removeDeviceSignIns(expiredBy moment: Instant, limit: Int) throws -> Int {
        try connection.rows(
            """
            DELETE FROM device_sign_in WHERE hash IN (
                SELECT hash FROM device_sign_in WHERE expires_at <= ?
                ORDER BY expires_at LIMIT ?
            ) RETURNING expires_at
            """,
            moment, limit
        ) { $0.int(0) }.count
    }

    package func noteFinishedVisit(
        _ hash: [UInt8], until end: Instant, keeping most: Int
    ) throws -> Bool {
        let isNew =
            try connection.first(
                "INSERT OR IGNORE INTO finished_visit (hash, ends_at) VALUES (?, ?) RETURNING 1",
                hash, end
            ) { _ in true } ?? false
        guard isNew else { return false }
        try connection.run(
            """
            DELETE FROM finished_visit WHERE hash IN (
                SELECT hash FROM finished_visit ORDER BY ends_at DESC, hash DESC LIMIT -1 OFFSET ?
            )
            """,
            most
        )
        return true
    }

    package func removeFinishedVisits(endedBy moment: Instant, limit: Int) throws -> Int {
        try connection.rows(
            """
            DELETE FROM finished_visit WHERE hash IN (
                SELECT hash FROM finished_visit WHERE ends_at <= ? ORDER BY ends_at LIMIT ?
            ) RETURNING ends_at
            """,
            moment, limit
        ) { $0.int(0) }.count
    }
}
