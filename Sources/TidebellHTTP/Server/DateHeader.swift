// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TidebellScheduling

/// The header `Date` of answers (RFC 9110, 6.6.1), made once a second.
final class DateHeader: Sendable {
    private let last = Mutex((second: Int64.min, text: ""))

    /// Returns the header's value, such as "Sun, 06 Nov 1994 08:49:37 GMT".
    func text(at now: Instant) -> String {
        let second = now.rawValue / 1000
        return last.withLock { last in
            if last.second != second { last = (second, Self.text(ofSecond: second)) }
            return last.text
        }
    }

    private static func text(ofSecond second: Int64) -> String {
        var time = time_t(second)
        var parts = tm()
        gmtime_r(&time, &parts)
        func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = days[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits)
        return "\(day), \(twoDigits(parts.tm_mday)) \(month) \(1900 + parts.tm_year) "
            + "\(clock.joined(separator: ":")) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
