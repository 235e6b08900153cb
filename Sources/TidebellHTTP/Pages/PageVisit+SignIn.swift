// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
import TidebellWire

extension PageVisit {
    /// Signs a user in to this page alone, by the password of the form.
    ///
    /// - Parameter refused: The page for who is not let in.
    func signIn(refused: (WireError) -> HTML) async throws -> WebResponse {
        let known = try await account(refused: refused)
        return done(cookie: try await session(of: known, by: cookie, refused: refused))
    }

    /// Begins a session of somebody's on a page, and returns the header that sets its cookie.
    ///
    /// - Parameter cookie: The page's.
    func session(
        of known: KnownUser, by cookie: PageCookie, refused: (WireError) -> HTML
    ) async throws -> String {
        var cookie = cookie
        cookie.renew(from: cloud.randomness, for: known.signIn.account)
        let hash = cookie.sessionHash?.digest ?? []
        let now = cloud.time.now()
        do {
            try await cloud.store.write(.account(known.signIn.account), for: known.signIn.account) {
                [limits = cloud.limits] transaction in
                try known.check(in: transaction)
                try transaction.beginSession(
                    .page, hash, of: known.signIn.account, with: nil,
                    lifetime: PageSession.lifetime, notAfter: known.sessionEnd(at: now), in: nil,
                    limits: limits, at: now)
            }
        } catch let error as WireError {
            throw Self.refusal(error, refused)
        }
        return cookie.header(isSecure: isSecure)
    }

    /// Returns whose name and password the form has.
    func account(refused: (WireError) -> HTML) async throws -> KnownUser {
        let name = form?["user"] ?? ""
        do {
            return KnownUser(
                name: name,
                signIn: try await cloud.account(
                    named: name, password: form?["password"] ?? "", for: request))
        } catch let error as WireError {
            throw Self.refusal(error, refused)
        }
    }

    /// Returns the page for who is not let in.
    static func refusal(_ error: WireError, _ page: (WireError) -> HTML) -> PageRefusal {
        PageRefusal(error.retryAfter == nil ? 403 : error.code.status, page(error), because: error)
    }
}

/// Somebody who knew a password, or whom a provider knew.
struct KnownUser: Sendable {
    /// As they wrote it.
    var name: String
    var signIn: StoredSignIn
    /// Whether an identity provider says so, which is then asked again some day.
    var isByProvider = false

    /// When a session of theirs that begins now ends, however much it is used; nil for never.
    func sessionEnd(at now: Instant) -> Instant? {
        isByProvider ? now.advanced(by: WebTokenRules.longestByProvider) : nil
    }

    /// Fails where the password was changed or the account disabled meanwhile: no session begins.
    func check(in reader: some AccountReading) throws {
        guard try reader.signIn(calledBy: name) == signIn else { throw WireError.wrongPassword }
    }
}
