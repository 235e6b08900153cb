// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore

/// What a receiver answered.
package struct WebhookAnswer: Sendable, Hashable {
    package var status: Int
    /// The header field as it came: seconds, or a date.
    package var retryAfter: String?

    /// Creates an answer.
    package init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }

    /// What follows from it.
    func outcome(at now: Instant) -> WebhookOutcome {
        switch status {
        case 200..<300: .delivered
        case 410: .gone
        case 400..<500 where !Self.statusesOfTheWay.contains(status): .refused
        default: .failed(retryAfter: delay(at: now))
        }
    }

    /// Client errors that are about the receiver's address, credentials or
    /// load, and nothing of the notification: they pass when the operator has
    /// repaired the way, so no notification is given up for them.
    private static let statusesOfTheWay: Set = [401, 403, 404, 405, 407, 408, 421, 425, 429]

    private func delay(at now: Instant) -> Duration? {
        guard let retryAfter else { return nil }
        if let seconds = Int64(retryAfter) { return .seconds(max(0, min(seconds, 1 << 32))) }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: retryAfter).map {
            .milliseconds(max(0, Int64($0.timeIntervalSince1970 * 1000) - now.rawValue))
        }
    }
}

/// What came of one try to deliver a notification.
enum WebhookOutcome: Sendable, Hashable {
    case delivered
    /// The receiver does not want this one.
    case refused
    /// Nobody was able to take it; the receiver may have asked for a wait.
    case failed(retryAfter: Duration?)
    /// Nobody was there, or answered in time.
    case unreachable
    /// The receiver wants nothing more.
    case gone
}
