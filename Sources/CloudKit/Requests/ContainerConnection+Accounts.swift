// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

// For whom a request is sent, and what its answer reports about them.
extension ContainerConnection {
    /// Sends a call once, for whoever it is planned for.
    ///
    /// A token that another process has renewed meanwhile is read anew, once. Public
    /// records are read without the user whom the server refuses (ACCT-3).
    func exchange(
        _ call: WebServicesCall,
        _ options: RequestOptions
    ) async throws(RequestFailure) -> TransportResponse {
        var address = try address(for: options)
        var hasReadAnew = false
        while true {
            let failure: RequestFailure
            do {
                return try await send(call, options, at: address)
            } catch {
                failure = error
            }
            let token = address.configuration.webAuthToken
            guard let standing = failure.standing, let token else { throw failure }
            let now = try self.address(for: options)
            if !hasReadAnew, now.configuration.webAuthToken != token {
                hasReadAnew = true
                address = now
                continue
            }
            session.accounts.learn(standing, of: token, in: address.container)
            guard !call.needsUser else { throw failure }
            address.configuration.webAuthToken = nil
        }
    }

    /// How the server took the last request of whoever is signed in.
    var standing: AccountStanding {
        identifier.map { session.accounts.standing(in: $0) } ?? .unknown
    }

    /// Returns the way of files, which need no user but those of a request's user.
    func transport(_ options: RequestOptions) throws(RequestFailure) -> any Transport {
        session.transport(to: try address(for: options).configuration)
    }

    /// Returns the address of a request, or fails when its user is gone.
    private func address(for options: RequestOptions) throws(RequestFailure) -> Address {
        do {
            let address = try address()
            try options.account?.check(address.account)
            return address
        } catch {
            throw RequestFailure(error)
        }
    }

    /// Fails where nobody waits any more for what was fetched ahead: the operation was cancelled, or its
    /// user is not signed in any more.
    func checkIsWanted(_ options: RequestOptions) throws(CKError) {
        guard !Task.isCancelled else { throw .cancelled() }
        do {
            _ = try address(for: options)
        } catch {
            throw error.error
        }
    }

    /// Takes what an answer reports about the user: that they are known, and which token to
    /// use from now on. Fails when they are not signed in any more: what was answered is
    /// theirs, not the app's user's.
    func take(_ response: TransportResponse, at address: Address) throws(CKError) {
        let token = address.configuration.webAuthToken
        if let token, let next = response.header(WireProtocol.webAuthTokenHeader), !next.isEmpty {
            session.accounts.renew(token, by: next, in: address.container)
        }
        try AccountPin(account: address.account).check(try self.address().account)
        session.accounts.learn(.good, of: token, in: address.container)
    }
}
