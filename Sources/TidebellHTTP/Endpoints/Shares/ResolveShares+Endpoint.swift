// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/resolve` (web-services 5.7).
extension ResolveShares: Endpoint {
    /// Answers with what shares are, of whatever container (SHARE-18).
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        var response = try await exchange.resolve(request)
        let closed = response.results.compactMap {
            if case .failed(let guid, let error) = $0, error.code == .notFound { guid } else { nil }
        }
        let places = try await exchange.places(ofShares: closed)
        if try await exchange.joinContainers(of: places.compactMap { try? $0.value.get() }) {
            response = try await exchange.resolve(request)
        }
        response.results = response.results.map { result in
            guard case .failed(let guid, _) = result, case .failure(let error)? = places[guid]
            else {
                return result
            }
            return .failed(shortGUID: guid, error.visible(to: exchange.call))
        }
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    fileprivate func resolve(_ request: SharesRequest) async throws -> SharesResponse {
        try await look(within: call.limits.quickPage) {
            try ResolveShares.run(request, for: self.call, in: $0)
        }
    }

    /// Returns where shares are that are open to the caller, who never was in their containers: an
    /// address of theirs is invited. Fails of one whose container the API token does not reach.
    fileprivate func places(
        ofShares guids: [String]
    ) async throws -> [String: Result<SharePlace, WireError>] {
        guard !guids.isEmpty else { return [:] }
        let account = try call.requireUser().account
        let apiToken = try apiTokenHash()
        return try await cloud.store.read { reader in
            var places: [String: Result<SharePlace, WireError>] = [:]
            for guid in guids {
                let place: SharePlace
                do {
                    place = try AcceptShares.place(
                        ofShare: guid, openedBy: account, within: self.call.onlyContainer,
                        in: reader)
                } catch is WireError {
                    continue
                }
                guard place.user == nil else { continue }
                let isReached = try self.call.reaches(place.container, by: apiToken, in: reader)
                places[guid] = isReached ? .success(place) : .failure(.elsewhere(place.container))
            }
            return places
        }
    }

    /// Makes the caller a user of the containers of shares, where they never were: the first access of
    /// a container, as any request of its own would be (ACCT-5). Returns whether there was one.
    fileprivate func joinContainers(of places: [SharePlace]) async throws -> Bool {
        let account = try call.requireUser().account
        for place in places {
            _ = try await cloud.user(at: place, of: account, for: call) {
                try self.checkCaller(in: $0)
            }
        }
        return !places.isEmpty
    }
}
