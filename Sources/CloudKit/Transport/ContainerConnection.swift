// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// A container as one device reaches it.
struct ContainerConnection: Sendable {
    /// The container's identifier; nil when the device has no default container.
    let identifier: String?
    /// The device.
    let session: DeviceSession
}

/// One of a container's databases as one device reaches it.
struct DatabaseConnection: Sendable {
    /// The container.
    let container: ContainerConnection
    /// The database.
    let scope: DatabaseScope
}

/// How a request is sent, apart from what it says.
struct RequestOptions: Sendable {
    /// The header that carries the operation's ID, for the server's log (OP-10).
    static let operationIDHeader = "X-Tidebell-Operation-ID"
    /// The header that carries the ID of the operation's group.
    static let operationGroupIDHeader = "X-Tidebell-Operation-Group-ID"
    /// The longest wait for an answer unless an operation says otherwise (LIMIT-14).
    static let defaultTimeout = Duration.seconds(60)

    var timeout = Self.defaultTimeout
    var operationID: String?
    var operationGroupID: String?
    /// Whom the request is for; nil takes who is signed in when it is sent.
    var account: AccountPin?
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
    /// Whether the server does the same when it gets the request twice.
    var isRead: Bool
    /// Whether a user must be signed in (ACCT-3).
    var needsUser: Bool

    init(
        _ scope: DatabaseScope?,
        _ endpoint: String,
        body: [UInt8]? = nil,
        isRead: Bool,
        needsUser: Bool? = nil
    ) {
        self.scope = scope
        self.endpoint = endpoint
        self.body = body
        self.isRead = isRead
        self.needsUser = needsUser ?? (scope != .public)
    }
}

/// What an endpoint answered, and under which ID the server logged it.
struct WebServicesAnswer<Value: Sendable>: Sendable {
    var value: Value
    /// What errors of single items say about the request (ERR-5).
    var report: CKError.ServerReport
}
