// SPDX-License-Identifier: Apache-2.0
import Foundation

// Whose data is synced (SYNC-2, SYNC-17).
extension SyncEngineCore {
    /// Makes sure that a user is signed in, and notifies the delegate when it is another one
    /// than the state is of.
    ///
    /// Fails with `notAuthenticated` when nobody is, and with what kept the server from
    /// answering.
    // NB: a token that the server refuses is no sign-out: apps delete their data then. Only
    // a device without any token has no user.
    func ensureAccount() async throws(CKError) {
        let pin = container.accountPin
        guard !isAccountKnown || account != pin else { return }
        var previous = state.values.userRecordName
        if hasSignedOut, let user = previous {
            await reportAccount(.signOut(previousUser: .user(user)), user: nil)
            previous = nil
        }
        let current = try await container.fetchCaller(RequestOptions(account: pin))
        switch previous {
        case current: break
        case nil: await reportAccount(.signIn(currentUser: .user(current)), user: current)
        case let previous?:
            let change = AccountChangeType.switchAccounts(
                previousUser: .user(previous),
                currentUser: .user(current)
            )
            await reportAccount(change, user: current)
        }
        account = pin
        isAccountKnown = true
    }

    private typealias AccountChangeType = CKSyncEngine.Event.AccountChange.ChangeType

    /// Whether the device has no user, as far as it knows by itself.
    var hasSignedOut: Bool {
        guard let address = try? container.address() else { return false }
        return address.configuration.webAuthToken == nil
    }

    private func reportAccount(_ change: AccountChangeType, user: String?) async {
        await report(.accountChange(CKSyncEngine.Event.AccountChange(changeType: change))) {
            state in
            // What was added before the first sign-in belongs to whoever signs in.
            if state.userRecordName != nil { state.reset() }
            state.userRecordName = user
        }
    }

    /// Asks again who is signed in when the account changed (ACCT-2).
    func observeAccount() {
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged,
            object: nil,
            queue: nil
        ) { [weak self] notification in
            guard let self, !notification.isOfOther(than: container.session) else { return }
            isAccountKnown = false
            schedule.withLock { $0.accountChanged() }
            wake.raise()
            accountWake.raise()
            checkListener()
        }
        background.withLock { $0.observer = observer }
    }
}

extension CKRecord.ID {
    /// Returns the ID of a user.
    fileprivate static func user(_ recordName: String) -> CKRecord.ID {
        CKRecord.ID(unchecked: recordName, zoneID: .default)
    }
}
