// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What the description of the API says of an endpoint beside its route.
struct EndpointDocumentation: Sendable {
    /// A body.
    enum Body: Sendable {
        case none
        case json(JSONSchema)
        /// Of any of these content types.
        case bytes([String])
    }

    /// What a call does, in a sentence.
    var summary: String
    var request: Body = .none
    var response: Body
    /// The statuses it answers beside those that all of its kind do.
    var statuses: [Int] = []
    /// Query parameters of its own.
    var parameters: [(name: String, text: String)] = []
    /// What follows the action in the path, of a path that has it.
    var arguments: [String] = []
}
