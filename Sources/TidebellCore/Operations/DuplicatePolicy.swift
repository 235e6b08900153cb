// SPDX-License-Identifier: Apache-2.0

/// What becomes of a subscription that fires like another of the same user and
/// database (SUB-31 to 34); raw values are those of the command line.
package enum DuplicatePolicy: String, Sendable, Hashable, CaseIterable {
    /// Query and zone subscriptions with the trigger of another are refused; an
    /// app may own several database subscriptions.
    case standard
    /// Nothing is refused.
    case lenient
    /// Database subscriptions with the trigger of another are refused too, and so
    /// is creating a subscription that exists with the same content (SUB-31).
    case strict
}
