// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// Who receives pushes over a connection that is held open.
package enum Listener: Sendable, Hashable {
    /// The stream of a device, opened in a session: it ends with either.
    case stream(DeviceKey, SessionID)
    /// The poll of the courier of a push token: it ends when the token reaches nobody.
    case courier(token: String)
}
