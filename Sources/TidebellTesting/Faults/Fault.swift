// SPDX-License-Identifier: Apache-2.0
public import CloudKit

/// What goes wrong with a request: ``TestDevice/inject(_:into:times:)`` for one device,
/// ``TestCloud/inject(_:into:times:)`` for whichever asks first.
///
/// ```swift
/// phone.inject(.rateLimited(retryAfter: .seconds(30)), into: .modifyRecords)
/// phone.inject(.error(.internalError), into: .any, times: 3)
/// phone.inject(.lostAnswer, into: .modifyRecords.of(recordID))
/// ```
///
/// A fault happens on the way between device and server: the code under test gets it through the
/// `CloudKit` module, which repeats what it repeats in earnest. An error comes as the answer that
/// a server gives: where it asks to wait, further operations of its kind fail at once until the cloud's
/// clock is there (ERR-52).
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

    /// The server refuses the request with an error, and has done nothing.
    ///
    /// `networkUnavailable` and `networkFailure`, which no server answers, are a server that cannot be
    /// reached and a connection that breaks. For `partialFailure`, name the items:
    /// ``failing(_:)``. A change token that is expired, a zone that is not there or busy are
    /// answered for each zone where changes of zones are fetched, as a server does.
    ///
    /// - Parameters:
    ///   - code: The error the app gets.
    ///   - retryAfter: How long the server asks to wait (`CKErrorRetryAfterKey`), in whole
    ///     milliseconds; nil for nothing said.
    public static func error(_ code: CKError.Code, retryAfter: Duration? = nil) -> Fault {
        precondition(
            code != .partialFailure,
            "A partial failure is one of items: inject(.failing([recordID: .zoneBusy]), …)."
        )
        return Fault(.error(code, retryAfter: retryAfter))
    }

    /// The server does not take so many requests of this kind: `requestRateLimited`.
    public static func rateLimited(retryAfter: Duration) -> Fault {
        .error(.requestRateLimited, retryAfter: retryAfter)
    }

    /// The zone is busy: `zoneBusy`.
    public static func zoneBusy(retryAfter: Duration) -> Fault {
        .error(.zoneBusy, retryAfter: retryAfter)
    }

    /// The service is away for a while: `serviceUnavailable`.
    public static func serviceUnavailable(retryAfter: Duration) -> Fault {
        .error(.serviceUnavailable, retryAfter: retryAfter)
    }

    /// The user's iCloud storage is full: `quotaExceeded`. For one that fills up, see
    /// ``ServerLimits/bytesPerUser``.
    public static let quotaExceeded = Fault.error(.quotaExceeded)

    /// The server does not take the change token any more: `changeTokenExpired`.
    public static let expiredToken = Fault.error(.changeTokenExpired)

    /// These records fail, each with its error; the others are saved, deleted or fetched.
    ///
    /// Where the request is atomic, as it is in a custom zone unless the operation says otherwise,
    /// nothing is done and the others fail with `batchRequestFailed` (SAVE-15).
    ///
    /// ```swift
    /// phone.inject(.failing([first.recordID: .serverRejectedRequest]), into: .modifyRecords)
    /// ```
    public static func failing(_ records: [CKRecord.ID: CKError.Code]) -> Fault {
        precondition(!records.isEmpty, "A partial failure names at least one record.")
        return Fault(.items(records))
    }

    /// The connection breaks before the request is at the server.
    public static let lostRequest = Fault(.lost)

    /// The connection breaks on the way back: the server has done what was asked, but the device does not
    /// know.
    public static let lostAnswer = Fault(.lost).afterWork

    /// The answer takes so long on the cloud's clock; longer than the operation's
    /// `timeoutIntervalForRequest` (60 seconds), it is given up (`networkFailure`).
    public static func slow(_ duration: Duration) -> Fault {
        Fault(.slow(duration)).afterWork
    }

    /// The server answers with so many records, or zones, at most: `moreComing`, or a query's
    /// cursor.
    public static func shortPage(_ count: Int) -> Fault {
        precondition(count > 0, "A page has at least one item.")
        return Fault(.shortPage(count))
    }

    /// The same fault, but the server has done what was asked before.
    ///
    /// ```swift
    /// phone.inject(.error(.serviceUnavailable).afterWork, into: .modifyRecords)
    /// ```
    public var afterWork: Fault {
        var fault = self
        fault.isAfterWork = true
        return fault
    }

    /// The fault as it is written in a test.
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
