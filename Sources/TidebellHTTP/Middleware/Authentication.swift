// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// Turns the tokens of a request into its user (web-services 2).
struct Authentication: Sendable {
    private let store: any Store
    private let randomness: Randomness
    private let cache = CallerCache()

    init(cloud: Cloud) {
        store = cloud.store
        randomness = cloud.randomness
    }

    /// Returns the user of the request's web token, nil without one.
    ///
    /// An unknown API token fails with `AUTHENTICATION_FAILED`, an unknown or
    /// expired web token with `AUTHENTICATION_REQUIRED`.
    func user(
        of request: WebRequest, _ target: RequestTarget, in container: ContainerKey,
        signIn: SignIn, at now: Instant
    ) async throws -> StoredUser? {
        guard request.headers["X-Apple-CloudKit-Request-KeyID"] == nil else {
            throw WireError(
                .authenticationFailed, "server-to-server keys are not supported by this server"
            )
        }
        guard let apiToken = try target.parameter(WireProtocol.apiToken) else {
            throw WireError(
                .authenticationFailed,
                "no auth method found: missing query parameter '\(WireProtocol.apiToken)'"
            )
        }
        let credentials = CallerCache.Credentials(
            container: container,
            apiTokenHash: Secret.hash(apiToken),
            webTokenHash: try target.parameter(WireProtocol.webAuthToken).map(Secret.hash)
        )
        if let caller = cache.caller(with: credentials, at: now) { return caller.user }
        let caller = try await caller(with: credentials, signIn: signIn, at: now)
        cache.remember(caller, for: credentials, at: now)
        return caller.user
    }

    /// What the store knows of a caller.
    private enum Found: Sendable {
        case noAPIToken
        case noAccount
        case anonymous
        case newUser(AccountID)
        case user(StoredUser)
    }

    private func caller(
        with credentials: CallerCache.Credentials, signIn: SignIn, at now: Instant
    ) async throws -> CallerCache.Caller {
        switch try await store.read({ try Self.find(credentials, in: $0, at: now) }) {
        case .noAPIToken:
            throw WireError(
                .authenticationFailed,
                "the API token is not known for container '\(credentials.container.container)' "
                    + "(\(credentials.container.environment.rawValue))"
            )
        case .noAccount:
            throw signIn.required
        case .anonymous:
            return CallerCache.Caller(user: nil)
        case .user(let user):
            return CallerCache.Caller(user: user)
        case .newUser(let account):
            // ACCT-5: the first access makes the container's user.
            let recordName = Secret.makeUserRecordName(from: randomness)
            let user = try await store.write {
                try $0.makeUser(of: account, in: credentials.container, recordName: recordName)
            }
            return CallerCache.Caller(user: user)
        }
    }

    private static func find(
        _ credentials: CallerCache.Credentials, in reader: any StoreReader, at now: Instant
    ) throws -> Found {
        guard
            try reader.hasAPIToken(hash: credentials.apiTokenHash, for: credentials.container)
        else { return .noAPIToken }
        guard let webTokenHash = credentials.webTokenHash else { return .anonymous }
        guard let account = try reader.account(webTokenHash: webTokenHash, at: now) else {
            return .noAccount
        }
        guard let user = try reader.user(of: account, in: credentials.container) else {
            return .newUser(account)
        }
        return .user(user)
    }
}

/// Where a user of a container can sign in.
struct SignIn: Sendable {
    var baseURL: String
    var container: ContainerKey

    /// The error that sends the caller there (web-services 2.2).
    var required: WireError {
        var error = WireError.authenticationRequired
        error.redirectURL =
            "\(baseURL)/sign-in?container=\(container.container)"
            + "&environment=\(container.environment.rawValue)"
        return error
    }
}
