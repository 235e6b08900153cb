// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
import TidebellScheduling
import TidebellWire

/// Turns the tokens of a request into its user (web-services 2).
struct Authentication: Sendable {
    private let store: any Store
    private let randomness: Randomness
    private let uses: TokenUses
    private let cache: CallerCache
    private let limits: Limits
    private let nextTokens = NextTokens()

    init(cloud: Cloud) {
        store = cloud.store
        uses = cloud.tokenUses
        cache = CallerCache(elapsed: cloud.time.elapsed)
        randomness = cloud.randomness
        limits = cloud.limits
    }

    /// Returns the caller, whose user is that of the request's web token, of which this has the
    /// hash.
    ///
    /// An unknown API token fails with `AUTHENTICATION_FAILED`, a web token that is
    /// unknown, of another container, expired or of a disabled account with
    /// `AUTHENTICATION_REQUIRED`.
    func caller(
        of request: WebRequest, _ target: RequestTarget, _ webTokenHash: WebTokenHash?,
        in container: ContainerKey, signIn: SignInPage, at now: Instant
    ) async throws -> CallerCache.Caller {
        guard let apiToken = try target.parameter(WireProtocol.apiToken) else {
            throw WireError(
                .authenticationFailed,
                "no auth method found: missing query parameter '\(WireProtocol.apiToken)'"
            )
        }
        let credentials = CallerCache.Credentials(
            container: container,
            apiTokenHash: Secret.hash(apiToken),
            webTokenHash: webTokenHash
        )
        if let known = limits.knownContainers, !known.contains(container.container) {
            throw WireError.unknownContainer(container)
        }
        return try await rememberedCaller(with: credentials, signIn: signIn, at: now)
    }

    private func rememberedCaller(
        with credentials: CallerCache.Credentials, signIn: SignInPage, at now: Instant
    ) async throws -> CallerCache.Caller {
        if let caller = cache.caller(with: credentials) { return caller }
        let caller = try await caller(with: credentials, signIn: signIn, at: now)
        cache.remember(caller, for: credentials)
        if let hash = credentials.apiTokenHash { uses.note(.kind(.api, hash), at: now) }
        if let hash = credentials.webTokenHash { uses.note(.web(hash), at: now) }
        return caller
    }

    /// Returns the key of a signature: its head is looked at before its body is read.
    func key(
        of signature: RequestSignature, in container: ContainerKey
    ) async throws -> StoredServerKey {
        // Its digits are compared as they are kept.
        let id = signature.keyID.lowercased()
        guard let key = try await store.read({ try $0.serverKey(id) }), key.container == container
        else { throw WireError.unknownServerKey(signature.keyID, in: container) }
        return key
    }

    /// Returns the user of a key whose signature is good.
    func caller(
        with key: StoredServerKey, signIn: SignInPage, at now: Instant
    ) async throws -> CallerCache.Caller {
        let credentials = CallerCache.Credentials(
            container: key.container, apiTokenHash: nil, webTokenHash: key.webTokenHash)
        do {
            return try await rememberedCaller(with: credentials, signIn: signIn, at: now)
        } catch let error as WireError where error.code == .authenticationRequired {
            throw WireError.unknownServerKey(key.id, in: key.container)
        }
    }

    /// What the store knows of a caller.
    private enum Found: Sendable {
        case noAPIToken
        case noAccount
        case refused(WireError)
        case anonymous
        case user(StoredUser, StoredWebToken)
        /// Something is to be written: the container's user, or the next web token.
        case unfinished(AccountID)
    }

    private func caller(
        with credentials: CallerCache.Credentials, signIn: SignInPage, at now: Instant
    ) async throws -> CallerCache.Caller {
        let found = try await store.read { reader in
            reader.readAhead { reader in
                let token = try credentials.webTokenHash.flatMap { try reader.webToken(hash: $0) }
                if let hash = credentials.apiTokenHash {
                    _ = try reader.hasAPIToken(hash: hash, for: credentials.container, at: now)
                }
                guard let token else { return }
                _ = try reader.user(of: token.account, in: credentials.container)
            }
            return try Self.find(credentials, in: reader, at: now)
        }
        switch found {
        case .noAPIToken: throw WireError.unknownAPIToken(credentials.container)
        case .noAccount: throw signIn.required
        case .refused(let error): throw signIn.leading(error)
        case .anonymous: return CallerCache.Caller(user: nil)
        case .user(let user, let token): return CallerCache.Caller(user, with: token)
        case .unfinished(let account):
            return try await finish(credentials, of: account, signIn: signIn, at: now)
        }
    }

