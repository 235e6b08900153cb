// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Logging
import TidebellCore
import TidebellWire

/// CloudKit Web Services: answers every request, from a socket or from the same
/// process.
///
/// The way of a request: UUID → route → method → tokens → endpoint; errors and
/// the headers that all answers have are put in on the way back.
package final class WebServices: Sendable {
    /// What the API works with.
    package let cloud: Cloud
    /// The URL under which clients reach the server; nil takes what each
    /// request's `Host` header names.
    package let publicURL: String?
    /// Where the apps are that shares are opened in.
    let shareApps: ShareAppLinks
    /// Whether whoever opens the sign-in page can be a user.
    package let allowsSignUp: Bool
    /// How long browsers that came by https come by nothing else (RFC 6797); nil does not say so.
    let strictTransport: Duration?
    private let authentication: Authentication
    private let callSurroundings: Call.Shared
    /// The path of ``publicURL``; empty for none.
    private let publicPath: String

    /// Creates the API of a cloud.
    package init(
        cloud: Cloud, publicURL: String? = nil, shareApps: ShareAppLinks = ShareAppLinks(),
        allowsSignUp: Bool = false, strictTransport: Duration? = nil
    ) {
        self.cloud = cloud
        self.publicURL = publicURL
        self.shareApps = shareApps
        self.allowsSignUp = allowsSignUp
        self.strictTransport = strictTransport
        authentication = Authentication(cloud: cloud)
        callSurroundings = cloud.callSurroundings()
        publicPath = publicURL.flatMap { URLComponents(string: $0)?.percentEncodedPath } ?? ""
    }

    /// Answers a request; never fails, whatever the request is.
    package func respond(to request: WebRequest) async -> WebResponse {
        let uuid = cloud.randomness.makeUUID().uuidString.lowercased()
        var response: WebResponse
        var account: AccountID?
        let isLogged = cloud.logger.logLevel <= .info
        let start = isLogged ? cloud.time.elapsed() : .zero
        if let page = Router.page(of: request.target) {
            response = await respond(to: request, at: page, uuid: uuid, countedFor: &account)
        } else {
            do {
                try request.checkHost()
                response =
                    request.method == .options
                    ? CrossOrigin.preflight(
                        for: request, opensNetwork: cloud.shares.limits.opensPrivateNetwork)
                    : try await answer(request, countedFor: &account)
            } catch {
                response = counted(
                    failure(error, of: request, uuid: uuid), for: account, of: request, uuid: uuid)
            }
            CrossOrigin.allow(request, in: &response)
            await response.compress(for: request)
        }
        response.headers[.requestUUID] = uuid
        if let strictTransport, request.isSecure {
            response.headers[.strictTransportSecurity] =
                "max-age=\(strictTransport.components.seconds)"
        }
        if isLogged {
            let duration = cloud.time.elapsed() - start
            log(response, to: request, uuid: uuid, after: duration, account: account)
        }
        return response
    }

    /// Logs a request in one line: what was answered, to whom, how long it took, and why not.
    private func log(
        _ response: WebResponse, to request: WebRequest, uuid: String, after duration: Duration,
        account: AccountID?
    ) {
        var metadata: Logger.Metadata = [
            "status": "\(response.status)",
            "milliseconds": "\((duration / .milliseconds(1) * 10).rounded() / 10)",
        ]
        if let account { metadata["account"] = "\(account.rawValue)" }
        if let failure = response.failure {
            metadata["code"] = "\(failure.code.rawValue)"
            // A reason may quote the path, in which a secret may stand.
            if !Self.hasSecretPath(request) {
                metadata["reason"] = "\(Self.line(failure.reason, to: Self.loggedReason))"
            }
        }
        cloud.logger.info(
            "request answered", metadata: Self.metadata(of: request, uuid: uuid, adding: metadata))
    }

    /// Bytes of an error's reason in the log.
    private static let loggedReason = 200

    private static let replacement: Unicode.Scalar = "\u{FFFD}"

    /// A text as part of a line of the log: what a client sent begins no line of its own.
    static func line(_ text: String, to length: Int) -> String {
        let scalars = text.unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Self.replacement
            default: scalar
            }
        }
        var line = String.UnicodeScalarView()
        line.append(contentsOf: scalars)
        return WireError.shortened(String(line), to: length)
    }

    /// Sets `account` to the caller's as soon as that is known: errors count for it, too.
    private func answer(
        _ request: WebRequest, countedFor account: inout AccountID?
    ) async throws -> WebResponse {
        let target = try RequestTarget(request.target)
        let destination = try Router.destination(of: target)
        try request.checkHead(for: destination.route)
        let route = destination.route
        switch destination {
        case .asset(let endpoint, let token):
            try cloud.shares.countRequest(cloud.shares.caller(nil, of: request))
            return try await endpoint.respond(
                to: request, token: token, baseURL: publicURL ?? request.baseURL, in: cloud
            )
        case .server(let endpoint, let argument):
            let caller = cloud.shares.caller(nil, of: request)
            try cloud.shares.countRequest(caller)
            _ = try await body(of: request, upTo: Self.ignoredBodyBytes, from: caller)
            var response = try await endpoint.respond(to: request, argument: argument, in: cloud)
            if case .bytes(let bytes) = response.body {
                response.share = try cloud.shares.bodies.share(
                    ofAnswer: bytes.count, to: caller, mayBeRefused: true)
            }
            return response
        case .container(let endpoint, let container, let scope):
            let exchange = try await exchange(
                request, target, route: route, container: container, scope: scope,
                countedFor: &account
            )
            if route.effect != .reads, route.methods.contains(.post),
                !(endpoint is any AnswerKeeping.Type)
            {
                try await exchange.claimSignature()
            }
            let fault = cloud.controls?.fault(for: route.path.action, in: container)
            if let fault, !fault.isAfterWork { throw fault.error }
            var response = try await endpoint.respond(to: exchange)
            if let fault { throw fault.error }
            if case .bytes(let bytes) = response.body {
                // The answer is there, and its request not needed any more: or a long one would
                // take the room of its own answer.
                exchange.bodyShare?.giveBack()
                response.share = try cloud.shares.bodies.share(
                    ofAnswer: bytes.count,
                    to: cloud.shares.caller(exchange.call.user?.account, of: request),
                    // A request that changed nothing, or nothing this time, can be sent again.
                    mayBeRefused: route.effect != .writes || response.isRepeated
                )
            }
            if let token = exchange.nextWebToken {
                response.headers[.webAuthToken] = token
            }
            return response
        case .control(let endpoint):
            let caller = cloud.shares.caller(nil, of: request)
            try cloud.shares.countRequest(caller)
            guard let controls = cloud.controls else { throw WireError.noEndpoint(target) }
            try await cloud.requireAdmin(request)
            let body = try await body(of: request, upTo: Self.adminBodyBytes, from: caller).bytes
            return try endpoint.respond(to: body, by: controls, in: cloud)
        case .admin(let endpoint, let container):
            let caller = cloud.shares.caller(nil, of: request)
            try cloud.shares.countRequest(caller)
            let author = try await cloud.requireAdmin(request)
            let body = try await body(of: request, upTo: endpoint.bodyBytes, from: caller).bytes
            return try await endpoint.respond(
                to: target, body, of: container, by: author, in: cloud)
        }
    }

    /// Bytes of a body that nobody looks at.
    private static let ignoredBodyBytes = 4096
    /// Bytes of the body of an operator's request.
    private static let adminBodyBytes = 64 * 1024

    /// What was sent, and what it counts for.
    typealias Body = (bytes: [UInt8], share: BodyBytes.Share?)

    /// Reads the body of a request whose head is in order, and returns with it what it counts for.
    ///
    /// The limit is that of its content: of a compressed one no more is expanded.
    func body(
        of request: WebRequest, upTo limit: Int, from caller: Caller?, isSignIn: Bool = false
    ) async throws -> Body {
        let sent = try await sentBody(of: request, upTo: limit, from: caller, isSignIn: isSignIn)
        return try content(of: sent, in: request, upTo: limit)
    }

    /// Returns the content of a body that may be compressed.
    private func content(of sent: Body, in request: WebRequest, upTo limit: Int) throws -> Body {
        guard try request.isCompressed(), !sent.bytes.isEmpty else { return sent }
        do {
            let bytes = try Gzip.expanded(sent.bytes, upTo: limit) { try sent.share?.add($0) }
            return (bytes, sent.share)
        } catch Gzip.Failure.tooLong {
            throw WireError.bodyTooLong(limit)
        } catch Gzip.Failure.damaged {
            throw WireError.badRequest("the body is not gzip, or not all of it")
        }
    }

    private func sentBody(
        of request: WebRequest, upTo limit: Int, from caller: Caller?, isSignIn: Bool = false
    ) async throws -> Body {
        switch request.body {
        case .bytes(let bytes) where bytes.count <= limit: return (bytes, nil)
        case .pending(let pending):
            let bodies = cloud.shares.bodies
            let share = isSignIn ? bodies.shareOfSignIn(of: caller) : bodies.share(of: caller)
            if case .account = caller { pending.isFromUser() }
            guard let bytes = try await pending.collect(upTo: limit, on: share) else { break }
            return (bytes, share)
        case .bytes, .tooLong, .stream: break
        }
        throw WireError.bodyTooLong(limit)
    }

    /// Looks at the head of a request, then reads its body.
    ///
    /// Before a token is seen, a request costs its head.
    private func exchange(
        _ request: WebRequest, _ target: RequestTarget, route: WireRoute,
        container: ContainerKey, scope: DatabaseScope, countedFor account: inout AccountID?
    ) async throws -> Exchange {
        let baseURL = publicURL ?? request.baseURL
        let signIn = SignInPage(
            baseURL: baseURL, container: container,
            apiToken: try? target.parameter(WireProtocol.apiToken))
        if request.headers[.requestKeyID] != nil {
            return try await signedExchange(
                request, target, route: route, scope: scope, signIn: signIn,
                countedFor: &account)
        }
        let webTokenHash = try target.parameter(WireProtocol.webAuthToken).map(Secret.webTokenHash)
        let caller = try await caller(
            of: request, target, webTokenHash, in: container, signIn: signIn)
        let user = caller.user
        account = user?.account
        if user == nil, route.access.needsUser(in: scope) {
            throw signIn.required
        }
        let clientID = try target.clientID()
        let body = try await body(
            of: request, upTo: cloud.limits.requestBytes,
            from: cloud.shares.caller(user?.account, of: request),
            isSignIn: route.access == .anyone
        )
        return exchange(
            request, target, by: caller, webTokenHash, scope: scope, clientID: clientID,
            signIn: signIn, body: body)
    }

    /// Looks at the head of a request that a program signed, reads its body, and only then knows
    /// whether the program has the key: so the body counts for an address, as those of strangers do.
    private func signedExchange(
        _ request: WebRequest, _ target: RequestTarget, route: WireRoute, scope: DatabaseScope,
        signIn: SignInPage, countedFor account: inout AccountID?
    ) async throws -> Exchange {
        let stranger = cloud.shares.caller(nil, of: request)
        let now = cloud.time.now()
        do {
            guard let signature = try RequestSignature(of: request, at: now) else {
                throw WireError.badSignature("there is none")
            }
            let key = try await authentication.key(of: signature, in: signIn.container)
            // To find out that a signature is wrong takes work.
            try cloud.shares.checkPace(of: stranger)
            let limit = cloud.limits.requestBytes
            let sent = try await sentBody(of: request, upTo: limit, from: stranger)
            let identity = try signature.identity(
                of: request.target, below: publicPath, body: sent.bytes, by: key.publicKey)
            let body = try content(of: sent, in: request, upTo: limit)
            let caller = try await authentication.caller(with: key, signIn: signIn, at: now)
            account = caller.user?.account
            try route.checkServerKey(
                in: scope, isInDatabase: WirePath.Root(target.segments) == .database)
            try cloud.shares.countRequest(cloud.shares.caller(account, of: request))
            return exchange(
                request, target, by: caller, key.webTokenHash,
                signature: VerifiedSignature(keyID: key.id, identity: identity), scope: scope,
                clientID: try target.clientID(), signIn: signIn, body: body)
        } catch let error as WireError {
            if account == nil { try cloud.shares.countRequest(stranger) }
            throw error
        }
    }

    private func exchange(
        _ request: WebRequest, _ target: RequestTarget, by caller: CallerCache.Caller,
        _ webTokenHash: WebTokenHash?, signature: VerifiedSignature? = nil, scope: DatabaseScope,
        clientID: String?, signIn: SignInPage, body: (bytes: [UInt8], share: BodyBytes.Share?)
    ) -> Exchange {
        let call = cloud.call(
            by: caller.user, session: caller.session, onlyContainer: caller.onlyContainer,
            clientID: clientID, in: signIn.container, scope,
            usesExtensions: request.usesExtensions, baseURL: signIn.baseURL, callSurroundings
        )
        return Exchange(
            services: self, request: request, target: target, call: call, baseURL: signIn.baseURL,
            webTokenHash: webTokenHash, signature: signature, nextWebToken: caller.nextWebToken,
            body: body.bytes, bodyShare: body.share
        )
    }

    /// Returns the caller, and counts the request as its own; one whose tokens are not good
    /// counts for its address.
    private func caller(
        of request: WebRequest, _ target: RequestTarget, _ webTokenHash: WebTokenHash?,
        in container: ContainerKey, signIn: SignInPage
    ) async throws -> CallerCache.Caller {
        let caller: CallerCache.Caller
        do {
            caller = try await authentication.caller(
                of: request, target, webTokenHash, in: container, signIn: signIn,
                at: cloud.time.now()
            )
        } catch let error as WireError {
            try cloud.shares.countRequest(cloud.shares.caller(nil, of: request))
            throw error
        }
        try cloud.shares.countRequest(cloud.shares.caller(caller.user?.account, of: request))
        return caller
    }
}

