// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire
import HTTPTypes

/// `users/lookup/id` (web-services 5.11).
extension LookupUsers: Endpoint {
    /// Answers with the users who have record names.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.cloud.store.read {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}

/// `users/lookup/email` (web-services 5.11).
extension LookupUsersByEmail: Endpoint {
    /// Answers with the users who may be found.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let response = try await exchange.cloud.store.read {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}

/// `users/lookup/contacts` (web-services 5.11).
extension LookupContacts: Endpoint {
    /// Answers with nobody.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        try exchange.readNothing()
        _ = try exchange.call.requireUser()
        return .json { Response(users: []).write(to: &$0) }
    }
}

/// `users/discover` (web-services 5.11).
extension DiscoverUsers: Endpoint {
    /// Answers with the users who may be found.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request =
            exchange.request.method == .get
            ? Request(lookups: []) : try exchange.read(Request.self)
        let response = try await exchange.cloud.store.read {
            try run(request, for: call, in: $0)
        }
        return .json { response.write(to: &$0) }
    }
}
