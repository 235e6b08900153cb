// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TidebellCore
package import TidebellWire

/// The page on which users see where they are signed in, end that, and change their password.
extension ShowAccount: WebPage {
    package static var takesArgument: Bool { false }
    package static var isAboutAccount: Bool { true }

    /// Shows the sessions, or does what the page's forms ask for.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        let action = visit.form.flatMap { AccountPageTexts.Action(rawValue: $0["action"]) }
        guard let session = visit.session else {
            switch action {
            case .signIn:
                return try await visit.signIn { AccountPageTexts.signIn(visit, refused: $0) }
            case .openID: return try await visit.leave(for: .page(visit.path))
            default: return visit.answer(AccountPageTexts.signIn(visit))
            }
        }
        switch action {
        case .signOut:
            try await visit.end(session.id, of: session)
            return visit.done(cookie: visit.cookie.removal(isSecure: visit.isSecure))
        case .end:
            try await visit.end(SessionID(rawValue: visit.form?["session"] ?? ""), of: session)
            return visit.done()
        case .endOthers:
            try await visit.endOthers(of: session)
            return visit.done()
        case .password:
            try await visit.changePassword(of: session)
            return visit.done(cookie: visit.cookie.removal(isSecure: visit.isSecure))
        case .signIn, .openID: return visit.done()
        case nil: return visit.answer(try await visit.page(of: session))
        }
    }
}

extension PageVisit {
    fileprivate func page(of session: PageSession, refused error: WireError? = nil) async throws
        -> HTML
    {
        let now = cloud.time.now()
        let (sessions, signIn) = try await cloud.store.read {
            (
                try $0.sessions(
                    of: session.account, at: now, limit: AccountPageTexts.mostSessions),
                try $0.signIn(named: session.userName)
            )
        }
        return AccountPageTexts.account(
            sessions, self, session, hasPassword: signIn?.password != nil, refused: error)
    }

    /// Runs a write about the visitor's account, who is looked up again in it.
    private func write(
        of session: PageSession,
        _ body: @escaping @Sendable (any StoreTransaction, Instant) throws -> Void
    ) async throws {
        let now = cloud.time.now()
        try await cloud.store.write(.account(session.account), for: session.account) {
            transaction in
            guard request.presence?.hasLeft != true else { throw CancellationError() }
            guard let hash = cookie.sessionHash,
                try PageSession(hash: hash, in: transaction, at: now) == session
            else { throw PageRefusal(403, AccountPageTexts.signIn(self)) }
            try body(transaction, now)
        }
    }

    /// Ends a session of the visitor's; one that is over, or another's, is none.
    fileprivate func end(_ id: SessionID, of session: PageSession) async throws {
        try await write(of: session) { transaction, now in
            let own = try transaction.sessions(
                of: session.account, at: now, limit: ListSessions.mostListed)
            guard own.contains(where: { $0.id == id }) else { return }
            _ = try transaction.endTokens(.session(id), at: now)
        }
    }

    /// Ends all sessions of the visitor but the one of this page.
    fileprivate func endOthers(of session: PageSession) async throws {
        try await write(of: session) { transaction, now in
            while case let others = try transaction.sessions(
                of: session.account, at: now, limit: ListSessions.mostListed
            ).filter({ $0.id != session.id }), !others.isEmpty {
                for other in others { _ = try transaction.endTokens(.session(other.id), at: now) }
            }
        }
    }

    /// Sets another password, which ends all sessions, this one too, and the operator's tokens.
    fileprivate func changePassword(of session: PageSession) async throws {
        do {
            let known = try await cloud.account(
                named: session.userName, password: form?["password"] ?? "", for: request)
            let hash = try await cloud.hash(ofNew: form?["new"] ?? "", for: request)
            try await write(of: session) { transaction, now in
                guard try transaction.signIn(calledBy: session.userName) == known else {
                    throw WireError.wrongPassword
                }
                try transaction.setPassword(hash, of: session.account)
                _ = try transaction.endTokens(
                    .account(session.account, includingOperators: true), at: now)
            }
        } catch let error as WireError {
            let page = try await page(of: session, refused: error)
            throw PageVisit.refusal(error) { _ in page }
        }
    }
}
