// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Exchanges an API token for a web token of the signed-in user, with which a web page or another
/// program can use the user's data in the container (ACCT-10).
///
/// The token is for a client of the Web Services API. The client should replace it by the token in
/// the header `X-Apple-CloudKit-Web-Auth-Token` of answers; otherwise it can use the token for half
/// an hour. API tokens are per container and environment (ENV-6). If both callbacks are set, only
/// the result block is called (OP-11).
/// See <https://developer.apple.com/documentation/cloudkit/ckfetchwebauthtokenoperation>.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable: see CKOperation.

    /// Creates an operation without an API token.
    public override init() {
        super.init()
    }

    /// Creates an operation.
    public convenience init(apiToken APIToken: String) {
        self.init()
        apiToken = APIToken
    }

    /// The API token to exchange; required.
    open var apiToken: String?

    /// Called once, with the web token.
    @available(*, deprecated, renamed: "fetchWebAuthTokenResultBlock")
    open var fetchWebAuthTokenCompletionBlock: ((String?, (any Error)?) -> Void)? {
        get { oldCompletionBlock }
        set { oldCompletionBlock = newValue }
    }

    /// Called once, with the web token.
    ///
    /// Fails with `notAuthenticated` if no user is signed in or the API token does not belong to
    /// the container, and with `invalidArguments` if the API token is missing.
    open var fetchWebAuthTokenResultBlock: ((_ operationResult: Result<String, any Error>) -> Void)?

    private var oldCompletionBlock: ((String?, (any Error)?) -> Void)?

    override func plan() -> OperationPlan {
        let container = containerConnection
        let apiToken = apiToken
        let completion = Completion<String>(fetchWebAuthTokenResultBlock) {
            [oldCompletionBlock] token, error in oldCompletionBlock?(token, error)
        }
        return RequestWork(completion: completion) { ledger throws(CKError) in
            guard let apiToken, !apiToken.isEmpty else {
                throw .local(
                    .invalidArguments,
                    "The operation has no API token: set apiToken to one of the container."
                )
            }
            return try await container.send(
                FetchWebAuthToken.self, .init(apiToken: apiToken), ledger.options
            ).value.webAuthToken
        }.plan
    }
}
