// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// The page on which the users of a web app sign in (web-services 2.2).
///
/// The app learns a web token and never the password. To whom it is told stands with the app's API
/// token: to the page that opened this one, if it is of an origin that may learn it, or by the callback
/// URL. Nobody stays signed in on this page: each app asks for the password, so that no page gets a
/// token by opening a window.
extension ShowSignIn: WebPage {
    package static var takesArgument: Bool { false }
    package static var hasOpener: Bool { true }
    package static var isAboutAccount: Bool { true }

    /// Shows the form, or signs in or up whom it was sent by.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        let app = try await visit.app()
        do {
            return try await respond(to: visit, for: app)
        } catch var refusal as PageRefusal {
            // Whoever tries again is led to the app by the form of this page.
            refusal.formsLeadTo = app.signIn.callbackSource
            throw refusal
        }
    }

    private static func respond(
        to visit: PageVisit, for app: SigningInApp
    ) async throws -> WebResponse {
        let action = visit.form.flatMap { SignInPageTexts.Action(rawValue: $0["action"]) }
        switch action {
        case nil:
            return visit.answer(SignInPageTexts.form(app, visit), for: app)
        case .signIn where !app.signIn.offers(.password),
            .signUp where !app.signIn.offers(.password),
            .openID where !app.signIn.offers(.provider):
            throw PageRefusal(403, PageTexts.foreignForm)
        case .signIn:
            let known = try await visit.account { SignInPageTexts.form(app, visit, refused: $0) }
            return try await visit.letIn(known, to: app, staysSignedIn: visit.staysSignedIn) {
                SignInPageTexts.form(app, visit, refused: $0)
            }
        case .signUp:
            guard visit.allowsSignUp else { throw PageRefusal(403, PageTexts.foreignForm) }
            let known = try await visit.signUp(to: app)
            return try await visit.letIn(known, to: app, staysSignedIn: visit.staysSignedIn) {
                SignInPageTexts.form(app, visit, refused: $0)
            }
        case .openID:
            return try await visit.leave(
                for: .app(
                    OpenIDVisit.App(
                        container: app.container, apiToken: app.apiToken, opener: app.opener,
                        staysSignedIn: visit.staysSignedIn)))
        }
    }
}

/// The app that a sign-in is for.
struct SigningInApp: Sendable {
    var container: ContainerKey
    var apiToken: String
    var signIn: AppSignIn
    /// The origins that the result is told to.
    var targets: [String]
    /// The origin of the page that opened this one, where that is known.
    var opener: String?
    /// Whether the form of new users is shown.
    var isSignUp: Bool
}

extension PageVisit {
    /// Returns the app that a visit is for; where there is none, or where its page may not learn who
    /// signs in, that is the page.
    fileprivate func app() async throws -> SigningInApp {
        guard let name = try target.parameter("container"), Identifier.isContainer(name),
            let environment = try target.parameter("environment").flatMap(
                CloudEnvironment.init(rawValue:)),
            let text = try target.parameter(WireProtocol.apiToken)
        else { throw PageRefusal(404, SignInPageTexts.noApp) }
        var app = try await app(
            ContainerKey(container: name, environment: environment), apiToken: text,
            opener: try opener())
        app.isSignUp = try allowsSignUp && target.parameter("mode") == "sign-up"
        return app
    }

    /// Returns the app that is named, likewise.
    func app(
        _ container: ContainerKey, apiToken text: String, opener: String?
    ) async throws -> SigningInApp {
        if let known = cloud.limits.knownContainers, !known.contains(container.container) {
            throw PageRefusal(404, SignInPageTexts.noApp)
        }
        let now = cloud.time.now()
        let hash = Secret.hash(text)
        let token = try await cloud.store.read { try $0.token(hash: hash, .api) }
        guard let token, token.isValid(at: now), (token.container ?? container) == container else {
            throw PageRefusal(404, SignInPageTexts.noApp)
        }
        var app = SigningInApp(
            container: container, apiToken: text, signIn: token.signIn, targets: [], opener: opener,
            isSignUp: false)
        guard app.signIn.callback == nil else { return app }
        if let opener = app.opener {
            guard app.signIn.allows(opener, own: AppSignIn.origin(of: baseURL)) else {
                throw PageRefusal(403, SignInPageTexts.closed(to: opener))
            }
            app.targets = [opener]
        } else if let origins = app.signIn.origins {
            app.targets = origins
        } else {
            throw PageRefusal(403, SignInPageTexts.unknownOpener)
        }
        return app
    }

