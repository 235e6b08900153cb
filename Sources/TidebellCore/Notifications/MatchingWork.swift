// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// What a pass may yet spend on holding subscriptions against records.
///
/// In bytes that are compared: those of each filter and of the field it looks at, and
/// ``perVerdict`` for each pair of a subscription and a record. What the verdict really reads
/// may be less, since it ends with the first filter that fails.
package struct MatchingWork: Sendable {
    /// What a pair costs without any filter, and each filter without any text.
    static let perVerdict = 64

    /// Work that never ends.
    package static let unlimited = MatchingWork(.max)

    private var left: Int

    /// Creates work of so many bytes.
    package init(_ bytes: Int) {
        left = bytes
    }

    /// Whether nothing is left.
    package var isDone: Bool { left <= 0 }

    /// Takes the cost of a verdict, be it more than is left.
    mutating func take(_ candidate: PreparedSubscription, _ element: ChangedRecords.Element) {
        left -= Self.perVerdict
        guard left > 0, element.change.fields != nil else { return }
        for filter in candidate.subscription.filters {
            let found = element.view.size(of: filter.subject)
            left -= Self.perVerdict + filter.value.comparedBytes + found
        }
    }
}
