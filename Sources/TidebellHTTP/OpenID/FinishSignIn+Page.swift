// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Logging
import TidebellCore
package import TidebellWire

/// Where a provider sends the browser back to: the app is told as by the sign-in page.
extension FinishSignIn: WebPage {
    package static var hasOpener: Bool { true }
    package static var isAboutAccount: Bool { true }
    package static var takesArgument: Bool { false }

    /// Signs in whom the provider names.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        guard let provider = visit.cloud.provider else {
            throw PageRefusal(404, SignInPageTexts.noApp)
        }
        guard let state = try visit.target.parameter("state"),
            let (begun, secrets) = visit.begun(state)
        else { throw PageRefusal(403, SignInPageTexts.unknownVisit) }
        let app = try await visit.app(of: begun.purpose)
        let again = visit.url(of: begun.purpose, app)
        let failed = PageRefusal(403, SignInPageTexts.notSignedIn(by: provider, again: again))
        guard let code = try visit.target.parameter("code") else { throw failed }
        guard try await visit.isFirst(toBringBack: state) else {
            throw PageRefusal(403, SignInPageTexts.unknownVisit)
        }
        let token = try await visit.asking(provider, again: again) {
            try await provider.token(
                for: code, redirect: visit.openIDRedirect, nonce: secrets.nonce(for: state),
                verifier: secrets.verifier(for: state), from: visit.request.origin)
        }
        let known = try await visit.user(of: token)
        switch begun.purpose {
        case .app(let begun):
            guard let app else { throw failed }
            return try await visit.letIn(known, to: app, staysSignedIn: begun.staysSignedIn) { _ in
                failed.page
            }
        case .page(let path):
            guard let page = Router.page(of: path)?.page else { throw failed }
            return try await visit.letIn(known, to: page, at: path) { _ in failed.page }
        case .device(let code):
            try await visit.letIn(known, toDeviceWith: code)
            return .page(ShowDeviceSignIn.done, status: 200)
        }
    }
}

extension PageVisit {
    /// Where the provider sends the browser back to; it knows this URL.
    fileprivate var openIDRedirect: String { baseURL + openIDRedirectPath }
    private var openIDRedirectPath: String { "/\(FinishSignIn.route.path.action)" }

    /// Returns what a state says that this browser brings back, with what follows from the cookie that it was begun
    /// with; nil where it was not begun here, or too long ago.
    fileprivate func begun(_ state: String) -> (OpenIDVisit, OpenIDVisit.Secrets)? {
        let other = PageCookie(
            of: request, path: cookie.path, key: cloud.accountPageKey, named: PageCookie.visitName)
        // One that the browser does not have yet began nothing.
        for secret in [cookie.isNew ? nil : cookie.secret, other.secret] {
            guard let secret else { continue }
            let secrets = OpenIDVisit.Secrets(cookie: secret, key: cloud.accountPageKey)
            if let visit = OpenIDVisit(state, secrets, at: cloud.time.now()) {
                return (visit, secrets)
            }
        }
        return nil
    }

    /// Notes that a browser came back with a state; false where one did with the same before.
    fileprivate func isFirst(toBringBack state: String) async throws -> Bool {
        let (hash, now) = (Secret.hash(state), cloud.time.now())
        return try await cloud.store.write(.store) {
            try FinishedVisits.note(hash, at: now, in: $0)
        }
    }

    /// Returns the app that somebody signs in to, as its token has it by now; nil for what is none.
    fileprivate func app(of purpose: OpenIDVisit.Purpose) async throws -> SigningInApp? {
        guard case .app(let begun) = purpose else { return nil }
        let app = try await app(begun.container, apiToken: begun.apiToken, opener: begun.opener)
        guard app.signIn.offers(.provider) else {
            throw PageRefusal(403, SignInPageTexts.unknownVisit)
        }
        return app
    }

    /// Where somebody can try again.
    fileprivate func url(of purpose: OpenIDVisit.Purpose, _ app: SigningInApp?) -> String {
        switch purpose {
        case .app:
            "\(basePath)/\(ShowSignIn.route.path.action)"
                + (app.map(SignInPageTexts.query(of:)) ?? "")
        case .page(let path): basePath + path
        case .device(let code): "\(basePath)/\(ShowDeviceSignIn.route.path.action)?code=\(code)"
        }
    }

    /// Returns the page that leads to the provider.
    func leave(for purpose: OpenIDVisit.Purpose) async throws -> WebResponse {
        var back: PageCookie? = cookie
        var header: String?
        if case .app = purpose {
            // Its own cookie comes back with the browser.
        } else {
            back = cookie.derived(
                named: PageCookie.visitName, path: basePath + openIDRedirectPath)
            header = back?.header(isSecure: isSecure)
        }
        guard let provider = cloud.provider, let secret = back?.secret else {
            throw PageRefusal(403, PageTexts.foreignForm)
        }
        let secrets = OpenIDVisit.Secrets(cookie: secret, key: cloud.accountPageKey)
        let state = try OpenIDVisit(for: purpose, begunAt: cloud.time.now()).state(secrets)
        let again = url(of: purpose, try await app(of: purpose))
        let url = try await asking(provider, again: again) {
            try await provider.authorizationURL(
                redirect: openIDRedirect, state: state, nonce: secrets.nonce(for: state),
                verifier: secrets.verifier(for: state), for: request.origin)
        }
        var response = answer(SignInPageTexts.leaving(to: url, provider))
        if let header { response.headers[.setCookie] = header }
        return response
    }

    /// Signs somebody in to another page of this server alone, and leads there.
    fileprivate func letIn(
        _ known: KnownUser, to page: any WebPage.Type, at path: String,
        refused: (WireError) -> HTML
    ) async throws -> WebResponse {
        let key = page.isAboutAccount ? cloud.accountPageKey : cloud.sharePageKey
        let cookie = PageCookie(of: request, path: basePath + path, key: key)
        let header = try await session(of: known, by: cookie, refused: refused)
        return WebResponse(status: 303, headers: [.location: cookie.path, .setCookie: header])
    }

    /// Runs what asks a provider; why it does not work is for the operator to know, in the log.
    ///
    /// - Parameter again: Where the user can try again.
    fileprivate func asking<Value: Sendable>(
        _ provider: OpenIDProvider, again: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as WireError {
            throw error
        } catch {
            cloud.logger.warning(
                "a sign-in with the identity provider did not work",
                metadata: ["reason": "\(WireError.shortened("\(error)", to: 200))"])
            throw PageRefusal(403, SignInPageTexts.notSignedIn(by: provider, again: again))
        }
    }

    /// Returns the user whom a provider's token names; who comes for the first time gets an account.
    fileprivate func user(of token: IDToken) async throws -> KnownUser {
        let identity = token.identity
        let found = try await cloud.store.read { reader -> KnownUser? in
            guard let name = try reader.accountName(identifiedBy: identity),
                let known = try reader.signIn(named: name)
            else { return nil }
            return KnownUser(name: name, signIn: known, isByProvider: true)
        }
        if let found {
            guard !found.signIn.isDisabled else { throw WireError.accountDisabled }
            return found
        }
        // The provider vouches for each, and many may come from the address of a school.
        try cloud.newcomers.count(nil)
        let fallback = "user-" + Hex.text(cloud.randomness.makeBytes(8))
        let now = cloud.time.now()
        let (name, signIn) = try await cloud.store.write(.account(nil)) {
            try SignInByIdentity.run(
                identity, suggesting: token.names, or: fallback, at: now, in: $0)
        }
        return KnownUser(name: name, signIn: signIn, isByProvider: true)
    }
}
