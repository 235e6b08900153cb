// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellTransport
package import TidebellWire

/// What went wrong with a device's files, or with signing in: a cause and a reason that names what to do.
///
/// The module `CloudKit` makes a `CKError` of it, `tidebell` prints the reason.
package struct DeviceError: Error, Sendable, Hashable {
    /// What went wrong.
    package enum Cause: Sendable, Hashable {
        case internalError, badContainer, notAuthenticated, networkUnavailable, networkFailure,
            limitExceeded
        /// The server refused the request.
        case refused(WireError)
        /// Something answered that is no Tidebell, with a status of HTTP.
        case status(Int)
    }

    package var cause: Cause
    package var reason: String

    /// Creates an error.
    package init(_ cause: Cause, _ reason: String) {
        self.cause = cause
        self.reason = reason
    }

    /// The clause that follows the words of the server where it takes a web token no more.
    package static let adviceOnEndedSession =
        "this device's web token is unknown to the server or has ended: sign in again with tidebell login"

    /// Creates the error of a server's refusal.
    init(_ error: WireError) {
        let isEnded = error.reason == WireProtocol.needsAuthorization
        self.init(
            .refused(error),
            isEnded ? "\(error.reason); \(Self.adviceOnEndedSession)" : error.reason)
    }

    /// Creates the error of an answer whose status is not 200.
    init(_ response: TransportResponse) {
        do {
            self.init(try JSONReader.read(response.body) { try WireError(from: &$0) })
        } catch {
            self = .noAPI(status: response.status)
        }
    }

    /// The error of an answer that is none of the API: a proxy's, or of something that is no Tidebell.
    package static func noAPI(status: Int) -> DeviceError {
        DeviceError(.status(status), "The server answered with HTTP status \(status).")
    }

    /// Creates the error of a request without an answer.
    package init(_ failure: TransportError, server: URL?) {
        switch failure {
        case .unreachable(let cause):
            // A device of a test has no server of a name.
            let name = server.flatMap { $0.isFileURL ? nil : "\($0.absoluteString) " } ?? ""
            self.init(
                .networkUnavailable,
                "The server \(name)cannot be reached (\(cause)). Is it running, and is its address "
                    + "right (\(DeviceConfiguration.Variable.server), or of tidebell login)?"
            )
        case .connectionLost(let cause):
            self.init(.networkFailure, "The connection to the server was lost: \(cause)")
        case .timedOut(let timeout):
            self.init(
                .networkFailure,
                "The server did not answer within \(timeout / .seconds(1)) seconds.")
        case .tooLarge(let limit):
            self.init(.limitExceeded, "The server's answer is longer than \(limit) bytes.")
        }
    }

    /// What a refusal shows about the session it was for; nil when it is about something else.
    var refusedStatus: DeviceLogin.Status? {
        guard case .refused(let error) = cause else { return nil }
        return switch error.ckErrorCode {
        case CKErrorCode.accountTemporarilyUnavailable: .temporarilyUnavailable
        case CKErrorCode.managedAccountRestricted: .restricted
        case CKErrorCode.notAuthenticated where error.code == .authenticationRequired: .noAccount
        default: nil
        }
    }
}
