// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// How far a device has handled the pushes of a container: the ID of the last one.
struct NotificationCursor: Sendable {
    /// The device.
    let session: DeviceSession
    /// The file in the device's state folder; one for each container, environment and
    /// listener.
    let fileName: String

    /// Creates the cursor of a listener for whoever is signed in to a container.
    init(
        of listener: NotificationReceiver.Listener,
        at address: ContainerConnection.Address,
        on session: DeviceSession
    ) {
        self.session = session
        // Each user's log is another one, also where nobody knows the name of their record.
        let user = address.account.map { "-\($0.recordName ?? $0.shortDigest)" } ?? ""
        let suffix = listener == .app ? "" : "-sync"
        let name = "\(address.container)-\(address.configuration.environment)\(user)\(suffix)"
        fileName = "notifications-\(name).cursor"
    }

    /// Returns the cursor; nil on a device that never had one.
    func load() -> String? {
        if let known = session.notificationCursors.withLock({ $0[fileName] }) { return known }
        // Without a readable file the server knows where the device was, from its last
        // acknowledgement.
        return state.flatMap { try? $0.read(fileName) }
    }

    /// Keeps the cursor beyond the process.
    func save(_ cursor: String) {
        session.notificationCursors.withLock { $0[fileName] = cursor }
        // If this fails, pushes may come once more after a restart; the app is to expect
        // that anyway (PUSH-13).
        try? state?.write(cursor, to: fileName, isDurable: false)
    }

    private var state: DeviceState? {
        guard let folder = (try? session.configuration.get())?.stateFolder else { return nil }
        return DeviceState(folder: folder)
    }
}
