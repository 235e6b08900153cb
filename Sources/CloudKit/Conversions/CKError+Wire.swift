// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

// The only code that turns failures of requests into CKErrors: of the transport, of an
// HTTP status, of a server error code (web-services 3.3, ERR-50).
extension CKError {
    /// Creates the error of a request or item the server refused.
    ///
    /// - Parameter subject: The item; nil for one that is not known.
    static func server(
        _ error: WireError,
        report: ServerReport,
        of subject: Subject? = nil,
        userInfo: [String: Any] = [:]
    ) -> CKError {
        var report = report
        report.requestUUID = error.uuid ?? report.requestUUID
        report.retryAfter = error.retryAfter ?? report.retryAfter
        report.serverDescription = error.reason
        let code = Code(rawValue: error.ckErrorCode) ?? .internalError
        let reason =
            error.reason.isEmpty ? code.sentence : explained(error.reason, of: subject)
        var userInfo = userInfo
        if error.detail?.zoneDeletion == .encryptedDataReset {
            userInfo[CKErrorUserDidResetEncryptedDataKey] = NSNumber(value: true)
        }
        return .server(code, reason, report: report, userInfo: userInfo)
    }

    /// Creates the error of an answer with a status other than 200.
    static func server(_ response: TransportResponse, report: ServerReport) -> CKError {
        do {
            let error = try JSONReader.read(response.body) { try WireError(from: &$0) }
            return .server(error, report: report)
        } catch {
            // No error of the API: a proxy answered, or something that is no Tidebell.
            return .server(
                Code(status: response.status),
                "The server answered with HTTP status \(response.status).",
                report: report
            )
        }
    }

    /// Creates the error of a request the transport has no answer for.
    static func transport(
        _ failure: any Error, container: String?, server: URL? = nil
    ) -> CKError {
        let report = ServerReport(containerIdentifier: container)
        switch failure {
        case let error as CKError: return error
        case is CancellationError: return .cancelled()
        case TransportError.unreachable(let cause):
            // A device of a test has no server of a name.
            let name = server.flatMap { $0.isFileURL ? nil : "\($0.absoluteString) " } ?? ""
            return .server(
                .networkUnavailable,
                "The server \(name)cannot be reached "
                    + "(\(cause)). Is it running, and is its address "
                    + "right (\(DeviceConfiguration.Variable.server), or of tidebell login)?",
                report: report
            )
        case TransportError.connectionLost(let cause):
            return .server(
                .networkFailure,
                "The connection to the server was lost: \(cause)",
                report: report
            )
        case TransportError.timedOut(let timeout):
            return .server(
                .networkFailure,
                "The server did not answer within \(timeout.seconds) seconds.",
                report: report
            )
        case TransportError.tooLarge(let limit):
            return .server(
                .limitExceeded,
                "The server's answer is longer than \(limit) bytes.",
                report: report
            )
        default:
            return .server(.networkFailure, "The request failed: \(failure)", report: report)
        }
    }

    /// Creates the error of a write that may have been done, and that the server may do
    /// twice by now (ERR-43).
    static func answerLost(since date: Date, container: String?) -> CKError {
        .local(
            .serverResponseLost,
            "The answer to a request of \(date) was lost, and the server may not remember it any "
                + "more. Fetch what was to be changed, and save again what is missing.",
            userInfo: container.map { [ReportKey.container: $0] } ?? [:]
        )
    }

    /// Creates the error of what was cancelled (OP-8).
    static func cancelled() -> CKError {
        .local(.operationCancelled, "The operation was cancelled.")
    }

    /// Creates the error of a wait that did not come to its end: it was cancelled, or a test's clock
    /// states why it ended.
    static func cancelled(_ error: any Error) -> CKError {
        guard let ended = error as? AwaitedSleep.Ended else { return .cancelled() }
        return .local(.operationCancelled, ended.description)
    }
}

extension CKError.Code {
    /// The code of an HTTP status that came without an error of the API.
    init(status: Int) {
        switch status {
        case 401, 421: self = .notAuthenticated
        case 403: self = .permissionFailure
        case 408: self = .networkFailure
        case 413: self = .limitExceeded
        case 429: self = .requestRateLimited
        case 502, 503, 504: self = .serviceUnavailable
        default: self = .serverRejectedRequest
        }
    }

    /// Whether a request fails like this whatever its items are: the next one of
    /// the same operation would fail alike.
    var concernsWholeOperation: Bool {
        switch self {
        case .internalError, .networkUnavailable, .networkFailure, .badContainer,
            .serviceUnavailable, .requestRateLimited, .missingEntitlement, .notAuthenticated,
            .incompatibleVersion, .operationCancelled, .managedAccountRestricted,
            .serverResponseLost, .serverRejectedRequest, .accountTemporarilyUnavailable:
            true
        default: false
        }
    }

    /// The same of a request that is all an operation sends, or all of a zone: of one that
    /// was refused as too large nothing was done, and the app may split it (LIMIT-2). An
    /// answer that is too long has the same code.
    var concernsWholeRequest: Bool { concernsWholeOperation || self == .limitExceeded }
}

extension CKError.ServerReport {
    /// The longest wait taken from a header, in seconds: a year.
    private static let maximumRetryAfter = 31_536_000.0

    /// What an answer's header reports about its request.
    init(_ response: TransportResponse, container: String?) {
        self.init(
            requestUUID: response.header(WireProtocol.requestUUIDHeader),
            containerIdentifier: container,
            retryAfter: response.header("Retry-After")
                .flatMap(Double.init)
                .flatMap { (0...Self.maximumRetryAfter).contains($0) ? $0 : nil }
        )
    }
}
