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
    ///
    /// - Parameter zone: The zone that the request was about; nil for none.
    static func server(
        _ response: TransportResponse, report: ServerReport, of zone: ZoneID? = nil
    ) -> CKError {
        do {
            let error = try JSONReader.read(response.body) { try WireError(from: &$0) }
            // Other errors are not about the zone.
            guard error.code == .zoneNotFound, let zone else {
                return .server(error, report: report)
            }
            let zoneID = CKRecordZone.ID(
                zoneName: zone.zoneName,
                ownerName: zone.ownerRecordName ?? CKCurrentUserDefaultName)
            return .server(error, report: report, of: .zone(zoneID))
        } catch {
            return .server(
                Code(status: response.status),
                DeviceError.noAPI(status: response.status).reason,
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
        case let error as TransportError:
            let found = DeviceError(error, server: server)
            return .server(Code(found), found.reason, report: report)
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

extension CKError {
    /// Creates the error of what went wrong with the device's files or its configuration.
    init(_ error: DeviceError) {
        self = .local(Code(error), error.reason)
    }
}

extension CKError.Code {
    /// The code of what went wrong on the device, or on the way to the server.
    init(_ error: DeviceError) {
        switch error.cause {
        case .internalError: self = .internalError
        case .badContainer: self = .badContainer
        case .notAuthenticated: self = .notAuthenticated
        case .networkUnavailable: self = .networkUnavailable
        case .networkFailure: self = .networkFailure
        case .limitExceeded: self = .limitExceeded
        case .refused(let error): self = Self(rawValue: error.ckErrorCode) ?? .internalError
        case .status(let status): self = Self(status: status)
        }
    }

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
