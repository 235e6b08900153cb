// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Whether the device has a signed-in user (ACCT-1).
///
/// See <https://developer.apple.com/documentation/cloudkit/ckaccountstatus>.
public enum CKAccountStatus: Int, Sendable {
    /// The server could not be asked.
    case couldNotDetermine = 0
    /// A user is signed in.
    case available = 1
    /// The account may not be used on this device.
    case restricted = 2
    /// No user is signed in, or the sign-in has ended.
    case noAccount = 3
    /// The account cannot be used right now.
    case temporarilyUnavailable = 4
}

extension NSNotification.Name {
    /// Posted when another user signs in or out; ask for the status again (ACCT-2).
    // The name is Apple's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    public static let CKAccountChanged = NSNotification.Name("CKAccountChangedNotification")
}

extension CKContainer {
    /// Tells whether a user is signed in (ACCT-1).
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
        let name = try await connection.fetchUserRecordName()
        return CKRecord.ID(unchecked: name, zoneID: .default)
    }

    private func fetchAccountStatus() async -> (CKAccountStatus, CKError?) {
        do {
            _ = try await connection.fetchCaller()
            return (.available, nil)
        } catch {
            switch error.code {
            case .notAuthenticated: return (.noAccount, nil)
            case .accountTemporarilyUnavailable: return (.temporarilyUnavailable, nil)
            case .managedAccountRestricted: return (.restricted, nil)
            default: return (.couldNotDetermine, error)
            }
        }
    }

    /// Runs what a completion handler waits for: the handler's caller does not.
    private func detached(_ work: @escaping @Sendable () async -> Void) {
        Task { await work() }
    }
}
