// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import TidebellWire

/// Who uses a container on a device: stays the same when the user's token is renewed.
struct DeviceAccount: Hashable, Sendable {
    /// The address of the server.
    let server: String
    /// The name of the user's record, or the web token where nobody knows whose it is.
    let user: String
    /// Whether ``user`` is a record name.
    let isRecordName: Bool

    /// The name of the user's record, as far as it is known without asking.
    var recordName: String? { isRecordName ? user : nil }

    /// What distinguishes the account from others, without revealing who it is.
    var digest: Data {
        Data(SHA256.hash(data: Data("\(server)\n\(isRecordName)\n\(user)".utf8)))
    }

    /// The beginning of ``digest``, for the names of files.
    var shortDigest: String { Hex.text(Array(digest.prefix(8))) }
}

/// Whom work was planned for. What was begun for one user is not sent for another.
struct AccountPin: Hashable, Sendable {
    /// The account; nil when nobody was signed in.
    let account: DeviceAccount?

    /// The account that operations made in this task are for; nil takes whoever is signed
    /// in when they start.
    @TaskLocal static var current: AccountPin?

    /// Fails with `notAuthenticated` when somebody else is signed in by now.
    func check(_ now: DeviceAccount?) throws(CKError) {
        guard now != account else { return }
        throw .local(
            .notAuthenticated,
            "Another user signed in, or this one signed out, while the operation was under way; "
                + "it was stopped. Check the account status and start again."
        )
    }
}

/// How the server took the last request of an account.
enum AccountStanding: Hashable, Sendable {
    /// No request was answered yet.
    case unknown
    /// The server knows the user.
    case good
    /// The server does not know the web token (any more).
    case noAccount
    /// The sign-in has expired; the user must sign in again.
    case expired
    /// The operator has disabled the account.
    case restricted

    /// What an answer's error means; nil when it is about something else.
    init?(_ error: CKError, status: Int) {
        switch (error.code, status) {
        case (.accountTemporarilyUnavailable, _): self = .expired
        case (.managedAccountRestricted, _): self = .restricted
        case (.notAuthenticated, 421): self = .noAccount
        default: return nil
        }
    }

    /// The status an app gets, when the server could be asked.
    var status: CKAccountStatus? {
        switch self {
        case .unknown: nil
        case .good: .available
        case .noAccount: .noAccount
        case .expired: .temporarilyUnavailable
        case .restricted: .restricted
        }
    }

    /// Whether the server refuses the account's token.
    var isRefused: Bool { self != .unknown && self != .good }
}

extension CKError {
    /// The error an app gets: of a disabled account the same as without one (ACCT-3);
    /// the account's status shows the difference.
    var ofAccount: CKError {
        code == .managedAccountRestricted ? CKError(.notAuthenticated, userInfo: userInfo) : self
    }
}
