// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What the sign-in page says.
enum SignInPageTexts {
    /// What its forms ask for.
    enum Action: String {
        case signIn = "sign-in"
        case signUp = "sign-up"
        case openID = "openid"
    }

    /// Tells the page that opened this one, under both names that clients read (web-services 2.2). The
    /// browser hands it to pages of the named origins alone.
    static let script = """
        const { token, origins } = document.getElementById('result').dataset;
        if (window.opener) {
          for (const origin of origins.split(' ')) {
            window.opener.postMessage({ ckSession: token, ckWebAuthToken: token }, origin);
          }
          window.close();
        } else {
          document.getElementById('alone').hidden = false;
        }
        """

    /// The page for a visit that names no app of this server.
    static let noApp = PageTexts.page(
        "Sign in",
        """
        <h1>Open this page from an app</h1>
        <p>Apps open this page to let you sign in. The link that you opened does not belong to an app that \
        this server knows.</p>
        <p><a href="account">Your account</a> shows where you are signed in.</p>
        """)

    /// The page if nobody knows which page opened it.
    static let unknownOpener = PageTexts.page(
        "Sign in",
        """
        <h1>It is not known which page asks you to sign in</h1>
        <p>The page that opened this one did not send its origin, and its API token names none. Its developer \
        has to make a token that names an origin: <code>tidebell api-token create --origin</code>.</p>
        """)

    /// Returns the page for a page of another origin.
    static func closed(to origin: String) -> HTML {
        PageTexts.page(
            "Sign in",
            """
            <h1>This site may not ask you to sign in</h1>
            <p><strong>\(origin)</strong> asked you to sign in, but the app does not permit this site. Do not \
            give it your password. If it is your site: \
            <code>tidebell api-token create --origin \(origin)</code>.</p>
            """)
    }

    /// Returns the page with the form.
    static func form(
        _ app: SigningInApp, _ visit: PageVisit, refused error: WireError? = nil
    ) -> HTML {
        let title: HTML = app.isSignUp ? "Create an account" : "Sign in"
        let byPassword = app.signIn.offers(.password)
        let byProvider = app.signIn.offers(.provider) && visit.cloud.provider != nil
        guard byPassword || byProvider else { return noWay }
        let fields: HTML =
            app.isSignUp
            ? """
            <label for="user">User name</label>
            <input id="user" name="user" autocomplete="username" autocapitalize="none" spellcheck="false" \
            required value="\(visit.form?["user"] ?? "")">
            \(PageTexts.newPasswordField(error))
            """
            : PageTexts.signInFields(error, name: visit.form?["user"] ?? "")
        let action: Action = app.isSignUp ? .signUp : .signIn
        let kept: HTML? = visit.staysSignedIn ? " checked" : nil
        let button: HTML = "<button name=\"action\" value=\"\(action.rawValue)\">\(title)</button>"
        let content: HTML = """
            <input type="hidden" name="opener" value="\(app.opener ?? "")">
            \(byPassword ? fields : nil)
            <label class="check"><input type="checkbox" name="keep" value="1"\(kept)> Keep me signed in for two \
            weeks</label>
            \(byPassword ? button : nil)
            \(byProvider
                ? PageTexts.providerButton(visit, Action.openID.rawValue, isAlone: !byPassword) : nil)
            """
        return PageTexts.page(
            title,
            """
            <p class="above">\(app.container.container)\(environment(of: app))</p>
            <h1>\(title)</h1>
            <p>\(place(of: app)) gets access to your data in this app, but not your password.</p>
            \(PageTexts.alert(error))
            \(PageTexts.form(nil, of: visit, content))
            \(other(app, visit))
            <footer><a href="account">Your account</a> shows where you are signed in, and signs you out.</footer>
            """)
    }

    /// The page for an app whose users cannot sign in on this server.
    private static let noWay = PageTexts.page(
        "Sign in",
        """
        <h1>Nobody can sign in here</h1>
        <p>This app lets its users sign in with an identity provider alone, and this server has none. Its \
        developer has to make an API token that offers another way, or the operator to name a provider: \
        <code>tidebell serve --openid-issuer</code>.</p>
        """)

    /// Returns the page that leads to the provider, without a script and without a redirect, which the policy of the
    /// form would hold up.
    static func leaving(to url: String, _ provider: OpenIDProvider) -> HTML {
        PageTexts.page(
            "Sign in",
            """
            <meta http-equiv="refresh" content="0;url=\(url)">
            <h1>Continue to \(provider.configuration.name)</h1>
            <p><a class="button" href="\(url)">Continue</a></p>
            """)
    }

    /// Returns the page for somebody whom the provider did not sign in.
    ///
    /// - Parameter url: Where they can try again.
    static func notSignedIn(by provider: OpenIDProvider, again url: String) -> HTML {
        PageTexts.page(
            "Not signed in",
            """
            <h1>You are not signed in</h1>
            <p role="alert" class="alert">\(provider.configuration.name) did not sign you in, or could not be \
            reached.</p>
            <p><a href="\(url)">Try again</a></p>
            """)
    }

    /// The page for a browser that comes from a provider and was not sent there.
    static let unknownVisit = PageTexts.page(
        "Not signed in",
        """
        <h1>Nothing was done</h1>
        <p>This sign-in was not started in this browser, or too long ago. Open the app, or the page that you came \
        from, and sign in there. Your browser must allow cookies for this page.</p>
        """)

    private static func environment(of app: SigningInApp) -> HTML? {
        app.container.environment == .development ? " (development)" : nil
    }

    /// Who is told.
    private static func place(of app: SigningInApp) -> HTML {
        if let source = app.signIn.callbackSource { return "<strong>\(source)</strong>" }
        let names = app.targets.filter { $0 != AppSignIn.everyOrigin }
        guard !names.isEmpty else { return "The page that you came from" }
        return "<strong>\(names.joined(separator: ", "))</strong>"
    }

    /// The way to the other form, where there are two.
    private static func other(_ app: SigningInApp, _ visit: PageVisit) -> HTML? {
        guard visit.allowsSignUp, app.signIn.offers(.password) else { return nil }
        let query = query(of: app)
        return app.isSignUp
            ? "<p><a href=\"\(query)\">You have an account: sign in</a></p>"
            : "<p><a href=\"\(query + "&mode=sign-up")\">Create an account</a></p>"
    }

    /// The query of the sign-in page for an app.
    static func query(of app: SigningInApp) -> String {
        var query = "?container=\(app.container.container)"
        query += "&environment=\(app.container.environment.rawValue)"
        // Those of the server's making need no escapes, and no other was found.
        query += "&\(WireProtocol.apiToken)=\(app.apiToken)"
        if let opener = app.opener { query += "&origin=\(opener)" }
        return query
    }

    /// Returns the page that tells the app.
    static func told(_ app: SigningInApp, _ token: String) -> HTML {
        PageTexts.page(
            "Signed in",
            """
            <h1>You are signed in</h1>
            <p role="status" id="result" data-token="\(token)" data-origins="\(app.targets.joined(separator: " "))">\
            You can close this window and continue in the app.</p>
            <p class="alert" id="alone" hidden>The page that asked you to sign in is closed: open the app and \
            sign in there.</p>
            <noscript><p class="alert">JavaScript is turned off, so the app could not be notified. It would have \
            to use a callback URL.</p></noscript>
            <script>\(HTML(stringLiteral: script))</script>
            """)
    }
}
