// SPDX-License-Identifier: Apache-2.0
import GRDB
import TidebellCore

extension StoreUnavailable {
    /// What an error of SQLite means if it may pass by itself; any other stays what it is.
    static func meant(by error: any Error) -> any Error {
        guard let failure = error as? DatabaseError else { return error }
        let cause: Cause
        switch failure.resultCode {
        case .SQLITE_FULL: cause = .diskIsFull
        case .SQLITE_IOERR, .SQLITE_CANTOPEN: cause = .diskFails
        // PROTOCOL is what a reader gets who waited for locks of other processes in vain.
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL: cause = .isLocked
        case .SQLITE_READONLY: cause = .isReadOnly
        default: return error
        }
        let code = failure.extendedResultCode.rawValue
        return StoreUnavailable(cause, detail: "\(failure.message ?? "SQLite"), code \(code)")
    }
}
