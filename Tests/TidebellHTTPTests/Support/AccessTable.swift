// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP
import TestSupport

/// A caller, with what it shows.
struct AccessCaller: Sendable, Hashable {
    /// The API token.
    enum Page: Sendable, Hashable, CaseIterable {
        case none, unknown, everywhere, here, inOtherContainer, inOtherEnvironment
        case revoked, expired
    }

    /// The web token.
    enum User: Sendable, Hashable, CustomStringConvertible {
        case none, unknown
        case token(Origin, State = .fresh)

        /// Where a token is from and where it is good: the operator's in all containers, the
        /// others here or elsewhere alone. A device's and a page's were got with an operator's.
        enum Origin: Sendable, Hashable, CaseIterable {
            case everywhere, here, device, page
            case inOtherContainer, deviceInOtherContainer, pageInOtherContainer
            case inOtherEnvironment, deviceInOtherEnvironment, pageInOtherEnvironment

            static let good: [Origin] = [.everywhere, .here, .device, .page]
        }

        /// Whether it has ended, and why.
        enum State: Sendable, Hashable, CaseIterable {
            case fresh, signedOut, expired, disabled, removed
        }

        static let all: [User] =
            [.none, .unknown]
            + Origin.good.flatMap { origin in State.allCases.map { .token(origin, $0) } }
            + Origin.allCases.filter { !Origin.good.contains($0) }.map { .token($0) }

        /// Whether it is a user's who may be here.
        var isGood: Bool {
            guard case .token(let origin, .fresh) = self else { return false }
            return Origin.good.contains(origin)
        }

        var description: String {
            switch self {
            case .none: "none"
            case .unknown: "unknown"
            case .token(let origin, let state): "\(origin)-\(state)"
            }
        }
    }

    var page: Page
    var user: User

    /// Every kind of page with every kind of user.
    static let all: [AccessCaller] = Page.allCases.flatMap { page in
        User.all.map { AccessCaller(page: page, user: $0) }
    }
}

/// What a caller gets that asks an endpoint: the rules of access.
enum AccessOutcome: Sendable, Hashable {
    case granted
    /// Nobody may call it there: the database has no such endpoint.
    case elsewhere
    /// `AUTHENTICATION_FAILED`: not an app of this container and environment.
    case notAnApp
    /// `AUTHENTICATION_REQUIRED`: not a user who may be here.
    case notAUser
    /// `ACCESS_DENIED`: a page's token gives no other that lives for longer.
    case notForPages

    /// First the app is looked at, then the user it brings, if any; only then whether the
    /// endpoint needs one. What has ended, or is of elsewhere, is as bad as unknown.
    init(_ access: WireAccess, in scope: DatabaseScope, for caller: AccessCaller) {
        switch caller.page {
        case .everywhere, .here: break
        case .none, .unknown, .inOtherContainer, .inOtherEnvironment, .revoked, .expired:
            self = .notAnApp
            return
        }
        switch caller.user {
        case let user where user.isGood: self = .granted
        case .token, .unknown: self = .notAUser
        case .none:
            switch access {
            case .anyone: self = .granted
            case .reader: self = scope == .public ? .granted : .notAUser
            case .user: self = .notAUser
            // These ask for nobody.
            case .admin, .url, .open: self = .granted
            }
        }
    }

    /// What an answer reveals of the access; nil for a failure of the server.
    init?(_ status: Int, _ error: WireError?) {
        switch (status, error?.code) {
        case (401, .authenticationFailed): self = .notAnApp
        case (403, .accessDenied)
        where error?.reason.hasPrefix("a web token that was fetched for a while") == true:
            self = .notForPages
        case (421, .authenticationRequired): self = .notAUser
        case (400, .badRequest) where error?.reason.hasPrefix("endpoint not applicable") == true:
            self = .elsewhere
        case (404, .notFound) where error?.reason.hasPrefix("could not find handler") == true:
            return nil
        case (401, _), (403, _), (421, _), (500..., _): return nil
        default: self = .granted
        }
    }
}

/// The tokens of all callers, in a cloud.
struct AccessTokens: Sendable {
    let api: TestAPI
    let container: ContainerKey
    private static let otherContainer = "iCloud.org.example.other"
    private let pages: [AccessCaller.Page: String]
    private var users: [AccessCaller.User: String]

