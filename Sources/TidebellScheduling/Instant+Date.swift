// SPDX-License-Identifier: Apache-2.0
package import Foundation

extension Instant {
    /// Creates the moment of a date, down to the millisecond.
    package init(_ date: Date) {
        self.init(rawValue: Int64(date.timeIntervalSince1970 * 1000))
    }

    /// The moment as a date.
    package var date: Date { Date(timeIntervalSince1970: Double(rawValue) / 1000) }
}
