// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// Who calls, with what they show.
struct AccessCaller: Sendable, Hashable {
    /// The API token.
    enum Page: Sendable, Hashable, CaseIterable {
        case none, unknown, everywhere, here, inOtherContainer, inOtherEnvironment
        case revoked, expired
    }

    /// The web token: none, one of the operator's, or one that a device or a page got with it
    /// in this container and environment.
    enum User: Sendable, Hashable, CaseIterable {
        case none, unknown, everywhere, here, inOtherContainer, inOtherEnvironment
        case signedOut, expired, disabled, removed
        case signedOutDevice, expiredDevice, disabledDevice, removedDevice
        case signedOutPage, expiredPage, disabledPage, removedPage

        /// The tokens that end, with those that were got with them.
        static let ended: [(User, device: User, page: User)] = [
            (.signedOut, .signedOutDevice, .signedOutPage),
            (.expired, .expiredDevice, .expiredPage),
            (.disabled, .disabledDevice, .disabledPage),
            (.removed, .removedDevice, .removedPage),
        ]
    }

    var page: Page
    var user: User

    /// Every kind of user with a page that may call, and every kind of page with a user
    /// who may.
    static let all: [AccessCaller] =
        User.allCases.map { AccessCaller(page: .everywhere, user: $0) }
        + Page.allCases.filter { $0 != .everywhere }.flatMap { page in
            [User.none, .here, .removed].map { AccessCaller(page: page, user: $0) }
        }
}

/// What a caller gets who asks an endpoint: the rules of who may do what.
enum AccessOutcome: Sendable, Hashable {
    case granted
    /// Nobody may call it there: the database has no such endpoint.
    case elsewhere
    /// `AUTHENTICATION_FAILED`: not an app of this container and environment.
    case notAnApp
    /// `AUTHENTICATION_REQUIRED`: not a user who may be here.
    case notAUser

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
        case .everywhere, .here: self = .granted
        case .unknown, .inOtherContainer, .inOtherEnvironment, .signedOut, .expired, .disabled,
            .removed, .signedOutDevice, .expiredDevice, .disabledDevice, .removedDevice,
            .signedOutPage, .expiredPage, .disabledPage, .removedPage:
            self = .notAUser
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

    /// What an answer says of the access; nil for a failure of the server.
    init?(_ status: Int, _ error: WireError?) {
        switch (status, error?.code) {
        case (401, .authenticationFailed): self = .notAnApp
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
    private let pages: [AccessCaller.Page: String]
    private var users: [AccessCaller.User: String]

    /// Makes the tokens, and ends those that are to have ended.
    init(_ api: TestAPI, in container: ContainerKey) async throws {
        self.api = api
        self.container = container
        let accounts = api.cloud.accounts
        let otherContainer = ContainerKey(
            container: "iCloud.org.example.other", environment: container.environment
        )
        let otherEnvironment = ContainerKey(
            container: container.container,
            environment: container.environment == .production ? .development : .production
        )
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

        var users: [AccessCaller.User: String] = [.unknown: "unknown"]
        users[.everywhere] = try await accounts.add(named: "everywhere")
        users[.here] = try await accounts.makeWebToken(for: "everywhere", in: container)
        users[.inOtherContainer] = try await accounts.makeWebToken(
            for: "everywhere", in: otherContainer
        )
        users[.inOtherEnvironment] = try await accounts.makeWebToken(
            for: "everywhere", in: otherEnvironment
        )
        for user in [AccessCaller.User.signedOut, .disabled, .removed, .expired] {
            users[user] = try await accounts.add(
                named: "\(user)", tokenLifetime: .seconds(user == .expired ? 1 : 3600)
            )
        }
        self.pages = pages
        self.users = users
        for (user, device, page) in AccessCaller.User.ended {
            self.users[device] = try await token(
                "account/signIn", "{}", with: user, SignIn.Response.self, \.webAuthToken)
            self.users[page] = try await token(
                "account/webToken", #"{"apiToken":"\#(api.apiToken)"}"#, with: user,
                FetchWebAuthToken.Response.self, \.webAuthToken)
            // Each of them was here before, as others have been.
            for user in [user, device, page] {
                let answer = try await api.send(
                    "GET",
                    path("database", "public/users/caller")
                        + query(of: AccessCaller(page: .everywhere, user: user))
                )
                #expect(answer.status == 200, "\(user) before its end")
            }
        }
        _ = try await accounts.signOut("signedOut")
        try await accounts.setDisabled(true, "disabled")
        try await accounts.remove(named: "removed")
        // Passes the two short lifetimes, and what is remembered of a caller.
        api.clock.advance(by: CallerCache.lifetime)
    }

    /// Gets a token with that of a caller.
    private func token<Response: WireBody>(
        _ endpoint: String, _ body: String, with user: AccessCaller.User,
        _: Response.Type, _ token: KeyPath<Response, String>
    ) async throws -> String {
        let answer = try await api.send(
            "POST",
            path("ext", endpoint) + query(of: AccessCaller(page: .everywhere, user: user)), body)
        return try JSONReader.read(Array(answer.text.utf8)) { try Response(from: &$0) }[
            keyPath: token]
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

    /// The query for the next call: a sign-out takes a session that nothing else needs.
    func freshQuery(of caller: AccessCaller) async throws -> String {
        let container: ContainerKey? = caller.user == .here ? self.container : nil
        guard caller.user == .here || caller.user == .everywhere else { return query(of: caller) }
        var tokens = users
        tokens[caller.user] = try await api.cloud.accounts.makeWebToken(
            for: "everywhere", in: container
        )
        return AccessTokens(self, users: tokens).query(of: caller)
    }

    private init(_ tokens: AccessTokens, users: [AccessCaller.User: String]) {
        (api, container, pages) = (tokens.api, tokens.container, tokens.pages)
        self.users = users
    }
}
