// SPDX-License-Identifier: Apache-2.0
package import Foundation
package import TidebellTransport
import TidebellWire

/// Signs users in and out on this device: what `tidebell login` and `logout` do.
///
/// The session is kept in `sessions.json` of the device's folder, for each container
/// and environment; programs that run see it within a second.
package struct DeviceLogin: Sendable {
    /// How a user shows who they are.
    package enum Proof: Sendable {
        /// A name and a password.
        case password(user: String, password: String)
        /// A web token of the server's command line; it is exchanged for one of the
        /// device.
        case webToken(String)
        /// A code that the device shows, and that the user enters on the server's page.
        case code(DeviceCodeProof)
    }

    /// A sign-in by a code.
    package struct DeviceCodeProof: Sendable {
        /// What the page calls the device.
        var deviceName: String?
        /// What is waited with from one question to the next.
        var clock: any Clock<Duration>
        /// Shows the user the page, the code and how many seconds it is good.
        var show: @Sendable (_ page: String, _ code: String, _ seconds: Int) -> Void

        /// Creates a proof.
        package init(
            deviceName: String?, clock: any Clock<Duration>,
            show: @escaping @Sendable (_ page: String, _ code: String, _ seconds: Int) -> Void
        ) {
            self.deviceName = deviceName
            self.clock = clock
            self.show = show
        }
    }

    /// The configuration from outside.
    private let configuration: DeviceConfiguration
    private let file: SessionFile
    private let transport: (@Sendable (URL) -> any Transport)

    /// Creates it for the device that environment variables describe.
    package init(
        environment variables: [String: String],
        transport: @escaping @Sendable (URL) -> any Transport = { HTTPTransport(server: $0) }
    ) throws(DeviceError) {
        configuration = try DeviceConfiguration.load(environment: variables)
        file = SessionFile(folder: DeviceConfiguration.stateFolder(variables))
        self.transport = transport
    }

    /// The environment where none is given.
    package var environment: String { configuration.environment }

    /// The address of the server where none is given.
    package var server: String { configuration.server.absoluteString }

    /// The container where none is given.
    package var defaultContainer: String? { configuration.defaultContainer }

    /// Whether an environment variable names a web token, which wins over all sessions.
    package var isOverridden: Bool { configuration.given.contains(.webAuthToken) }

    /// Returns the sessions of the device.
    package func sessions() throws(DeviceError) -> [SignedInSession] { try file.read() }

    /// Signs a user in to a container, replacing whoever was.
    ///
    /// - Parameters:
    ///   - server: The server's address; nil takes the configured one.
    ///   - apiToken: The API token of the container; nil takes the configured one, or one
    ///     of another session with the server.
    package func signIn(
        to container: String,
        environment: String? = nil,
        server: String? = nil,
        apiToken: String? = nil,
        with proof: Proof
    ) async throws(DeviceError) -> SignedInSession {
        var configuration = configuration
        if let server { configuration.server = try DeviceConfiguration.address(server) }
        configuration.environment = environment ?? configuration.environment
        let address = configuration.server
        let known = (try? sessions())?.last { $0.isAt(address) }?.apiToken
        configuration.apiToken = apiToken ?? configuration.apiToken ?? known
        guard let token = configuration.apiToken else {
            throw DeviceError(
                .notAuthenticated,
                "The API token of the container is missing: give it with --api-token-file or "
                    + "\(DeviceConfiguration.Variable.apiToken); the server's operator makes one "
                    + "with tidebell api-token create."
            )
        }
        var request = SignIn.Request()
        var code: DeviceCodeProof?
        switch proof {
        case .password(let user, let password):
            configuration.webAuthToken = nil
            request = SignIn.Request(user: user, password: password)
        case .webToken(let token): configuration.webAuthToken = token
        case .code(let proof):
            configuration.webAuthToken = nil
            code = proof
        }
        let answer: SignIn.Response
        do {
            let requests = requests(to: container, configuration)
            if let code {
                answer = try await requests.signIn(by: code)
            } else {
                answer = try await requests.send(SignIn.self, request).value
            }
        } catch {
            guard configuration.webAuthToken != nil, error.meansNoSession else { throw error }
            throw DeviceError(
                .notAuthenticated,
                "The server does not accept this web token in \(container) "
                    + "(\(configuration.environment)): it is unknown or has ended, or it was made "
                    + "for another container or environment; give --container and --environment as "
                    + "it was made."
            )
        }
        let session = SignedInSession(
            container: container,
            environment: configuration.environment,
            server: address.absoluteString,
            apiToken: token,
            webAuthToken: answer.webAuthToken,
            user: answer.user,
            userRecordName: answer.userRecordName
        )
        let before = (try? sessions())?.first { $0.hasSameAddress(as: session) }
        try file.change { sessions in
            sessions.removeAll { $0.hasSameAddress(as: session) }
            sessions.append(session)
        }
        // The old token is of no use any more; a server that cannot be reached refuses it when
        // it expires.
        if let before {
            try? await end(before, keepsDevice: before.hasSameAccount(as: session))
        }
        return session
    }

    /// Signs out of the containers that `isWanted` chooses. Works without the server too,
    /// which then refuses the tokens only when they expire.
    ///
    /// - Returns: The sessions that ended, with why the server does not know, if so.
    package func signOut(
        _ isWanted: @Sendable (SignedInSession) -> Bool
    ) async throws(DeviceError) -> [(session: SignedInSession, failure: DeviceError?)] {
        let ended = try sessions().filter(isWanted)
        guard !ended.isEmpty else { return [] }
        try file.change { sessions in
            sessions.removeAll { session in ended.contains { $0.hasSameAddress(as: session) } }
        }
        var results: [(session: SignedInSession, failure: DeviceError?)] = []
        for session in ended {
            do {
                try await end(session)
                results.append((session, nil))
            } catch {
                // An answer that nobody is signed in is what the caller wanted.
                results.append((session, error.meansNoSession ? nil : error))
            }
        }
        return results
    }

    /// How the server takes a session.
    package enum Status: String, Sendable {
        /// The server knows the user.
        case available
        /// The server does not know the session's token (any more).
        case noAccount
        /// The operator has disabled the account.
        case restricted
        /// The sign-in has expired.
        case temporarilyUnavailable
    }

    /// Asks the server how it takes a session; fails where it cannot be asked.
    package func status(of session: SignedInSession) async throws(DeviceError) -> Status {
        do {
            try keep(await requests(of: session).send(FetchCaller.self, EmptyBody()), of: session)
            return .available
        } catch {
            guard let status = error.refusedStatus else { throw error }
            return status
        }
    }

    /// What a user decides about being found by others (ACCT-6).
    package enum Decision: String, Sendable, CaseIterable {
        case show, grant, deny, reset
    }

    /// Reads or changes the signed-in user's decision in a container; nil before there is
    /// one.
    package func decide(
        _ decision: Decision,
        in container: String,
        environment: String
    ) async throws(DeviceError) -> String? {
        let session = try sessions().first {
            $0.container == container && $0.environment == environment
        }
        guard let session else {
            throw DeviceError(
                .notAuthenticated,
                "No user is signed in to \(container) (\(environment)): sign in with tidebell login."
            )
        }
        let action: ModifyPermission.Action =
            switch decision {
            case .show: .read
            case .grant: .grant
            case .deny: .deny
            case .reset: .reset
            }
        let answer = try await requests(of: session)
            .send(ModifyPermission.self, .init(.userDiscoverability, action))
        return keep(answer, of: session).answer?.rawValue
    }

    /// Keeps the token that takes the place of a session's; where it cannot be written the old one works on, and is
    /// renewed next time.
    @discardableResult
    private func keep<Value>(
        _ answer: DeviceRequests.Answer<Value>, of session: SignedInSession
    ) -> Value {
        if let token = answer.renewedToken {
            try? file.change { sessions in
                for index in sessions.indices
                where sessions[index].webAuthToken == session.webAuthToken {
                    sessions[index].webAuthToken = token
                }
            }
        }
        return answer.value
    }

    /// Ends a session's token, and the pushes of its user to this device unless the user
    /// stays.
    private func end(
        _ session: SignedInSession,
        keepsDevice: Bool = false
    ) async throws(DeviceError) {
        // The server forgets the device that asks: one it never knew, then.
        let device = keepsDevice ? NewIdentifier.make() : configuration.deviceID
        _ = try await requests(of: session, device: device).send(SignOut.self, EmptyBody())
    }

    private func requests(
        of session: SignedInSession,
        device: String? = nil
    ) throws(DeviceError) -> DeviceRequests {
        var configuration = configuration
        configuration.deviceID = device ?? configuration.deviceID
        configuration.server = try DeviceConfiguration.address(session.server)
        configuration.environment = session.environment
        configuration.apiToken = session.apiToken
        configuration.webAuthToken = session.webAuthToken
        return requests(to: session.container, configuration)
    }

    private func requests(
        to container: String, _ configuration: DeviceConfiguration
    ) -> DeviceRequests {
        DeviceRequests(
            container: container, configuration: configuration,
            transport: transport(configuration.server)
        )
    }
}

