// SPDX-License-Identifier: Apache-2.0
import Crypto
import TidebellCore

extension Cloud {
    /// Bytes of a device ID, as many as a UUID has.
    private static let deviceIDLength = 16

    /// Returns what records tell of a user's device.
    ///
    /// Everybody who reads a record sees it. Who knows a client ID can register as that
    /// device, so it is hashed with the server's key (HMAC-SHA-256), and with the user.
    func deviceID(of clientID: String, usedBy user: StoredUser) -> String {
        let body = Array("device\u{0}\(user.recordName)\u{0}\(clientID)".utf8)
        let code = HMAC<SHA256>.authenticationCode(
            for: body, using: SymmetricKey(data: assets.sealKey)
        )
        return Secret.hex(Array(code.prefix(Self.deviceIDLength)))
    }
}
