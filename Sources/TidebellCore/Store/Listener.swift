// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Who receives pushes over a connection that is held open.
package enum Listener: Sendable, Hashable {
    /// The stream of a device, opened in a session: it ends with either.
    case stream(DeviceKey, SessionID)
    /// Who shows an API token: it ends when the token is revoked or has expired.
    case apiToken(hash: [UInt8])
    /// The poll of the courier of a push token: it ends when the token reaches nobody.
    case courier(token: String)
}
