// SPDX-License-Identifier: Apache-2.0

/// A server error code with the HTTP status of its request-level form
/// (web-services 3.3).
package enum ServerErrorCode: String, Sendable, Hashable, CaseIterable {
    case accessDenied = "ACCESS_DENIED"
    case atomicError = "ATOMIC_ERROR"
    case authenticationFailed = "AUTHENTICATION_FAILED"
    case authenticationRequired = "AUTHENTICATION_REQUIRED"
    case badRequest = "BAD_REQUEST"
    case conflict = "CONFLICT"
    case exists = "EXISTS"
    case internalError = "INTERNAL_ERROR"
    case notFound = "NOT_FOUND"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case throttled = "THROTTLED"
    case tryAgainLater = "TRY_AGAIN_LATER"
    case uniqueFieldError = "UNIQUE_FIELD_ERROR"
    case validatingReferenceError = "VALIDATING_REFERENCE_ERROR"
    case zoneNotFound = "ZONE_NOT_FOUND"

    /// The HTTP status of a request that fails as a whole with this code.
    package var status: Int {
        switch self {
        case .badRequest, .atomicError: 400
        case .authenticationFailed: 401
        case .accessDenied: 403
        case .notFound, .zoneNotFound: 404
        case .conflict, .exists, .uniqueFieldError: 409
        case .validatingReferenceError: 412
        case .quotaExceeded: 413
        case .authenticationRequired: 421
        case .throttled: 429
        case .internalError: 500
        case .tryAgainLater: 503
        }
    }

    /// The `CKError.Code` raw value this maps to where no detail decides otherwise.
    package var ckErrorCode: Int {
        switch self {
        case .accessDenied: CKErrorCode.permissionFailure
        case .atomicError: CKErrorCode.batchRequestFailed
        case .authenticationFailed, .authenticationRequired: CKErrorCode.notAuthenticated
        case .badRequest: CKErrorCode.invalidArguments
        case .conflict, .exists: CKErrorCode.serverRecordChanged
        case .internalError: CKErrorCode.internalError
        case .notFound: CKErrorCode.unknownItem
        case .quotaExceeded: CKErrorCode.quotaExceeded
        case .throttled: CKErrorCode.requestRateLimited
        case .tryAgainLater: CKErrorCode.serviceUnavailable
        case .uniqueFieldError: CKErrorCode.constraintViolation
        case .validatingReferenceError: CKErrorCode.referenceViolation
        case .zoneNotFound: CKErrorCode.zoneNotFound
        }
    }
}

/// An error as the wire carries it, of a request or of one item.
package struct WireError: Error, Sendable, Hashable {
    /// Detail that only clients which opted into the extensions receive
    /// (web-services 9).
    package struct Detail: Sendable, Hashable {
        /// The exact `CKError.Code` raw value.
        package var ckCode: Int?
        /// The server's version of a record in conflict.
        package var serverRecord: WireRecord?
        /// Why a zone that is missing is gone (TOK-23).
        package var zoneDeletion: ZoneDeletionReason?

        /// Creates detail.
        package init(
            ckCode: Int? = nil,
            serverRecord: WireRecord? = nil,
            zoneDeletion: ZoneDeletionReason? = nil
        ) {
            self.ckCode = ckCode
            self.serverRecord = serverRecord
            self.zoneDeletion = zoneDeletion
        }
    }

    package var code: ServerErrorCode
    /// The most bytes of a reason: an answer may have one for each of its items.
    package static let longestReason = 2000

    /// What is wrong, naming the culprit.
    package internal(set) var reason: String
    /// The request's UUID; request-level errors only, never in items.
    package var uuid: String?
    /// Seconds to wait before another try.
    package var retryAfter: Double?
    /// Where a user can sign in.
    package var redirectURL: String?
    package var detail: Detail?
    var serverOnly = ServerOnly()

    /// Creates an error.
    package init(
        _ code: ServerErrorCode,
        _ reason: String,
        uuid: String? = nil,
        retryAfter: Double? = nil,
        redirectURL: String? = nil,
        detail: Detail? = nil
    ) {
        self.code = code
        self.reason = Self.shortened(reason, to: Self.longestReason)
        self.uuid = uuid
        self.retryAfter = retryAfter
        self.redirectURL = redirectURL
        self.detail = detail
    }

    /// Returns a text of at most `length` bytes, which ends with "..." where it is cut.
    ///
    /// Takes no longer for a long text; a character may have any number of bytes.
    package static func shortened(_ text: some StringProtocol, to length: Int = 60) -> String {
        guard text.utf8.count > length else { return String(text) }
        let mark = "..."
        var cut = String.UnicodeScalarView()
        var room = length - mark.utf8.count
        for scalar in text.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            cut.append(scalar)
        }
        return String(cut) + mark
    }

    /// The `CKError.Code` raw value a client should show.
    package var ckErrorCode: Int { detail?.ckCode ?? code.ckErrorCode }
}
