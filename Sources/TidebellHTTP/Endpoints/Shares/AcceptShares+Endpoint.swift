// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/accept` (web-services 5.7).
extension AcceptShares: Endpoint {
    /// Makes the caller a participant of each share, one after the other: each is in a database
    /// of its own, and need not be of the path's container (SHARE-18).
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        var results: [ShareResult] = []
        var budget = ShareAnswerBudget(call.limits)
        for guid in request.shortGUIDs {
            do {
                try budget.check()
                let metadata = try await exchange.accept(guid)
                budget.note(metadata)
                results.append(.share(metadata))
            } catch let error as WireError where error.isAboutShare {
                results.append(.failed(shortGUID: guid.value, error.visible(to: call)))
            }
        }
        let response = Response(results: results)
        exchange.countRefusals(in: response)
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    /// Makes the caller a participant of one share.
    ///
    /// Both tokens have to be good in the share's container: the web token, or there is no such
    /// share; and the API token, by which an app reaches its own containers only.
    fileprivate func accept(_ guid: ShortGUID) async throws -> ShareMetadata {
        let account = try call.requireUser().account
        let apiToken = try apiTokenHash()
        let place = try await cloud.store.read { reader in
            let place = try AcceptShares.place(
                ofShare: guid.value, openedBy: account, within: self.call.onlyContainer, in: reader)
            guard try self.call.reaches(place.container, by: apiToken, in: reader) else {
                throw WireError.elsewhere(place.container)
            }
            return place
        }
        let user = try await cloud.user(at: place, of: account, for: call) {
            try self.checkCaller(in: $0)
        }
        let there = call.acting(as: user, in: place.container)
        return try await cloud.store.writeInSteps(for: account, about: .database(place.database)) {
            steps in
            let (metadata, zone) = try steps.write(.database(place.database)) { transaction in
                try self.checkCaller(in: transaction)
                return try AcceptShares.run(guid, for: there, in: transaction)
            }
            // Whoever is answered fetches the zone at once.
            try zone?.run(as: steps)
            return metadata
        }
    }
}

extension Cloud {
    /// Returns who an account is where a share is; at its first access of that container the user is
    /// made (ACCT-5).
    ///
    /// - Parameter check: Fails where the account may not write any more.
    func user(
        at place: SharePlace, of account: AccountID, for call: Call,
        checking check: @escaping @Sendable (any StoreTransaction) throws -> Void
    ) async throws -> StoredUser {
        if let user = place.user { return user }
        let recordName = Secret.makeUserRecordName(from: randomness)
        return try await store.write(.account(account), for: account) { transaction in
            try check(transaction)
            return try transaction.joinContainer(
                place.container, as: account, recordName: recordName, limits: limits, at: call.now)
        }
    }
}

extension Exchange {
    /// The hash of the API token of the request.
    func apiTokenHash() throws -> [UInt8]? {
        try target.parameter(WireProtocol.apiToken).map(Secret.hash)
    }
}

extension Call {
    /// Whether an app's token is good in a container, which need not be that of the path: there it
    /// makes nobody a user or a participant otherwise.
    func reaches(
        _ container: ContainerKey, by apiToken: [UInt8]?, in reader: some TokenReading
    ) throws -> Bool {
        guard container != self.container else { return true }
        return try apiToken.map { try reader.hasAPIToken(hash: $0, for: container, at: now) }
            ?? false
    }
}

extension WireError {
    /// Whether it concerns one share, and not all that the caller asks for now.
    var isAboutShare: Bool { code == .notFound || code == .badRequest }

    /// The app's token does not reach the container of a share that its user may open.
    static func elsewhere(_ container: ContainerKey) -> WireError {
        badRequest(
            "the share is of container '\(container.container)' "
                + "(\(container.environment.rawValue)), where this API token is not good: accept it "
                + "there"
        )
    }
}
