// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellWire

/// What the page about a user's account says.
enum AccountPageTexts {
    /// The most sessions that are shown.
    static let mostSessions = 100

    /// What its forms ask for.
    enum Action: String {
        case signIn = "sign-in"
        case openID = "openid"
        case signOut = "sign-out"
        case end
        case endOthers = "end-others"
        case password
    }

    /// Returns the page for who is not signed in.
    static func signIn(_ visit: PageVisit, refused error: WireError? = nil) -> HTML {
        PageTexts.page(
            "Your account",
            """
            <h1>Sign in to your account</h1>
            \(PageTexts.alert(error))
            \(PageTexts.signInForm(error, of: visit, name: visit.form?["user"] ?? ""))
            <footer>You stay signed in for half an hour, on this page only. Who forgot the password asks the \
            operator of this server for a link.</footer>
            """)
    }

    /// Returns the page of who is signed in.
    static func account(
        _ sessions: [StoredSession], _ visit: PageVisit, _ session: PageSession,
        hasPassword: Bool, refused error: WireError? = nil
    ) -> HTML {
        let rows = sessions.reduce("" as HTML) { rows, other in
            "\(rows)\(row(other, visit, isThis: other.id == session.id))"
        }
        let fields: HTML = """
            <input type="hidden" name="user" value="\(session.userName)" autocomplete="username">
            <label for="password">Current password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required>
            \(PageTexts.newPasswordField(nil))
            <button class="second">Change the password</button>
            """
        let endOthers = PageTexts.form(
            Action.endOthers.rawValue, of: visit,
            "<button class=\"second\">End all others</button>")
        let change: HTML = """
            <p>A new password signs you out everywhere, including here.</p>
            \(PageTexts.form(Action.password.rawValue, of: visit, fields))
            """
        let noPassword: HTML = """
            <p>Your account has no password: you sign in with an identity provider. The operator of this server \
            can send you a link to set one.</p>
            """
        return PageTexts.page(
            "Your account",
            """
            <p class="above">Your account</p>
            <h1><bdi>\(session.userName)</bdi></h1>
            \(PageTexts.alert(error))
            <h2>Where you are signed in</h2>
            <ul class="rows">
            \(rows)
            </ul>
            \(sessions.count > 1 ? endOthers : nil)
            <h2>Password</h2>
            \(hasPassword ? change : noPassword)
            <footer>\(PageTexts.form(Action.signOut.rawValue, of: visit, "<button>Sign out</button>"))</footer>
            """)
    }

    private static func row(
        _ session: StoredSession, _ visit: PageVisit, isThis: Bool
    ) -> HTML {
        let what: HTML =
            switch session.origin {
            case .device: "A device"
            case .page where isThis: "This page"
            case .page where session.container == nil: "A page of this server"
            case .page: "A web page"
            case .operator: "A token that the operator made"
            case .reset: "A link for a new password"
            }
        let place: HTML? = session.container.map { container in
            let environment = container.environment == .development ? " (development)" : ""
            return " in \(container.container + environment)"
        }
        let used: HTML? = session.usedAt.map { ", used \(text($0))" }
        let content: HTML = """
            <input type="hidden" name="session" value="\(session.id.rawValue)">
            <button class="second" aria-label="End: \(what)\(place)">End</button>
            """
        let form: HTML? =
            isThis ? nil : PageTexts.form(Action.end.rawValue, of: visit, content)
        return """
            <li>\(what)\(place)
            <div class="above">Since \(text(session.createdAt))\(used)</div>
            \(form)
            </li>

            """
    }

    private static func text(_ moment: Instant) -> String {
        Date(timeIntervalSince1970: Double(moment.rawValue) / 1000)
            .formatted(
                .iso8601.year().month().day().dateTimeSeparator(.space).time(
                    includingFractionalSeconds: false)) + " UTC"
    }
}
