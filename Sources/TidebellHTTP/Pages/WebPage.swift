// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// A page for people with a browser, with or without script: the one kind of answer that is made
/// for whom a cookie names.
package protocol WebPage: WireEndpoint {
    /// Answers a visit; what the visitor caused is thrown as `WireError` or ``PageRefusal``.
    static func respond(to visit: PageVisit) async throws -> WebResponse
    /// Whether something follows its name in the path.
    static var takesArgument: Bool { get }
    /// Whether the page that opened it in a window of its own may be told something: others have no
    /// opener.
    static var hasOpener: Bool { get }
    /// Whether a sign-in to it is one to the user's account.
    static var isAboutAccount: Bool { get }
}

extension WebPage {
    package static var takesArgument: Bool { true }
    package static var hasOpener: Bool { false }
    package static var isAboutAccount: Bool { false }
}

/// A request of a browser for a page.
package struct PageVisit: Sendable {
    let cloud: Cloud
    let request: WebRequest
    /// What follows the page's name in the path.
    let argument: String
    /// The URL of the page as others can open it.
    let url: String
    /// The URL under which the browser reaches this server, without a slash at the end.
    let baseURL: String
    let cookie: PageCookie
    /// Who is signed in; nil for nobody.
    let session: PageSession?
    /// What was sent, by the page itself; nil for who only looks.
    let form: PageForm?
    let shareApps: ShareAppLinks
    /// The query of the request.
    let target: RequestTarget
    /// Whether whoever opens the sign-in page can be a user.
    let allowsSignUp: Bool

    /// The path of the page below ``baseURL``.
    var path: String { String(url.dropFirst(baseURL.count)) }
    /// The path of ``baseURL`` itself; empty without one.
    var basePath: String { String(cookie.path.dropLast(path.count)) }

    /// Whether browsers reach the server by https.
    var isSecure: Bool { baseURL.hasPrefix("https://") }

    /// Returns an answer that shows a page.
    ///
    /// - Parameter status: The HTTP status.
    func answer(_ page: HTML, status: Int = 200) -> WebResponse {
        var response = WebResponse.page(page, status: status)
        if cookie.isNew { response.headers[.setCookie] = cookie.header(isSecure: isSecure) }
        return response
    }

    /// Returns the answer to a form that was carried out: the browser shows the page anew.
    ///
    /// - Parameter cookie: The header that changes the page's cookie.
    func done(cookie: String? = nil) -> WebResponse {
        // Pages that come back to themselves have no query.
        var response = WebResponse(status: 303, headers: [.location: self.cookie.path])
        response.headers[.setCookie] = cookie
        return response
    }
}

/// A page that says why there is no other.
package struct PageRefusal: Error {
    var status: Int
    var page: HTML
    /// What the refusal is for those who count and log; nil for nothing.
    var cause: WireError?
    /// Where the answer to the page's form may lead beside this server.
    var formsLeadTo: String?

    init(_ status: Int, _ page: HTML, because cause: WireError? = nil) {
        self.status = status
        self.page = page
        self.cause = cause
    }
}

extension WebResponse {
    /// Returns an answer that shows a page.
    static func page(_ page: HTML, status: Int) -> WebResponse {
        WebResponse(
            status: status, headers: [.contentType: "text/html; charset=utf-8"],
            body: .bytes(Array(page.text.utf8)))
    }
}
