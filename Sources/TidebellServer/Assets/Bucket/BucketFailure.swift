// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import TidebellCore

/// A request to a bucket that did not succeed: which one, why, and what to do about it.
struct BucketFailure: Error, Hashable, CustomStringConvertible {
    /// Why.
    enum Cause: Hashable {
        /// The service refused, with its own code where it gave one.
        case refused(status: Int, code: String?, message: String?)
        /// No answer came, or none to its end.
        case unreachable(String)
        /// The answer is none of S3's.
        case strange(String)
    }

    /// What was tried, such as `PUT s3://bucket/key`.
    let action: String
    let cause: Cause

    /// Whether the same may work in a moment.
    var mayPass: Bool {
        switch cause {
        case .refused(let status, let code, _):
            [408, 429].contains(status) || status >= 500
                || ["RequestTimeout", "SlowDown", "OperationAborted"].contains(code)
        case .unreachable: true
        case .strange: false
        }
    }

    /// Whether other credentials may help.
    var isOfCredentials: Bool {
        guard case .refused(let status, let code, _) = cause else { return false }
        return [401, 403].contains(status)
            || ["ExpiredToken", "InvalidToken", "TokenRefreshRequired"].contains(code)
    }

    /// What an operator can do, as a sentence; nil where the service may just be down.
    var advice: String? {
        guard case .refused(let status, let code, _) = cause else {
            return "Check the address (--s3-endpoint), and that this machine reaches it."
        }
        switch code {
        case "NoSuchBucket": return "Make the bucket, or name another one (--asset-store)."
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
            "TokenRefreshRequired":
            return "Check the credentials, or renew them."
        case "RequestTimeTooSkewed": return "Set the clock of this machine."
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException":
            return
                "Name the bucket's region (--s3-region) and the address of that region's service."
        default: break
        }
        switch status {
        case 401, 403:
            return
                "The credentials must allow s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, and "
                + "s3:ListBucket on the bucket."
        case 300..<400:
            return
                "Name the bucket's region (--s3-region) and the address of that region's service."
        case 404, 405, 501:
            return "Check the address (--s3-endpoint) and the style (--s3-addressing-style)."
        default: return nil
        }
    }

    var description: String {
        switch cause {
        case .refused(let status, let code, let message):
            let reason = [code, message].compactMap(\.self).joined(separator: ": ")
            return "\(action) was refused with status \(status)"
                + (reason.isEmpty ? "" : " (\(reason.printableStart))")
        case .unreachable(let reason): return "\(action) had no answer: \(reason)"
        case .strange(let reason): return "\(action) had an answer that is none of S3's: \(reason)"
        }
    }
}

extension BucketFailure.Cause {
    /// Takes an error of the HTTP client.
    static func of(_ error: any Error) -> Self {
        switch error {
        case let error as IOError: .unreachable(String(cString: strerror(error.errnoCode)))
        case let error as HTTPClientError: .unreachable(error.shortDescription)
        default: .unreachable("\(error)".printableStart)
        }
    }

    /// Takes an error as S3 writes it, of which only the code and the message are kept: the rest repeats what was
    /// signed.
    static func refusal(status: Int, body: String) -> Self {
        .refused(
            status: status, code: XMLText.first("Code", in: body),
            message: XMLText.first("Message", in: body))
    }
}

extension String {
    /// Characters of a service's words that are logged.
    private static let mostPrinted = 300

    /// The beginning of what a service says, in one line.
    fileprivate var printableStart: String {
        String(
            prefix(Self.mostPrinted).map {
                $0.isNewline
                    || $0.unicodeScalars.contains { $0.properties.generalCategory == .control }
                    ? " " : $0
            })
    }
}
