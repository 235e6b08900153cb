// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/resolve` (web-services 5.7).
extension ResolveShares: Endpoint {
    /// Answers with what shares are.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        var response = try await exchange.resolve(request)
        let closed = response.results.compactMap {
            if case .failed(let guid, let error) = $0, error.code == .notFound { guid } else { nil }
        }
        if try await exchange.joinContainers(ofShares: closed) {
            response = try await exchange.resolve(request)
        }
        return .json { response.write(to: &$0) }
    }
}

extension Exchange {
    fileprivate func resolve(_ request: SharesRequest) async throws -> SharesResponse {
        try await look(within: call.limits.quickPage) {
            try ResolveShares.run(request, for: call, in: $0)
        }
    }

    /// Makes the caller a user of the containers of shares, where an address of theirs is invited and
    /// they never were: the first access of a container, as any request of its own would be (ACCT-5).
    /// Returns whether there was one.
    fileprivate func joinContainers(ofShares guids: [String]) async throws -> Bool {
        guard !guids.isEmpty else { return false }
        let account = try call.requireUser().account
        let places = try await cloud.store.read { reader in
            try guids.compactMap { guid -> SharePlace? in
                do {
                    return try AcceptShares.place(
                        ofShare: guid, openedBy: account, within: call.onlyContainer, in: reader)
                } catch is WireError {
                    return nil
                }
            }
        }
        for place in places where place.user == nil {
            _ = try await cloud.user(at: place, of: account, for: call) { try checkCaller(in: $0) }
        }
        return !places.isEmpty
    }
}
