// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

/// What all pages have, and the pages about what did not work.
enum PageTexts {
    /// Returns a whole page.
    ///
    /// - Parameters:
    ///   - title: What the browser calls it; it is kept in histories, so nothing that was shared.
    ///   - isWide: Whether there are tables in it.
    static func page(_ title: HTML, _ content: HTML, isWide: Bool = false) -> HTML {
        let width: HTML? = isWide ? " class=\"wide\"" : nil
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <title>\(title)</title>
            <style>\(HTML(stringLiteral: PageStyle.sheet))</style>
            </head>
            <body>
            <main\(width)>
            \(content)
            </main>
            </body>
            </html>

            """
    }

    /// Returns a form of the page that was visited.
    ///
    /// - Parameter action: What it asks for; nil where its buttons say that.
    static func form(_ action: String?, of visit: PageVisit, _ content: HTML) -> HTML {
        let action: HTML? = action.map { "<input type=\"hidden\" name=\"action\" value=\"\($0)\">" }
        return """
            <form method="post">
            <input type="hidden" name="\(PageCookie.formField)" value="\(visit.cookie.formToken)">
            \(action)
            \(content)
            </form>
            """
    }

    /// Returns the alert about a refused form; nil for none.
    static func alert(_ error: WireError?) -> HTML? {
        error.map { "<p class=\"alert\" id=\"alert\" role=\"alert\">\(reason(of: $0))</p>" }
    }

    /// Returns the fields that a user signs in with.
    static func signInFields(_ error: WireError?, name: String = "") -> HTML {
        let described = described(by: error)
        return """
            <label for="user">User name</label>
            <input id="user" name="user" autocomplete="username" autocapitalize="none" \
            spellcheck="false" required value="\(name)"\(described)>
            <label for="password">Password</label>
            <input id="password" name="password" type="password" \
            autocomplete="current-password" required\(described)>

            """
    }

    /// Returns the form by which a visitor signs in to a page of this server alone.
    static func signInForm(_ error: WireError?, of visit: PageVisit, name: String = "") -> HTML {
        form(
            nil, of: visit,
            """
            \(signInFields(error, name: name))
            <button name="action" value="sign-in">Sign in</button>
            \(providerButton(visit, "openid"))
            """)
    }

    /// The button that leads to the identity provider, where there is one. It is after the one of the Enter key, and
    /// asks for nothing to be typed.
    ///
    /// - Parameters:
    ///   - action: What the form asks for by it.
    ///   - isAlone: Whether there is no other way.
    static func providerButton(
        _ visit: PageVisit, _ action: String, isAlone: Bool = false
    ) -> HTML? {
        visit.cloud.provider.map { provider in
            let or: HTML? = isAlone ? nil : "<p class=\"or\">or</p>\n"
            let style: HTML? = isAlone ? nil : " class=\"second\""
            return """
                \(or)<button\(style) name="action" value="\(action)" formnovalidate>Sign in with \
                \(provider.configuration.name)</button>

                """
        }
    }

    /// Returns the field of a new password.
    static func newPasswordField(_ error: WireError?) -> HTML {
        let invalid: HTML? = error.map { _ in " aria-invalid=\"true\"" }
        return """
            <label for="new">New password</label>
            <input id="new" name="new" type="password" autocomplete="new-password" \
            minlength="\(String(PasswordRule.fewestCharacters))" required aria-describedby="rule"\(invalid)>
            <p class="hint" id="rule">At least \(String(PasswordRule.fewestCharacters)) characters.</p>

            """
    }

    private static func described(by error: WireError?) -> HTML? {
        error.map { _ in " aria-describedby=\"alert\" aria-invalid=\"true\"" }
    }

    private static func reason(of error: WireError) -> HTML {
        switch error.code {
        case .authenticationFailed: return "The user name or the password is wrong."
        case .authenticationRequired:
            return "This account was disabled by the operator of the server."
        case .throttled where error.bound == .signUps || error.bound == .signUpsPerAddress:
            return "That did not work: \(error.reason)"
        case .throttled, .tryAgainLater:
            let minutes = Int(((error.retryAfter ?? 0) / 60).rounded(.up))
            let time = minutes > 1 ? "in \(minutes) minutes" : "in a minute"
            return "There were too many attempts to sign in. Try again \(time)."
        default: return "That did not work: \(error.reason)"
        }
    }

    /// The page for a form that the page did not make, or made too long ago.
    static let foreignForm = page(
        "Not done",
        """
        <h1>Nothing was done</h1>
        <p>This form was not sent by the page itself, or its cookie is gone. Cookies have to be \
        allowed for this page.</p>
        <p><a href="?">Open the link again</a></p>
        """)

    /// Returns the page about an error; nil is one of the server's own.
    static func failed(_ error: WireError?, uuid: String) -> HTML {
        let reason: HTML
        switch error?.code {
        case .throttled?, .tryAgainLater?:
            reason = "The server has too much to do, or you asked too often. Try again in a moment."
        case nil, .internalError?: reason = "The server failed. Try again later."
        default: reason = "The server does not understand the request: \(error?.reason ?? "")"
        }
        return page(
            "Not done",
            """
            <h1>That did not work</h1>
            <p>\(reason)</p>
            <p><a href="?">Open the link again</a></p>
            <footer>Request \(uuid)</footer>
            """)
    }
}
