// SPDX-License-Identifier: Apache-2.0
import Crypto
import Synchronization
package import TidebellCore
import TidebellWire

/// Makes the ID by which others than a device itself know it: readers of records, receivers
/// of webhooks.
///
/// Whoever knows a client ID can register as that device, so it is hashed with a key of the
/// store's secret (HMAC-SHA-256), and with the user.
package final class DeviceSeal: Sendable {
    /// Bytes of a device ID, as many as a UUID has.
    private static let length = 16
    /// The most device IDs remembered: a device that saves often has its own made once.
    private static let capacity = 10_000

    private struct Device: Hashable {
        var recordName: String
        var clientID: String
    }

    private let key: SymmetricKey
    private let known = Mutex<[Device: String]>([:])

    /// Creates the seal of a store's secret.
    package init(_ secret: StoreSecret) {
        key = SymmetricKey(data: secret.key(.deviceIDs))
    }

    /// Returns the device ID of a client of the user with this record name.
    package func deviceID(of clientID: String, usedBy recordName: String) -> String {
        let device = Device(recordName: recordName, clientID: clientID)
        if let id = known.withLock({ $0[device] }) { return id }
        let body = Array("device\u{0}\(recordName)\u{0}\(clientID)".utf8)
        let code = HMAC<SHA256>.authenticationCode(for: body, using: key)
        let id = Hex.text(Array(code.prefix(Self.length)))
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[device] = id
        }
        return id
    }
}
