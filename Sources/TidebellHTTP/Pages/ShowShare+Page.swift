// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// The page behind a share's URL: what is shared, by whom, and a way to take part (SHARE-16).
///
/// Nobody learns that there is a share who may not: until somebody signed in it is not looked for, and
/// then a URL that leads to nothing and a share that is closed to them look the same.
extension ShowShare: WebPage {
    /// The most bytes of the last part of a URL.
    private static let mostBytes = 64

    /// Whether it may be the last part of a share's URL, or of a one-time URL, which has two parts.
    private static func isLink(_ argument: String) -> Bool {
        argument.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            .allSatisfy { !$0.isEmpty && Base64URL.bytes($0) != nil }
    }

    /// Shows the share, or does what the page's forms ask for.
    package static func respond(to visit: PageVisit) async throws -> WebResponse {
        guard (1...mostBytes).contains(visit.argument.utf8.count),
            isLink(visit.argument)
        else { throw PageRefusal(404, SharePageTexts.noLink) }
        let action = visit.form.flatMap { SharePageTexts.Action(rawValue: $0["action"]) }
        guard let session = visit.session else {
            switch action {
            case .signIn:
                return try await visit.signIn { SharePageTexts.signIn(visit, refused: $0) }
            case .openID:
                return try await visit.leave(for: .page(visit.path))
            default: return visit.answer(SharePageTexts.signIn(visit))
            }
        }
        switch action {
        case .signOut:
            try await visit.cloud.store.write(.account(session.account), for: session.account) {
                try $0.removeSession(session.id)
            }
            return visit.done(cookie: visit.cookie.removal(isSecure: visit.isSecure))
        case .accept:
            try await visit.finding(by: session) { try await visit.accept(as: session) }
            return visit.done()
        case .signIn, .openID: return visit.done()
        case nil:
            return try await visit.finding(by: session) {
                visit.answer(
                    SharePageTexts.share(try await visit.share(as: session), visit, session))
            }
        }
    }
}

extension PageVisit {
    /// Returns what the visitor may know of the share.
    fileprivate func share(as session: PageSession) async throws -> ShareInvitation {
        let call = try await call(as: session)
        return try await cloud.store.read { [argument] reader in
            try ShareInvitation(
                ResolveShares.metadata(
                    of: ShortGUID(argument), to: session.account, for: call, in: reader),
                in: reader)
        }
    }

    /// Makes the visitor a participant of the share.
    fileprivate func accept(as session: PageSession) async throws {
        let call = try await call(as: session)
        let database = try await place(of: session).database
        try await cloud.store.writeInSteps(for: session.account, about: .database(database)) {
            [argument] steps in
            let zone = try steps.write(.database(database)) { transaction in
                try checkSession(in: transaction)
                return try AcceptShares.run(ShortGUID(argument), for: call, in: transaction).zone
            }
            try zone?.run(as: steps)
        }
    }

    private func place(of session: PageSession) async throws -> SharePlace {
        try await cloud.store.read { [argument] in
            try AcceptShares.place(
                ofShare: argument, openedBy: session.account, within: nil, in: $0)
        }
    }

    /// Returns a call in the container of the share, by the visitor as its user.
    private func call(as session: PageSession) async throws -> Call {
        let place = try await place(of: session)
        let call = cloud.call(
            by: nil, session: session.id, in: place.container, .public, baseURL: baseURL,
            cloud.callSurroundings())
        let user = try await cloud.user(at: place, of: session.account, for: call) {
            try checkSession(in: $0)
        }
        return call.acting(as: user, in: place.container)
    }

    /// Fails where the visitor's session ended meanwhile: nothing is written for them any more.
    private func checkSession(in transaction: any StoreTransaction) throws {
        let now = cloud.time.now()
        guard request.presence?.hasLeft != true else { throw CancellationError() }
        guard let hash = cookie.sessionHash,
            try PageSession(hash: hash, in: transaction, at: now) != nil
        else { throw PageRefusal(403, SharePageTexts.signIn(self)) }
    }

    /// Does something with the share; where there is none for the visitor, that is the page.
    fileprivate func finding<Result>(
        by session: PageSession, _ work: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await work()
        } catch let error as WireError where error.code == .notFound {
            throw PageRefusal(404, SharePageTexts.nothing(self, session), because: error)
        } catch let error as WireError where error.isAboutVerification {
            throw PageRefusal(403, SharePageTexts.unverified(self, session), because: error)
        }
    }
}

extension WireError {
    /// Whether somebody was invited by an address that may be the caller's (SHARE-19).
    fileprivate var isAboutVerification: Bool {
        detail?.ckCode == CKErrorCode.participantMayNeedVerification
    }
}
