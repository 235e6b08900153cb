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
        guard let secrets = visit.openIDSecrets,
            let state = try visit.target.parameter("state"),
            let begun = OpenIDVisit(state, secrets, at: visit.cloud.time.now())
        else { throw PageRefusal(403, SignInPageTexts.unknownVisit) }
        let app = try await visit.app(
            begun.container, apiToken: begun.apiToken, opener: begun.opener)
        let failed = PageRefusal(
            403,
            SignInPageTexts.notSignedIn(by: provider, again: SignInPageTexts.query(of: app)))
        guard let code = try visit.target.parameter("code") else { throw failed }
        guard provider.finish(state) else { throw PageRefusal(403, SignInPageTexts.unknownVisit) }
        let token = try await visit.asking(provider, for: app) {
            try await provider.token(
                for: code, redirect: visit.openIDRedirect, nonce: secrets.nonce(for: state),
                verifier: secrets.verifier(for: state), from: visit.request.origin)
        }
        let known = try await visit.user(of: token)
        return try await visit.letIn(
            known, to: app, staysSignedIn: begun.staysSignedIn, byProvider: true
        ) { _ in
            failed.page
        }
    }
}

extension PageVisit {
    /// Where the provider sends the browser back to; it knows this URL.
    var openIDRedirect: String { "\(baseURL)/\(FinishSignIn.route.path.action)" }

    /// What follows from this browser's cookie; nil without one.
    var openIDSecrets: OpenIDVisit.Secrets? {
        cookie.secret.map { OpenIDVisit.Secrets(cookie: $0, key: cloud.accountPageKey) }
    }

    /// Returns the page that leads to the provider.
    func leave(to app: SigningInApp) async throws -> HTML {
        guard let provider = cloud.provider, let secrets = openIDSecrets else {
            throw PageRefusal(403, PageTexts.foreignForm)
        }
        let visit = OpenIDVisit(
            container: app.container, apiToken: app.apiToken, opener: app.opener,
            staysSignedIn: staysSignedIn, begunAt: cloud.time.now())
        let state = visit.state(secrets)
        let url = try await asking(provider, for: app) {
            try await provider.authorizationURL(
                redirect: openIDRedirect, state: state, nonce: secrets.nonce(for: state),
                verifier: secrets.verifier(for: state), for: request.origin)
        }
        return SignInPageTexts.leaving(to: url, provider)
    }

    /// Runs what asks a provider; why it does not work is for the operator to know, in the log.
    func asking<Value: Sendable>(
        _ provider: OpenIDProvider, for app: SigningInApp, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as WireError {
            throw error
        } catch {
            cloud.logger.warning(
                "a sign-in with the identity provider did not work",
                metadata: ["reason": "\(WireError.shortened("\(error)", to: 200))"])
            throw PageRefusal(
                403,
                SignInPageTexts.notSignedIn(by: provider, again: SignInPageTexts.query(of: app)))
        }
    }

    /// Returns the user whom a provider's token names; who comes for the first time gets an account.
    func user(of token: IDToken) async throws -> KnownUser {
        let identity = token.identity
        let found = try await cloud.store.read { reader -> KnownUser? in
            guard let name = try reader.accountName(identifiedBy: identity),
                let known = try reader.signIn(named: name)
            else { return nil }
            return KnownUser(name: name, signIn: known)
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
        return KnownUser(name: name, signIn: signIn)
    }
}
