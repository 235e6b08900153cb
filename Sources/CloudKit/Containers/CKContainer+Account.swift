// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// Whether the device has a signed-in user (ACCT-1).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckaccountstatus>.
public enum CKAccountStatus: Int, Sendable {
    /// The server could not be asked: there is no network, no server, or no valid API token.
    case couldNotDetermine = 0
    /// A user is signed in, and the server knows them.
    case available = 1
    /// The operator of the server has disabled the account (`tidebell user disable`).
    /// Requests fail with `notAuthenticated` until it is enabled again.
    case restricted = 2
    /// No user is signed in, the user signed out, or the server no longer has the user.
    case noAccount = 3
    /// A user is signed in, but must sign in again (`tidebell login`), because the session has
    /// expired. Requests fail with `accountTemporarilyUnavailable`; keep cached data (ACCT-4).
    case temporarilyUnavailable = 4
}

extension NSNotification.Name {
    /// Posted once whenever a user signs in or out, also by another process such as
    /// `tidebell login`, or the server takes the account otherwise than before; ask for
    /// the status again (ACCT-2).
    ///
    /// Posted on an arbitrary queue, without an object, for the containers the program
    /// has made.
    // The name is Apple's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}

extension CKContainer {
    /// Returns whether a user is signed in (ACCT-1).
    ///
    /// Available means that the device has a web token which the server accepts. When the
    /// server cannot be asked, the status is `couldNotDetermine`, with an error.
    @preconcurrency
    public func accountStatus(
        completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void
    ) {
        detached {
            let (status, error) = await self.fetchAccountStatus()
            completionHandler(status, error)
        }
    }

    /// Returns whether a user is signed in (ACCT-1).
    ///
    /// Available means that the device has a web token which the server accepts. Fails
    /// when the server cannot be asked.
    public func accountStatus() async throws -> CKAccountStatus {
        let (status, error) = await fetchAccountStatus()
        if let error { throw error }
        return status
    }

    /// Fetches the ID of the signed-in user's record, or the error `notAuthenticated`.
    @preconcurrency
    public func fetchUserRecordID(
        completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void
    ) {
        detached {
            do {
                completionHandler(try await self.userRecordID(), nil)
            } catch {
                completionHandler(nil, error)
            }
        }
    }

    /// Returns the ID of the signed-in user's record (ACCT-5).
    ///
    /// Fails with `notAuthenticated` when no user is signed in (ACCT-3).
    public func userRecordID() async throws -> CKRecord.ID {
        let name = try await connection.fetchUserRecordName(requestOptions)
        return CKRecord.ID(unchecked: name, zoneID: .default)
    }

    private func fetchAccountStatus() async -> (CKAccountStatus, CKError?) {
        do {
            guard try connection.address().account != nil else { return (.noAccount, nil) }
            _ = try await connection.fetchCaller(requestOptions)
            return (.available, nil)
        } catch {
            // What the server refuses is remembered; anything else is no answer.
            let standing = connection.standing
            guard standing.isRefused, let status = standing.status,
                error.code == .notAuthenticated || error.code == .accountTemporarilyUnavailable
            else { return (.couldNotDetermine, error) }
            return (status, nil)
        }
    }

    /// Runs what a completion handler waits for: the handler's caller does not.
    func detached(_ work: @escaping @Sendable () async -> Void) {
        Task { await work() }
    }
}
