// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

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

    /// Begins to tell the app of changes of the account.
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
}

/// A request of the Web Services API, before it knows device and container.
struct WebServicesCall: Sendable {
    /// The database, or the one whose path the endpoint uses; nil for an extension.
    var scope: DatabaseScope?
    /// The path after the database or, of an extension, after the environment, such as
    /// `records/modify`.
    var endpoint: String
    /// The body of a POST; nil sends a GET.
    var body: [UInt8]?
    /// Whether the call changes nothing.
    var isRead: Bool
    /// The zone, of a call that is about one.
    var zone: ZoneID?
    /// The name among the operation's requests; nil for the next one of the endpoint.
    var name: String?
    /// The name under which the server does a write once; nil for reads.
    var requestID: String?
    /// Whether a user must be signed in (ACCT-3).
    var needsUser: Bool
    /// Whether a long-lived operation keeps the answer: not one that is soon out of date.
    var isKept = true

    init(
        _ scope: DatabaseScope?,
        _ endpoint: String,
        body: [UInt8]? = nil,
        isRead: Bool,
        needsUser: Bool? = nil,
        zone: ZoneID? = nil
    ) {
        self.scope = scope
        self.endpoint = endpoint
        self.body = body
        self.isRead = isRead
        self.needsUser = needsUser ?? (scope != .public)
        self.zone = zone
    }
}

/// What an endpoint answered, and under which ID the server logged it.
struct WebServicesAnswer<Value: Sendable>: Sendable {
    var value: Value
    /// What errors of single items say about the request (ERR-5).
    var report: CKError.ServerReport
}