    /// The origin of the page that opened this one, as that or the browser says; nil where neither
    /// does.
    ///
    /// Whatever is said here decides only whom the browser is asked to tell, and that has to be an origin
    /// that may learn it: the browser tells a page of that origin and no other.
    private func opener() throws -> String? {
        if let form { return AppSignIn.origin(of: form["opener"]) }
        if let text = try target.parameter("origin") { return AppSignIn.origin(of: text) }
        guard let origin = request.headers[.referer].flatMap(AppSignIn.origin(of:)),
            origin != AppSignIn.origin(of: baseURL) || request.headers[.fetchSite] == "same-origin"
        else { return nil }
        return origin
    }

    /// Returns an answer that shows a page of the sign-in, whose form may lead to the app.
    fileprivate func answer(_ page: HTML, for app: SigningInApp) -> WebResponse {
        var response = answer(page)
        response.headers[.contentSecurityPolicy] = PageStyle.policy(
            formsLeadTo: app.signIn.callbackSource)
        return response
    }

    /// Makes a user of whoever sent the form.
    fileprivate func signUp(to app: SigningInApp) async throws -> KnownUser {
        let form = form
        let name = form?["user"] ?? ""
        do {
            do {
                // What nobody can take costs nothing, and tells nothing: it is not counted.
                try SignUp.check(name, password: form?["new"] ?? "")
                try cloud.signUps.count(request.origin)
                try await cloud.store.read { try SignUp.check(name, in: $0) }
                let hash = try await cloud.hash(ofNew: form?["new"] ?? "", for: request)
                let now = cloud.time.now()
                return KnownUser(
                    name: name,
                    signIn: try await cloud.store.write(.account(nil)) {
                        try SignUp.run(named: name, password: hash, at: now, in: $0)
                    })
            } catch let error as OperatorError {
                throw WireError(error)
            }
        } catch let error as WireError {
            throw PageRefusal(
                error.code.status, SignInPageTexts.form(app, self, refused: error), because: error)
        }
    }

    /// Whether whoever sent the form wants to stay signed in.
    var staysSignedIn: Bool { form?["keep"] == "1" }

    /// Makes a web token for whoever proved who they are, and tells the app.
    func letIn(
        _ known: KnownUser, to app: SigningInApp, staysSignedIn: Bool,
        refused: (WireError) -> HTML
    ) async throws -> WebResponse {
        let secret = Secret.make(from: cloud.randomness)
        let recordName = Secret.makeUserRecordName(from: cloud.randomness)
        let lifetime =
            staysSignedIn ? WebTokenRules.keptLifetime : WebTokenRules.fetchedLifetime
        let now = cloud.time.now()
        let account = known.signIn.account
        do {
            try await cloud.store.write(.account(account), for: account) {
                [limits = cloud.limits] transaction in
                try known.check(in: transaction)
                try transaction.beginSession(
                    .page, Secret.hash(secret), of: account, with: nil, lifetime: lifetime,
                    notAfter: known.sessionEnd(at: now), in: app.container, limits: limits,
                    at: now)
                _ = try transaction.joinContainer(
                    app.container, as: account, recordName: recordName, limits: limits, at: now)
            }
        } catch let error as WireError {
            throw PageVisit.refusal(error, refused)
        }
        let token = Secret.webToken(secret, of: account)
        if let url = app.signIn.callback(with: token) {
            return WebResponse(status: 303, headers: [.location: url])
        }
        var response = answer(SignInPageTexts.told(app, token))
        response.headers[.contentSecurityPolicy] = PageStyle.policy(script: SignInPageTexts.script)
        return response
    }
}
