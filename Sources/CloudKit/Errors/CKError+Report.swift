// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKError {
    /// What a server reports about a failed request, beside code and reason (ERR-5).
    struct ServerReport: Sendable {
        /// The ID of the request, to find it in the logs of the server.
        var requestUUID: String?

        /// The container the request went to.
        var containerIdentifier: String?

        /// The server's own words; the reason stands in when nil.
        var serverDescription: String?

        /// The seconds to wait before trying again.
        var retryAfter: Double?

        init(
            requestUUID: String? = nil,
            containerIdentifier: String? = nil,
            serverDescription: String? = nil,
            retryAfter: Double? = nil
        ) {
            self.requestUUID = requestUUID
            self.containerIdentifier = containerIdentifier
            self.serverDescription = serverDescription
            self.retryAfter = retryAfter
        }
    }

    /// The `userInfo` keys of what the server reports (ERR-5).
    enum ReportKey {
        /// The reason, once more.
        static let description = "ErrorDescription"

        /// The server's own words.
        static let serverDescription = "ServerErrorDescription"

        /// The ID of the request.
        static let requestUUID = "RequestUUID"

        /// The container the request went to.
        static let container = "ContainerID"
    }

    /// Creates an error the client itself found: a code and a reason naming the culprit.
    static func local(
        _ code: CKError.Code,
        _ reason: String,
        userInfo: [String: Any] = [:]
    ) -> CKError {
        var details = userInfo
        details[NSLocalizedDescriptionKey] = reason
        details[ReportKey.description] = reason
        return CKError(code, userInfo: details)
    }

    /// Creates an error the server reported (ERR-5).
    static func server(
        _ code: CKError.Code,
        _ reason: String,
        report: ServerReport = ServerReport(),
        userInfo: [String: Any] = [:]
    ) -> CKError {
        var details = userInfo
        details[ReportKey.serverDescription] = report.serverDescription ?? reason
        details[ReportKey.requestUUID] = report.requestUUID
        details[ReportKey.container] = report.containerIdentifier
        details[CKErrorRetryAfterKey] = report.retryAfter
        return local(code, reason, userInfo: details)
    }

    /// Creates the error of a batch in which some items failed (ERR-4, ERR-11).
    ///
    /// - Precondition: `errors` is not empty (ERR-7).
    static func partial(
        _ errors: [AnyHashable: CKError],
        report: ServerReport = ServerReport()
    ) -> CKError {
        precondition(!errors.isEmpty, "A partial failure names at least one failed item.")
        let items: [AnyHashable: any Error] = errors.mapValues { $0 }
        return server(
            .partialFailure,
            "Failed to modify some items (\(errors.count)).",
            report: report,
            userInfo: [CKPartialErrorsByItemIDKey: items]
        )
    }
}