    /// Makes the tokens, and ends those that are to have ended.
    init(_ api: TestAPI, in container: ContainerKey) async throws {
        self.api = api
        self.container = container
        let accounts = api.cloud.accounts
        if container.environment == .production {
            // As a deployment leaves it.
            try await api.cloud.store.write(.catalogue(container)) {
                try $0.addRecordTypes(["Note": StoredRecordType()], in: container)
            }
        }
        let otherContainer = ContainerKey(
            container: Self.otherContainer, environment: container.environment)
        let otherEnvironment = ContainerKey(
            container: container.container, environment: container.environment.other)
        var pages: [AccessCaller.Page: String] = [.unknown: "unknown"]
        pages[.everywhere] = try await accounts.makeAPIToken(named: "everywhere")
        pages[.here] = try await accounts.makeAPIToken(named: "here", for: container)
        pages[.inOtherContainer] = try await accounts.makeAPIToken(
            named: "other container", for: otherContainer
        )
        pages[.inOtherEnvironment] = try await accounts.makeAPIToken(
            named: "other environment", for: otherEnvironment
        )
        pages[.revoked] = try await accounts.makeAPIToken(named: "revoked", for: container)
        pages[.expired] = try await accounts.makeAPIToken(
            named: "expired", for: container, lifetime: .seconds(1)
        )
        let revoked = try await accounts.tokens(.api).filter { $0.name == "revoked" }
        for token in revoked { _ = try await accounts.revoke(.api, token.id) }

        self.pages = pages
        users = [.unknown: "unknown"]
        for state in AccessCaller.User.State.allCases {
            _ = try await accounts.add(named: "\(state)")
            for origin in AccessCaller.User.Origin.allCases {
                users[.token(origin, state)] = try await makeToken(origin, state)
            }
            for origin in AccessCaller.User.Origin.good {
                // Each of them was here before, as others have been.
                let caller = AccessCaller(page: .everywhere, user: .token(origin, state))
                let answer = try await api.send(
                    "GET", path("database", "public/users/caller") + query(of: caller))
                #expect(answer.status == 200, "\(caller.user) before its end")
            }
        }
        _ = try await accounts.signOut("signedOut")
        try await accounts.setDisabled(true, "disabled")
        try await accounts.remove(named: "removed")
        // Passes the short lifetimes, and what is remembered of a caller.
        api.clock.advance(by: CallerCache.lifetime)
    }

    /// Makes a token of the account of a state, which has not ended yet; a device's and a page's
    /// are got with one of the operator's that nothing else needs.
    private func makeToken(
        _ origin: AccessCaller.User.Origin, _ state: AccessCaller.User.State
    ) async throws -> String {
        let otherContainer = ContainerKey(
            container: Self.otherContainer, environment: container.environment)
        let otherEnvironment = ContainerKey(
            container: container.container, environment: container.environment.other)
        let scope: ContainerKey? =
            switch origin {
            case .everywhere: nil
            case .here, .device, .page: container
            case .inOtherContainer, .deviceInOtherContainer, .pageInOtherContainer: otherContainer
            case .inOtherEnvironment, .deviceInOtherEnvironment, .pageInOtherEnvironment:
                otherEnvironment
            }
        let lifetime = Duration.seconds(state == .expired ? 1 : 3600)
        let token = try await api.cloud.accounts.makeWebToken(
            for: "\(state)", in: scope, lifetime: lifetime)
        switch origin {
        case .everywhere, .here, .inOtherContainer, .inOtherEnvironment: return token
        case .device, .deviceInOtherContainer, .deviceInOtherEnvironment:
            return try await exchange(
                token, at: "account/signIn", in: scope, "{}", SignIn.Response.self, \.webAuthToken)
        case .page, .pageInOtherContainer, .pageInOtherEnvironment:
            return try await exchange(
                token, at: "account/webToken", in: scope, #"{"apiToken":"\#(api.apiToken)"}"#,
                FetchWebAuthToken.Response.self, \.webAuthToken)
        }
    }

    /// Gets a token for another one.
    private func exchange<Response: WireBody>(
        _ token: String, at endpoint: String, in scope: ContainerKey?, _ body: String,
        _: Response.Type, _ member: KeyPath<Response, String>
    ) async throws -> String {
        let scope = scope ?? container
        let answer = try await api.send(
            "POST",
            "/ext/1/\(scope.container)/\(scope.environment.rawValue)/\(endpoint)"
                + "?ckAPIToken=\(api.apiToken)&ckWebAuthToken=\(token)", body)
        return try JSONReader.read(Array(answer.text.utf8)) { try Response(from: &$0) }[
            keyPath: member]
    }

    /// The path of an endpoint.
    func path(_ root: String, _ endpoint: String) -> String {
        "/\(root)/1/\(container.container)/\(container.environment.rawValue)/\(endpoint)"
    }

    /// What a caller shows in the query.
    func query(of caller: AccessCaller) -> String {
        var query = "?clientId=device-\(caller.page)-\(caller.user)"
        if let page = pages[caller.page] { query += "&ckAPIToken=\(page)" }
        if let user = users[caller.user] { query += "&ckWebAuthToken=\(user)" }
        return query
    }

    /// The query for a sign-out, which takes a session that nothing else needs.
    func queryToSignOut(_ caller: AccessCaller) async throws -> String {
        guard case .token(let origin, let state) = caller.user, caller.user.isGood else {
            return query(of: caller)
        }
        var tokens = self
        tokens.users[caller.user] = try await makeToken(origin, state)
        return tokens.query(of: caller)
    }
}

extension CloudEnvironment {
    /// The other one of the two.
    fileprivate var other: CloudEnvironment {
        self == .production ? .development : .production
    }
}
