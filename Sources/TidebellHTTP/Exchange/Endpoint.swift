// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// An endpoint of a container: one operation of the Web Services API.
///
/// The shape of all of them: read the request, run the rule of the same name in
/// one transaction, write the answer. Only a write that may be sent again is answered
/// within the transaction, which keeps the answer.
package protocol Endpoint: WireEndpoint {
    /// Answers a request; what the caller caused is thrown as `WireError` or
    /// `JSONError`.
    static func respond(to exchange: Exchange) async throws -> WebResponse
}

/// An endpoint whose answers are kept, so that a write that comes again is not done again
/// (``Exchange/write(_:_:last:json:shortened:)``).
package protocol AnswerKeeping {}

extension ModifyRecords: AnswerKeeping {}
extension ModifyZones: AnswerKeeping {}
extension ModifySubscriptions: AnswerKeeping {}

/// An endpoint of the server itself, called without tokens.
package protocol ServerEndpoint: WireEndpoint {
    /// Answers a request; `argument` is the path segment after the endpoint's
    /// name, empty if there is none.
    static func respond(
        to request: WebRequest, argument: String, in cloud: Cloud
    ) async throws -> WebResponse
}
