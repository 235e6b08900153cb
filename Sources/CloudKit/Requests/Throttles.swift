// SPDX-License-Identifier: Apache-2.0
import TidebellWire

/// The waits that servers asked one device's operations for, until they are over (ERR-52).
///
/// Each is about one kind of request of one user, and of one zone where that was busy: as
/// on Apple's systems, what is of another kind may be sent meanwhile. Not kept beyond the
/// process.
struct Throttles: Sendable {
    /// The longest wait that is remembered: a week, as operations may take (LIMIT-14).
    static let longest = Duration.seconds(604_800)
    /// The most waits that are remembered; of more, those that end last.
    static let maximumCount = 1000

    /// The requests that have to wait.
    struct Subject: Hashable, Sendable {
        /// The container's identifier.
        var container: String
        /// The user; nil when nobody is signed in.
        var account: DeviceAccount?
        /// The database; nil for an extension.
        var scope: DatabaseScope?
        /// The kind of the requests.
        var endpoint: String
        /// The zone, when only its requests have to wait.
        var zone: ZoneID?
    }

    private var ends: [Subject: Deadline] = [:]

    /// How many waits are remembered.
    var count: Int { ends.count }

    /// Notes the wait an answer to a request asks for, if it does.
    ///
    /// - Parameter subject: The request, with its zone.
    mutating func note(_ error: CKError, to subject: Subject, on clock: some Clock<Duration>) {
        guard let asked = error.retryAfterSeconds, asked > 0 else { return }
        var subject = subject
        switch error.code {
        case .requestRateLimited, .serviceUnavailable: subject.zone = nil
        case .zoneBusy where subject.zone != nil: break
        default: return
        }
        let end = Deadline(.seconds(min(asked, Self.longest.seconds)), on: clock)
        if let known = ends[subject], known.remaining > end.remaining { return }
        ends[subject] = end
        if ends.count > Self.maximumCount { forget() }
    }

    /// Returns how long a request still has to wait; nil when it may be sent.
    func remaining(for subject: Subject) -> Duration? {
        var ofAllZones = subject
        ofAllZones.zone = nil
        let longest = [subject, ofAllZones].compactMap { ends[$0]?.remaining }.max()
        return longest.flatMap { $0 > .zero ? $0 : nil }
    }

    /// Drops the waits that are over, or else the one that is over first.
    private mutating func forget() {
        ends = ends.filter { $0.value.remaining > .zero }
        guard ends.count > Self.maximumCount else { return }
        let first = ends.min { $0.value.remaining < $1.value.remaining }
        if let first { ends[first.key] = nil }
    }
}

extension CKError {
    /// Creates the error of a request that is not sent, as the server asked to wait.
    static func throttled(_ subject: Throttles.Subject, for remaining: Duration) -> CKError {
        // Rounded up: whoever waits so long may send.
        let seconds = (remaining.seconds * 1000).rounded(.up) / 1000
        let database = subject.scope.map { "the \($0.rawValue) database of " } ?? ""
        return .local(
            .requestRateLimited,
            "The server asked to wait: requests of this kind (\(subject.endpoint)) to \(database)"
                + "'\(subject.container)' may be sent again in \(seconds) seconds, others now.",
            userInfo: [
                CKErrorRetryAfterKey: seconds, CKError.ReportKey.container: subject.container,
            ]
        )
    }
}
