// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Who is signed in on a device, as far as it knows, and what follows from what it learns
/// (ACCT-2).
///
/// A value without I/O: ``DeviceAccounts`` reads and writes the file of `tidebell login`,
/// and does what this returns.
struct KnownAccounts: Sendable {
    /// What to do after something was learned.
    enum Action: Equatable, Sendable {
        case nothing
        /// Look at the file from time to time, from now on.
        case watchFile
        /// Replace the token that a request was sent with, in the file, by the renewed one.
        case replaceInFile(old: String, new: String)
        /// Notify the app that the server treats an account differently than before.
        case notifyApp
        /// Notify the app, and whoever listens to the pushes of a user, that somebody signed in
        /// or out.
        case notifyAppAndListeners
    }

    /// A look at the file that has begun.
    struct Reading: Sendable {
        fileprivate let number: Int
        fileprivate let stamp: SessionFile.Stamp?
    }

    /// A container that the program uses.
    private struct Followed {
        var account: DeviceAccount?
        /// The token the standing is of.
        var token: String?
        var standing = AccountStanding.unknown
    }

    /// Who signed in to all containers by a call, which wins over file and configuration.
    private enum Override {
        case none
        case nobody
        case user(name: String, token: String)
    }

    private let base: Result<DeviceConfiguration, CKError>
    /// Whether sessions come from a file.
    private let hasFile: Bool
    private var isWatching = false
    private var followed: [String: Followed] = [:]
    /// Whether the container is followed that somebody signs in to first.
    private var followsOnlyContainer = false
    /// What the file held, and which file that was.
    private var sessions: Result<[SignedInSession], CKError> = .success([])
    private var stamp: SessionFile.Stamp?
    private var begunReadings = 0
    private var lastReading = 0
    private var override = Override.none
    /// The tokens that replaced those of the configuration.
    private var renewed: [String: String] = [:]

    /// Begins with a configuration.
    init(_ base: Result<DeviceConfiguration, CKError>, hasFile: Bool) {
        self.base = base
        self.hasFile = hasFile
    }

    // MARK: - What is known

    /// Returns who is signed in to a container.
    func account(of container: String) -> DeviceAccount? {
        if let known = followed[container] { return known.account }
        return (try? configuration(of: container))?.account
    }

    /// Returns how the server took the last request for a container.
    func standing(in container: String) -> AccountStanding {
        followed[container]?.standing ?? .unknown
    }

    /// The container that signing in made the default: the only one.
    var onlyContainer: String? {
        let names = Set(fileSessions.map(\.container))
        return names.count == 1 ? names.first : nil
    }

    /// The containers somebody is signed in to on this device, sorted.
    var signedInContainers: [String] { Set(fileSessions.map(\.container)).sorted() }

    private var fileSessions: [SignedInSession] { (try? sessions.get()) ?? [] }

    // MARK: - Following

    /// Begins to report changes in a container.
    mutating func follow(_ container: String) -> Action {
        if followed[container] == nil {
            followed[container] = Followed(account: (try? configuration(of: container))?.account)
        }
        return watch()
    }

    /// Begins to report changes in the container that somebody signs in to first.
    mutating func followOnlyContainer() -> Action {
        followsOnlyContainer = true
        return watch()
    }

    private mutating func watch() -> Action {
        guard hasFile, !isWatching else { return .nothing }
        isWatching = true
        return .watchFile
    }

    // MARK: - The file

    /// Begins to read the file, which has a stamp; nil when it is the one that is known.
    mutating func beginReading(_ stamp: SessionFile.Stamp?) -> Reading? {
        guard stamp != self.stamp else { return nil }
        begunReadings += 1
        return Reading(number: begunReadings, stamp: stamp)
    }

    /// Takes what the file held, unless it was read again meanwhile: what was read first
    /// must not come back.
    mutating func take(
        _ sessions: Result<[SignedInSession], CKError>, from reading: Reading
    ) -> Action {
        guard reading.number > lastReading else { return .nothing }
        lastReading = reading.number
        stamp = reading.stamp
        self.sessions = sessions
        return settle()
    }

    // MARK: - What servers answer

