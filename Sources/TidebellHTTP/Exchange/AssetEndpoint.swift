// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// An endpoint whose URL is the only credential: it was given to the client that may send or
/// fetch one file (web-services 5.9).
package protocol AssetEndpoint: WireEndpoint {
    /// Answers a request; what the caller caused is thrown as `WireError`.
    static func respond(
        to request: WebRequest, token: String, baseURL: String, in cloud: Cloud
    ) async throws -> WebResponse
}