extension DeviceRequests {
    /// The longest wait from one question to the next, whatever the server says, in seconds.
    private static let longestInterval = 60

    /// Shows a code, and asks until the user has entered it.
    fileprivate func signIn(
        by proof: DeviceLogin.DeviceCodeProof
    ) async throws(DeviceError) -> SignIn.Response {
        let begun = try await send(
            BeginDeviceSignIn.self, .init(deviceName: proof.deviceName)
        ).value
        proof.show(begun.verificationURL, begun.userCode, begun.expiresIn)
        let interval = min(max(begun.interval, 1), Self.longestInterval)
        for _ in 0..<max(0, begun.expiresIn / interval) {
            do {
                try await proof.clock.sleep(for: .seconds(interval))
            } catch {
                throw DeviceError(.networkFailure, "The sign-in was broken off.")
            }
            let answer = try await send(
                FinishDeviceSignIn.self, .init(deviceCode: begun.deviceCode)
            ).value
            if case .signedIn(let response) = answer { return response }
        }
        throw DeviceError(.notAuthenticated, "The code was not entered in time.")
    }
}

extension DeviceError {
    /// Whether the server reports that the session of the request has ended, or that it never knew one: not that the
    /// API token is wrong, nor that the account is disabled.
    fileprivate var meansNoSession: Bool {
        guard case .refused(let error) = cause else { return false }
        switch error.ckErrorCode {
        case CKErrorCode.accountTemporarilyUnavailable: return true
        case CKErrorCode.notAuthenticated: return error.reason == WireProtocol.needsAuthorization
        default: return false
        }
    }
}