    /// Takes note of how the server took a request with a token.
    mutating func learn(
        _ standing: AccountStanding, of token: String, in container: String
    ) -> Action {
        guard var known = followed[container],
            let (configuration, _) = try? configuration(of: container),
            configuration.webAuthToken == token
        else { return .nothing }
        let before = known.standing
        known.standing = standing
        known.token = token
        followed[container] = known
        return before != .unknown && before != standing ? .notifyApp : .nothing
    }

    /// Replaces the token that a request was sent with by the one that its answer brought.
    ///
    /// Of several processes and requests whose answers bring one, the first counts: the
    /// others compare, and find the old token gone.
    mutating func renew(_ old: String, by new: String, in container: String) -> Action {
        if hasFile, fileSessions.contains(where: { $0.webAuthToken == old }) {
            return .replaceInFile(old: old, new: new)
        }
        if let current = try? configuration(of: container).0.webAuthToken, current == old {
            let original = renewed.first { $0.value == old }?.key ?? old
            renewed[original] = new
        }
        return .nothing
    }

    // MARK: - Signing in by a call

    /// Signs a user in to all containers.
    mutating func signIn(token: String, user: String) -> Action {
        override = .user(name: user, token: token)
        return settle()
    }

    /// Signs everybody out.
    mutating func signOut() -> Action {
        override = .nobody
        return settle()
    }

    /// Compares every container with what was reported of it last.
    private mutating func settle() -> Action {
        var hasChanged = false
        if followsOnlyContainer, let container = onlyContainer {
            followsOnlyContainer = false
            // Nobody was signed in to it until now.
            if followed[container] == nil { followed[container] = Followed(account: nil) }
        }
        for (container, known) in followed {
            // A file that cannot be read does not show who is signed in.
            guard let (configuration, account) = try? configuration(of: container) else {
                continue
            }
            if known.account != account {
                followed[container] = Followed(account: account)
                hasChanged = true
            } else if known.standing.isRefused, known.token != configuration.webAuthToken {
                // The user signed in again.
                followed[container]?.standing = .unknown
                hasChanged = true
            }
        }
        return hasChanged ? .notifyAppAndListeners : .nothing
    }
}

extension KnownAccounts {
    /// Returns the configuration of a container, with the tokens of whoever is signed in,
    /// and who that is.
    func configuration(
        of container: String
    ) throws(CKError) -> (DeviceConfiguration, account: DeviceAccount?) {
        var configuration = try base.get()
        func account(_ user: String) -> DeviceAccount {
            DeviceAccount(
                server: configuration.server.absoluteString, user: user, isRecordName: false
            )
        }
        switch override {
        case .user(let name, let token):
            configuration.webAuthToken = renewed[token] ?? token
            return (configuration, account(name))
        case .nobody:
            configuration.webAuthToken = nil
            return (configuration, nil)
        case .none: break
        }
        if let session = try session(of: container, configuration) {
            return (try configuration.signedIn(session), session.account)
        }
        guard let token = configuration.webAuthToken else { return (configuration, nil) }
        configuration.webAuthToken = renewed[token] ?? token
        return (configuration, account(token))
    }

    /// The session of the file that counts for a container; none when variables decide
    /// otherwise.
    private func session(
        of container: String, _ configuration: DeviceConfiguration
    ) throws(CKError) -> SignedInSession? {
        guard hasFile, !configuration.given.contains(.webAuthToken) else { return nil }
        let sessions = try sessions.get().filter { session in
            session.container == container
                && (!configuration.given.contains(.server)
                    || session.isAt(configuration.server))
        }
        if let session = sessions.first(where: { $0.environment == configuration.environment }) {
            return session
        }
        // The sign-in decides the environment where nothing else does.
        let isGiven = configuration.given.contains(.environment)
        return !isGiven && sessions.count == 1 ? sessions.first : nil
    }
}

extension SignedInSession {
    var account: DeviceAccount {
        DeviceAccount(server: server, user: userRecordName, isRecordName: true)
    }
}

extension DeviceConfiguration {
    /// Returns the configuration with the values of a session.
    fileprivate func signedIn(_ session: SignedInSession) throws(CKError) -> DeviceConfiguration {
        var result = self
        do {
            result.server = try Self.address(session.server)
        } catch {
            throw CKError(error)
        }
        if !given.contains(.apiToken) { result.apiToken = session.apiToken }
        result.webAuthToken = session.webAuthToken
        result.environment = session.environment
        return result
    }
}
