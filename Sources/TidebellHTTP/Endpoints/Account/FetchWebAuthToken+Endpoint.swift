// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `account/webToken`, an extension: what `CKFetchWebAuthTokenOperation` calls
/// (ACCT-10).
extension FetchWebAuthToken: Endpoint {
    /// Makes a web token of the caller, for use with an API token of the container.
    ///
    /// NB: Apple's is good for one request, whose answer brings the next one; there,
    /// too, an older one works on. Ours lasts half an hour, and answers in its second
    /// half bring the next one.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let request = try exchange.read(Request.self)
        let (container, now) = (exchange.call.container, exchange.call.now)
        let account = try exchange.call.requireUser().account
        let secret = Secret.make(from: exchange.cloud.randomness)
        try await exchange.cloud.store.write(.account(account), for: account) { transaction in
            guard
                try transaction.hasAPIToken(
                    hash: Secret.hash(request.apiToken), for: container, at: now
                )
            else { throw WireError.unknownAPIToken(container) }
            let source = try exchange.webToken(in: transaction)
            try transaction.beginSession(
                .page, Secret.hash(secret), of: account, with: source,
                lifetime: WebTokenRules.fetchedLifetime, in: container,
                limits: exchange.call.limits, at: now
            )
        }
        let token = Secret.webToken(secret, of: account)
        return .json { Response(webAuthToken: token).write(to: &$0) }
    }
}
