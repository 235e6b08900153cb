// SPDX-License-Identifier: Apache-2.0
public import CloudKit
import Synchronization
import TidebellWire

/// How the server takes the account of a device, where a test wants it to be refused.
final class AccountRefusal: Sendable {
    private let status = Mutex<CKAccountStatus?>(nil)

    /// Sets what the account's status is to be; nil is what it is.
    func set(_ status: CKAccountStatus?) {
        self.status.withLock { $0 = status }
    }

    /// What is asked for; nil for nothing.
    var line: String? { status.withLock(\.self).map { "account status \($0)" } }

    /// The server's answer to a request; nil where it is not refused.
    func answer(to request: SeenRequest) -> TransportResponse? {
        let error: WireError? =
            switch status.withLock(\.self) {
            case .restricted: WireError(injected: .managedAccountRestricted)
            case .temporarilyUnavailable: WireError(injected: .accountTemporarilyUnavailable)
            case .couldNotDetermine where request.endpoint == .action(FetchCaller.route.path.action):
                WireError(injected: .internalError)
            default: nil
            }
        return error.map(TransportResponse.init)
    }
}

extension TestDevice {
    /// Sets the account status of the device. When it returns, `CKAccountChanged` has been posted
    /// if the status changed.
    ///
    /// | status | requests |
    /// |---|---|
    /// | `restricted` | fail with `notAuthenticated`, as when an operator disables the account |
    /// | `temporarilyUnavailable` | fail with `accountTemporarilyUnavailable`: the user must sign in again |
    /// | `couldNotDetermine` | succeed; only requests for the user's identity fail |
    /// | `noAccount` | fail with `notAuthenticated`: the user is signed out, as by ``signOut()`` |
    /// | `available` | succeed: an earlier status is removed |
    ///
    /// ```swift
    /// try await phone.setAccountStatus(.restricted)
    /// #expect(try await phone.container().accountStatus() == .restricted)
    /// ```
    ///
    /// It applies to this device only, until it is set again or ``signIn(_:)`` is called. Fails for
    /// `available` if no user is signed in.
    public func setAccountStatus(_ status: CKAccountStatus) async throws {
        switch status {
        case .noAccount:
            link.refusal.set(nil)
            return try await signOut()
        case .available:
            guard user != nil else {
                throw TestCloudError.misuse("No user is signed in on the device: call signIn(_:).")
            }
            link.refusal.set(nil)
        default: link.refusal.set(status)
        }
        // The device learns of it by asking, as from any answer.
        _ = try? await container().accountStatus()
        await flushAccountChanges()
    }
}