    private static func find(
        _ credentials: CallerCache.Credentials,
        in reader: some TokenReading & SessionReading & UserReading, at now: Instant
    ) throws -> Found {
        // Whose the session is first: it may be in a cell of its own, which knows the API tokens, too.
        let session = try credentials.webTokenHash.flatMap { try reader.webToken(hash: $0) }
        if let hash = credentials.apiTokenHash {
            guard try reader.hasAPIToken(hash: hash, for: credentials.container, at: now)
            else { return .noAPIToken }
        }
        guard credentials.webTokenHash != nil else { return .anonymous }
        guard let token = session else { return .noAccount }
        do {
            try WebTokenRules.check(token, for: credentials.container, at: now)
        } catch let error as WireError {
            return .refused(error)
        }
        guard !WebTokenRules.isRenewalDue(of: token, at: now),
            let user = try reader.user(of: token.account, in: credentials.container)
        else { return .unfinished(token.account) }
        return .user(user, token)
    }

    /// Makes the container's user at the first access (ACCT-5), and the next web
    /// token when its time has come.
    private func finish(
        _ credentials: CallerCache.Credentials, of account: AccountID, signIn: SignInPage,
        at now: Instant
    ) async throws -> CallerCache.Caller {
        let recordName = Secret.makeUserRecordName(from: randomness)
        let secret = Secret.make(from: randomness)
        return try await store.write(.account(account), for: account) {
            [nextTokens, limits] transaction in
            // Asked once more: what ended in the meantime has no successor.
            guard let hash = credentials.webTokenHash,
                let token = try transaction.webToken(hash: hash)
            else { throw signIn.required }
            do {
                try WebTokenRules.check(token, for: credentials.container, at: now)
            } catch let error as WireError {
                throw signIn.leading(error)
            }
            let user = try transaction.joinContainer(
                credentials.container, as: token.account, recordName: recordName, limits: limits,
                at: now
            )
            // Of requests that come at the same time only one gets the next token.
            guard let lifetime = token.lifetime, WebTokenRules.isRenewalDue(of: token, at: now)
            else { return CallerCache.Caller(user, with: token) }
            let next = Secret.webToken(
                nextTokens.next(after: token, lifetime: lifetime, at: now, secret: secret),
                of: token.account)
            let nextHash = Secret.webTokenHash(next)
            if try transaction.webToken(hash: nextHash) == nil {
                try transaction.putWebToken(
                    WebTokenRules.successor(of: token, lifetime: lifetime, at: now),
                    hash: nextHash.digest
                )
            }
            try transaction.markWebTokenRenewed(hash: hash, at: now)
            var caller = CallerCache.Caller(user, with: token)
            caller.nextWebToken = next
            return caller
        }
    }
}

extension CallerCache.Caller {
    /// The user of a web token that is good.
    fileprivate init(_ user: StoredUser, with token: StoredWebToken) {
        self.init(user: user, session: token.session, onlyContainer: token.container)
    }
}

/// Where a user of a container can sign in.
struct SignInPage: Sendable {
    var baseURL: String
    var container: ContainerKey
    /// Which app asks: the page knows by it where it may tell who signed in.
    var apiToken: String?

    /// The error that sends the caller there (web-services 2.2).
    var required: WireError { leading(.authenticationRequired) }

    /// Adds the way to the page to an error.
    func leading(_ error: WireError) -> WireError {
        var error = error
        error.redirectURL =
            "\(baseURL)/sign-in?container=\(container.container)"
            + "&environment=\(container.environment.rawValue)"
            + (apiToken.map { "&\(WireProtocol.apiToken)=\(Self.escaped($0))" } ?? "")
        return error
    }
}

extension SignInPage {
    /// A text as a value of a query; tokens of ours need nothing.
    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension WireError {
    /// The API token is none of this container and environment (ENV-6).
    static func unknownAPIToken(_ container: ContainerKey) -> WireError {
        WireError(
            .authenticationFailed,
            "the API token is not known for container '\(container.container)' "
                + "(\(container.environment.rawValue))"
        )
    }
}

extension WireError {
    /// ERR-14: nobody made such a container.
    fileprivate static func unknownContainer(_ container: ContainerKey) -> WireError {
        .badRequest(
            "there is no container '\(shortened(container.container))'",
            ckCode: CKErrorCode.badContainer
        )
    }
}
