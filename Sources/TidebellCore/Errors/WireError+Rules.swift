// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension WireError {
    /// The caller must sign in first (ACCT-3).
    package static let authenticationRequired = WireError(
        .authenticationRequired, WireProtocol.needsAuthorization
    )

    /// What the caller sent is malformed or not allowed.
    package static func badRequest(_ reason: String, ckCode: Int? = nil) -> WireError {
        WireError(.badRequest, reason, detail: ckCode.map { Detail(ckCode: $0) })
    }

    /// The zone does not exist, or no longer (SAVE-11, TOK-23).
    static func zoneNotFound(
        _ zoneID: ZoneID, deletion: ZoneDeletionReason? = nil
    ) -> WireError {
        let isPurged = deletion == .purged
        let name = shortened(zoneID.zoneName)
        return WireError(
            .zoneNotFound,
            isPurged
                ? "Zone '\(name)' was purged by its user"
                : "Zone '\(name)' does not exist",
            detail: detail(for: deletion)
        )
    }

    /// The error that an extended client receives about a zone that its user did not just
    /// delete.
    private static func detail(for deletion: ZoneDeletionReason?) -> Detail? {
        switch deletion {
        case nil, .deleted: nil
        case .purged: Detail(ckCode: CKErrorCode.userDeletedZone, zoneDeletion: .purged)
        case .encryptedDataReset: Detail(zoneDeletion: .encryptedDataReset)
        }
    }

    /// A token of another family, user, database, zone or environment, or one
    /// that is too old (TOK-3, TOK-22).
    static func changeTokenExpired(_ why: String) -> WireError {
        badRequest(
            "client knowledge differs from server knowledge: \(why); "
                + "discard the cache and fetch without a token",
            ckCode: CKErrorCode.changeTokenExpired
        )
    }

    /// The records of one request are too large together (LIMIT-20).
    static func tooManyBytes(_ limit: Int) -> WireError {
        badRequest(
            "the records of the request have more than \(limit) bytes; ask for fewer at a time",
            ckCode: CKErrorCode.limitExceeded
        ).naming(.namedRecordBytes)
    }

    /// Returns the error without what only extended clients may see.
    package func visible(to call: Call) -> WireError {
        guard !call.usesExtensions else { return self }
        var error = self
        error.detail = nil
        return error
    }
}
