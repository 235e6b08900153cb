// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

// For whom a request is sent, and what its answer says about them.
extension ContainerConnection {
    /// Sends a call once, for whoever it is planned for.
    ///
    /// A token that another process has renewed meanwhile is read anew, once. Public
    /// records are read without the user whom the server refuses (ACCT-3).
    func exchange(
        _ call: WebServicesCall,
        _ options: RequestOptions
    ) async throws(RequestFailure) -> TransportResponse {
        var place = try place(for: options)
        var hasReadAnew = false
        while true {
            let failure: RequestFailure
            do {
                return try await send(call, options, in: place)
            } catch {
                failure = error
            }
            let token = place.configuration.webAuthToken
            guard let standing = failure.standing, let token else { throw failure }
            let now = try self.place(for: options)
            if !hasReadAnew, now.configuration.webAuthToken != token {
                hasReadAnew = true
                place = now
                continue
            }
            session.accounts.learn(standing, of: token, in: place.container)
            guard !call.needsUser else { throw failure }
            place.configuration.webAuthToken = nil
        }
    }

    /// How the server took the last request of whoever is signed in.
    var standing: AccountStanding {
        identifier.map { session.accounts.standing(in: $0) } ?? .unknown
    }

    /// Returns the way of files, which need no user but those of a request's user.
    func transport(_ options: RequestOptions) throws(RequestFailure) -> any Transport {
        session.transport(to: try place(for: options).configuration)
    }

    /// Returns the place of a request, or fails when its user is gone.
    private func place(for options: RequestOptions) throws(RequestFailure) -> Place {
        do {
            let place = try place()
            try options.account?.check(place.account)
            return place
        } catch {
            throw RequestFailure(error)
        }
    }

    /// Takes what an answer says about the user: that they are known, and which token to
    /// use from now on. Fails when they are not signed in any more: what was answered is
    /// theirs, not the app's user's.
    func take(_ response: TransportResponse, in place: Place) throws(CKError) {
        let token = place.configuration.webAuthToken
        if let token, let next = response.header(WireProtocol.webAuthTokenHeader), !next.isEmpty {
            session.accounts.renew(token, by: next, in: place.container)
        }
        try AccountPin(account: place.account).check(try self.place().account)
        session.accounts.learn(.good, of: token, in: place.container)
    }
}