extension WebRequest {
    /// Whether the client opted into the extensions (web-services 9).
    var usesExtensions: Bool { headers.contains(.extensions) }

    /// Fails unless the method is the route's, and the body comes in a form that is read.
    func checkHead(for route: WireRoute) throws {
        if let coding = headers[.transferEncoding], !coding.isSameName(as: "chunked") {
            throw UnknownTransferCoding(coding: coding)
        }
        // A file is kept as it comes.
        if try isCompressed(), route.path.root == .assets {
            throw UnknownContentCoding(coding: "gzip", known: "identity")
        }
        guard route.methods.contains(where: { $0.rawValue == method.rawValue }) else {
            throw WrongMethod(allowed: route.methods)
        }
    }

    /// Fails unless the request names the host it is for, once (RFC 9112, 3.2); one of the same
    /// process need not.
    func checkHost() throws {
        guard needsHost else { return }
        let hosts = headers[values: .hostField]
        guard let host = hosts.first, hosts.count == 1 else {
            throw WireError.badRequest(
                "a request of HTTP/1.1 has one header 'Host', this one has \(hosts.count)")
        }
        guard host.isEmpty || Self.isHost(host) else {
            throw WireError.badRequest(
                "the header 'Host' is not the name and port of a server: "
                    + "'\(WireError.shortened(host))'")
        }
    }

