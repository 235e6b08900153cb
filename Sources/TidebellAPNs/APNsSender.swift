// SPDX-License-Identifier: Apache-2.0

/// The wire to Apple's service.
package protocol APNsSender: Sendable {
    /// Sends a request and returns what came of it; never fails.
    func send(
        _ request: APNsRequest, authorization: String, to gateway: APNsGateway
    ) async -> APNsAnswer

    /// Ends the connections; to be called when no request is under way.
    func close() async
}
