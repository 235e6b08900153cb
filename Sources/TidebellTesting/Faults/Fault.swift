// SPDX-License-Identifier: Apache-2.0
public import CloudKit

/// A failure of a request. Inject it with ``TestDevice/inject(_:into:times:)`` for one device, or
/// with ``TestCloud/inject(_:into:times:)`` for the first device that sends a request.
///
/// ```swift
/// phone.inject(.rateLimited(retryAfter: .seconds(30)), into: .modifyRecords)
/// phone.inject(.error(.internalError), into: .any, times: 3)
/// phone.inject(.lostAnswer, into: .modifyRecords.of(recordID))
/// ```
///
/// A fault happens between device and server: the code under test gets it through the `CloudKit`
/// module, which repeats requests as it does after real failures. An error is a server's answer: if
/// it asks to wait, further operations of the same kind fail at once until that time on the cloud's
/// clock (ERR-52).
public struct Fault: Sendable, Hashable, CustomStringConvertible {
    /// What happens.
    enum Effect: Sendable, Hashable {
        case error(CKError.Code, retryAfter: Duration?)
        case items([CKRecord.ID: CKError.Code])
        case lost
        case slow(Duration)
        case shortPage(Int)
    }

    let effect: Effect
    /// Whether the server does what is asked before it happens.
    private(set) var isAfterWork = false

    private init(_ effect: Effect) {
        self.effect = effect
    }

    /// The server refuses the request with an error, and does nothing.
    ///
    /// `networkUnavailable` and `networkFailure` are not answers of a server: they mean a server
    /// that cannot be reached, and a connection that breaks. For `partialFailure`, name the items:
    /// ``failing(_:)``. When changes of zones are fetched, an expired change token, a missing zone
    /// or a busy zone is the error of each zone, as with a real server.
    ///
    /// - Parameters:
    ///   - code: The error that the app gets.
    ///   - retryAfter: How long the server asks to wait (`CKErrorRetryAfterKey`), in whole
    ///     milliseconds; nil if it does not ask to wait.
    public static func error(_ code: CKError.Code, retryAfter: Duration? = nil) -> Fault {
        precondition(
            code != .partialFailure,
            "A partial failure is one of items: inject(.failing([recordID: .zoneBusy]), …)."
        )
        return Fault(.error(code, retryAfter: retryAfter))
    }

    /// There were too many requests of this kind: `requestRateLimited`.
    public static func rateLimited(retryAfter: Duration) -> Fault {
        .error(.requestRateLimited, retryAfter: retryAfter)
    }

    /// The zone is busy: `zoneBusy`.
    public static func zoneBusy(retryAfter: Duration) -> Fault {
        .error(.zoneBusy, retryAfter: retryAfter)
    }

    /// The service is unavailable for some time: `serviceUnavailable`.
    public static func serviceUnavailable(retryAfter: Duration) -> Fault {
        .error(.serviceUnavailable, retryAfter: retryAfter)
    }

    /// The user's iCloud storage is full: `quotaExceeded`. For a storage that really fills up, see
    /// ``ServerLimits/bytesPerUser``.
    public static let quotaExceeded = Fault.error(.quotaExceeded)

    /// The change token has expired: `changeTokenExpired`.
    public static let expiredToken = Fault.error(.changeTokenExpired)

    /// These records fail, each with its error; the others are saved, deleted or fetched.
    ///
    /// If the request is atomic, which is the default in a custom zone, nothing is done and the
    /// others fail with `batchRequestFailed` (SAVE-15).
    ///
    /// ```swift
    /// phone.inject(.failing([first.recordID: .serverRejectedRequest]), into: .modifyRecords)
    /// ```
    public static func failing(_ records: [CKRecord.ID: CKError.Code]) -> Fault {
        precondition(!records.isEmpty, "A partial failure names at least one record.")
        return Fault(.items(records))
    }

    /// The connection breaks before the request reaches the server.
    public static let lostRequest = Fault(.lost)

    /// The connection breaks before the answer arrives: the server has done the work, but the
    /// device does not know.
    public static let lostAnswer = Fault(.lost).afterWork

    /// The answer takes this long on the cloud's clock. If it takes longer than the operation's
    /// `timeoutIntervalForRequest` (60 seconds), the request fails with `networkFailure`.
    public static func slow(_ duration: Duration) -> Fault {
        Fault(.slow(duration)).afterWork
    }

    /// The server answers with at most this many records or zones, and with `moreComing` or a query
    /// cursor.
    public static func shortPage(_ count: Int) -> Fault {
        precondition(count > 0, "A page has at least one item.")
        return Fault(.shortPage(count))
    }

    /// The same fault, but the server does the work first.
    ///
    /// ```swift
    /// phone.inject(.error(.serviceUnavailable).afterWork, into: .modifyRecords)
    /// ```
    public var afterWork: Fault {
        var fault = self
        fault.isAfterWork = true
        return fault
    }

    /// The fault as Swift code.
    public var description: String {
        switch effect {
        case .error(let code, let retryAfter):
            let wait = retryAfter.map { ", retry after \($0)" } ?? ""
            return "\(code)\(wait)" + (isAfterWork ? " after the work" : "")
        case .items(let items):
            let list = items.map { "\($0.key.recordName): \($0.value)" }.sorted()
            return "failing " + list.joined(separator: ", ")
        case .lost: return isAfterWork ? "lostAnswer" : "lostRequest"
        case .slow(let duration): return "slow \(duration)"
        case .shortPage(let count): return "shortPage \(count)"
        }
    }
}
