// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import TidebellCore
import TidebellWire

extension WebServices {
    /// Answers a request for a page; never fails, whatever the request is.
    ///
    /// A page is made for whom its cookie names, so nothing of it is for pages of other origins:
    /// ``CrossOrigin`` is not asked.
    func respond(
        to request: WebRequest, at page: (page: any WebPage.Type, argument: String), uuid: String,
        countedFor account: inout AccountID?
    ) async -> WebResponse {
        var caller = cloud.shares.caller(nil, of: request)
        var response: WebResponse
        do {
            try request.checkHost()
            try request.checkHead(for: page.page.route)
            let visit = try await visit(request, to: page, countedFor: &caller)
            account = visit.session?.account
            response = try await page.page.respond(to: visit)
        } catch {
            response = self.page(for: error, of: request, uuid: uuid)
        }
        if case .bytes(let bytes) = response.body {
            do {
                response.share = try cloud.shares.bodies.share(
                    ofAnswer: bytes.count, to: caller, mayBeRefused: true)
            } catch {
                // There is no room even for saying so in a page.
                response = failure(error, of: request, uuid: uuid)
                response.headers[.contentType] = "text/plain; charset=utf-8"
                response.body = .bytes(Array("The server is busy: try again.\n".utf8))
            }
        }
        for field in PageStyle.headers where response.headers[field.name] == nil {
            if field.name == .openerPolicy, page.page.hasOpener { continue }
            response.headers[field.name] = field.value
        }
        return response
    }

    /// Finds out who visits, counts the request as theirs, and reads what they send.
    private func visit(
        _ request: WebRequest, to page: (page: any WebPage.Type, argument: String),
        countedFor caller: inout Caller?
    ) async throws -> PageVisit {
        let baseURL = publicURL ?? request.baseURL
        let name =
            page.page.takesArgument
            ? page.page.route.path.stem + page.argument : "/\(page.page.route.path.action)"
        let path = (URLComponents(string: baseURL)?.path ?? "") + name
        let key = page.page.isAboutAccount ? cloud.accountPageKey : cloud.sharePageKey
        var cookie = PageCookie(of: request, path: path, key: key)
        let session = try await session(of: cookie)
        caller = cloud.shares.caller(session?.account, of: request)
        try cloud.shares.countRequest(caller)
        let body = try await body(
            of: request, upTo: PageForm.mostBytes, from: caller, isSignIn: session == nil)
        var form: PageForm?
        if request.method == .post {
            let sent = try PageForm(body.bytes, of: request)
            guard request.isFromPage(of: baseURL), cookie.isOwn(sent) else {
                throw PageRefusal(403, PageTexts.foreignForm)
            }
            form = sent
        } else if cookie.secret == nil {
            cookie.renew(from: cloud.randomness)
        }
        return PageVisit(
            cloud: cloud, request: request, argument: page.argument,
            url: baseURL + name, baseURL: baseURL, cookie: cookie, session: session, form: form,
            shareApps: shareApps, target: try RequestTarget(request.target),
            allowsSignUp: allowsSignUp
        )
    }

    private func session(of cookie: PageCookie) async throws -> PageSession? {
        guard let hash = cookie.sessionHash else { return nil }
        let now = cloud.time.now()
        let session = try await cloud.store.read { try PageSession(hash: hash, in: $0, at: now) }
        if session != nil { cloud.tokenUses.note(.web(hash), at: now) }
        return session
    }

    /// Returns the page about an error.
    private func page(for error: any Error, of request: WebRequest, uuid: String) -> WebResponse {
        let refusal = error as? PageRefusal
        if let refusal, refusal.cause == nil {
            return .page(refusal.page, status: refusal.status)
        }
        let cause = refusal?.cause ?? error
        // What the API answers, with its status, and counted and logged alike.
        var response = failure(cause, of: request, uuid: uuid)
        if let refusal { response.status = refusal.status }
        let page = refusal?.page ?? PageTexts.failed(cause as? WireError, uuid: uuid)
        response.body = .bytes(Array(page.text.utf8))
        response.headers[.contentType] = "text/html; charset=utf-8"
        if let place = refusal?.formsLeadTo {
            response.headers[.contentSecurityPolicy] = PageStyle.policy(formsLeadTo: place)
        }
        return response
    }
}

extension WebRequest {
    /// Whether a form was sent by a page of this server, as far as the browser says.
    ///
    /// Browsers tell it by `Sec-Fetch-Site`, which they send by https and to their own machine.
    /// Elsewhere `Origin` is all there is, and that is `null` for pages that ask to send no referrer, as
    /// ours do. What is left then is that the cookie is sent by this site alone (`SameSite`) and
    /// the form's token, which only a page knows that was made for this browser.
    fileprivate func isFromPage(of baseURL: String) -> Bool {
        if let site = headers[.fetchSite] { return site == "same-origin" }
        guard let origin = headers[.origin], origin != "null" else { return true }
        return origin.authority == baseURL.authority
    }
}

extension String {
    /// Name and port of the host of a URL.
    fileprivate var authority: Substring {
        let start = range(of: "://")?.upperBound ?? startIndex
        return self[start...].prefix { $0 != "/" }
    }
}
