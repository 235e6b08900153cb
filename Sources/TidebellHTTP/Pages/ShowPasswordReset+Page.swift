// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// The page behind a link of the operator's, on which a user sets a new password, once.
extension ShowPasswordReset: WebPage {
    package static var isAboutAccount: Bool { true }

    private static let action = "set"

    /// Shows the form, or sets the password.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        let hash = Secret.resetLinkHash(visit.argument)
        let cloud = visit.cloud
        let now = cloud.time.now()
        guard
            let (account, name) = try await cloud.store.read({
                try ResetPassword.user(ofLink: hash, at: now, in: $0)
            })
        else { throw PageRefusal(404, noLink) }
        guard let form = visit.form, form["action"] == action else {
            return visit.answer(page(visit, name))
        }
        do {
            let password = try await cloud.hash(ofNew: form["new"], for: visit.request)
            let isSet = try await cloud.store.write(.account(account), for: account) {
                try ResetPassword.run(password, byLink: hash, at: now, in: $0)
            }
            guard isSet else { throw PageRefusal(404, noLink) }
        } catch let error as WireError {
            throw PageRefusal(error.code.status, page(visit, name, refused: error), because: error)
        }
        return visit.answer(done)
    }

    private static let noLink = PageTexts.page(
        "No such link",
        """
        <h1>This link is not valid any more</h1>
        <p>It was used already, it has expired, or part of it is missing. Ask the operator of this server for \
        a new one.</p>
        """)

    private static let done = PageTexts.page(
        "Password set",
        """
        <h1>The password is set</h1>
        <p role="status">You were signed out everywhere: sign in to your apps with the new password.</p>
        <p><a href="../account">Your account</a></p>
        """)

    private static func page(
        _ visit: PageVisit, _ name: String, refused error: WireError? = nil
    ) -> HTML {
        let fields: HTML = """
            <input type="hidden" name="user" value="\(name)" autocomplete="username">
            \(PageTexts.newPasswordField(error))
            <button>Set the password</button>
            """
        return PageTexts.page(
            "Set a new password",
            """
            <p class="above"><bdi>\(name)</bdi></p>
            <h1>Set a new password</h1>
            <p>This signs you out everywhere, and makes all your tokens invalid.</p>
            \(PageTexts.alert(error))
            \(PageTexts.form(action, of: visit, fields))
            """)
    }
}
