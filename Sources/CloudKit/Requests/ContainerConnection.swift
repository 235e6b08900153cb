// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// A container as one device reaches it.
struct ContainerConnection: Sendable {
    /// The device.
    let session: DeviceSession
    /// The identifier the app gave; nil for the device's default container.
    private let given: String?

    /// Creates the way to a container; nil stands for the default one of the device.
    init(identifier: String?, session: DeviceSession) {
        given = identifier
        self.session = session
    }

    /// The container's identifier; nil as long as the device has no default container.
    var identifier: String? { given ?? session.defaultContainerIdentifier }

    /// Begins to notify the app of changes of the account.
    func follow() {
        if let identifier {
            session.accounts.follow(identifier)
        } else {
            session.accounts.followOnlyContainer()
        }
    }
}

/// One of a container's databases as one device reaches it.
struct DatabaseConnection: Sendable {
    /// The container.
    let container: ContainerConnection
    /// The database.
    let scope: DatabaseScope

    /// Whether another one goes to the same address, from the same device.
    func isSame(as other: DatabaseConnection) -> Bool {
        scope == other.scope && container.identifier == other.container.identifier
            && container.session === other.container.session
    }
}
