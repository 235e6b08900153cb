// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// A request of the Web Services API, before it knows device and container.
struct WebServicesCall: Sendable {
    /// The endpoint's path and what a call of it does.
    var route: WireRoute
    /// The database; nil for an endpoint that is in none.
    var scope: DatabaseScope?
    /// The body; nil for an endpoint that is called by GET.
    var body: [UInt8]?
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

    /// Creates a call of an endpoint.
    ///
    /// - Parameter scope: The database; nil is the only one that has the endpoint.
    init<Endpoint: WireEndpoint>(
        _ endpoint: Endpoint.Type,
        _ request: Endpoint.Request,
        in scope: DatabaseScope? = nil
    ) where Endpoint.Request: WireBody {
        route = endpoint.route
        self.scope = scope ?? route.path.onlyScope
        if route.method != .get { body = JSONWriter.write { request.write(to: &$0) } }
        zone = request.recordZone
        needsUser = route.access.needsUser(in: self.scope)
    }

    /// What the call does, such as `records/modify`.
    var endpoint: String { route.path.action }

    /// Whether the call may be sent again, however often, as a read may.
    var isRead: Bool { route.effect != .writes }
}

/// What an endpoint answered, and under which ID the server logged it.
struct WebServicesAnswer<Value: Sendable>: Sendable {
    var value: Value
    /// What errors of single items report about the request (ERR-5).
    var report: CKError.ServerReport

    /// Returns the answer with a part of the value.
    func map<Part>(_ part: (Value) -> Part) -> WebServicesAnswer<Part> {
        WebServicesAnswer<Part>(value: part(value), report: report)
    }
}
