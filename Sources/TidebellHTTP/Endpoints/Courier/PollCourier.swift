// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellPush
package import TidebellWire

/// `/courier/{capability}`: long poll of a web client for its next push
/// (web-services 5.12).
///
/// The URL is the only credential: it was given to the client that created the push token.
extension PollCourier: ServerEndpoint {
    /// How long a poll is held without a push.
    private static let hold = Duration.seconds(55)

    /// Answers with one notification, then the poll is over; with nothing when
    /// the time is up, or when newer polls of the same URL replace it.
    ///
    /// A poll counts for the account whose users the courier serves, wherever it comes from.
    package static func respond(
        to request: WebRequest, argument capability: String, in cloud: Cloud
    ) async throws -> WebResponse {
        let couriers = cloud.couriers
        // Fails for an unknown courier before the answer has begun.
        let owner = try await couriers.owner(of: capability)
        let slot = try cloud.heldRequests.takeSlot(for: .account(owner))
        let poll = try cloud.courierPolls.begin(at: capability)
        let waiting = try await couriers.next(courier: capability, waitingUpTo: .zero)
        return WebResponse(
            headers: [
                .contentType: "application/json; charset=UTF-8",
                .cacheControl: "no-store",
            ],
            body: .stream { writer in
                let next =
                    if let waiting { waiting } else {
                        try await couriers.next(
                            courier: capability, waitingUpTo: hold, unless: poll.end
                        )
                    }
                if let message = next {
                    try await writer.write(message.payload)
                    // Only what was written is done with: a poll that broke off
                    // gets it again.
                    let now = cloud.time.now()
                    try await couriers.acknowledge(message, at: now)
                    for delivery in message.deliveries(at: now) { cloud.journal.record(delivery) }
                }
                withExtendedLifetime((slot, poll)) {}
            }
        )
    }
}