    /// The URL of this server as the client wrote it.
    var baseURL: String {
        let scheme = isSecure ? "https" : "http"
        guard let host = headers[.hostField], Self.isHost(host) else {
            return "\(scheme)://localhost"
        }
        return "\(scheme)://\(host)"
    }

    private static func isHost(_ text: String) -> Bool {
        (1...hostLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@,\\\"<>".utf8.contains($0) }
    }

    /// The longest name in the domain name system, a colon and a port.
    private static let hostLength = 253 + 6
}

extension WireRoute {
    /// Fails unless a server-to-server key may call the endpoint there (web-services 2.1).
    ///
    /// - Parameter isInDatabase: Whether the path names a database.
    fileprivate func checkServerKey(in scope: DatabaseScope, isInDatabase: Bool) throws {
        if isInDatabase, scope != .public { throw WireError.closedToServerKeys }
        switch serverKeys {
        case .granted: return
        case .denied: throw WireError.closedToServerKeys
        case .notAuthenticated: throw WireError.noUsersForServerKeys
        }
    }
}

extension RequestTarget {
    /// The longest client ID; clients send UUIDs.
    private static let clientIDLength = 255

    /// The caller's device, if it names one (web-services 1.3).
    fileprivate func clientID() throws -> String? {
        guard let clientID = try parameter(WireProtocol.clientID) else { return nil }
        return try Self.checkedClientID(clientID)
    }

    /// Returns a client ID in NFC, by which it is the same for the store and for all else;
    /// fails for one that is longer than allowed or has U+0000, which is between the parts
    /// of names that are made of it.
    static func checkedClientID(_ clientID: String) throws -> String {
        guard clientID.utf8.count <= clientIDLength else {
            throw WireError.badRequest(
                "\(WireProtocol.clientID) '\(WireError.shortened(clientID))' is longer than "
                    + "\(clientIDLength) bytes"
            )
        }
        guard !clientID.utf8.contains(0) else {
            throw WireError.badRequest("\(WireProtocol.clientID) has the character U+0000")
        }
        // ASCII is in NFC, and all clients that make their IDs themselves send it.
        guard clientID.utf8.contains(where: { $0 >= 0x80 }) else { return clientID }
        return clientID.precomposedStringWithCanonicalMapping
    }
}
