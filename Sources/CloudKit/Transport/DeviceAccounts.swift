// SPDX-License-Identifier: Apache-2.0
import Foundation
internal import TidebellWire

/// Who is signed in on a device: from its configuration, from `tidebell login`, or by
/// a test, and kept up to date while the program runs (ACCT-2).
///
/// The file of `tidebell login` is looked at before each request, and once in
/// ``watchInterval`` for who only waits for `CKAccountChanged`. (Linux has no file
/// events in Dispatch; one `stat` a second costs less than a thread for inotify, and
/// works on every file system.)
final class DeviceAccounts: Sendable {
    /// How soon a waiting program sees that another process signed in or out.
    static let watchInterval = Duration.seconds(1)

    /// The key in a notification's `userInfo` of the device it is about: in tests one
    /// process is several devices, whose IDs may be equal.
    static let deviceKey = "TidebellDevice"

    /// A container that the program uses.
    private struct Place {
        var account: DeviceAccount?
        /// The token the standing is of.
        var token: String?
        var standing = AccountStanding.unknown
    }

    private struct State {
        var places: [String: Place] = [:]
        /// What the file said, and which file that was.
        var sessions: Result<[SignedInSession], CKError> = .success([])
        var stamp: SessionFile.Stamp?
        /// Who signed in by a call; nil inside for nobody.
        var signedIn: MemorySession??
        /// The tokens that took the place of those of the configuration.
        var renewed: [String: String] = [:]
        var watcher: Task<Void, Never>?
        /// Whether the container is followed that somebody signs in to first.
        var followsOnlyContainer = false
        var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
    }

    /// A sign-in that is in no file.
    private struct MemorySession {
        var token: String
        var user: String
    }

    private let base: Result<DeviceConfiguration, CKError>
    private let file: SessionFile?
    private let clock: any Clock<Duration>
    private let state = Locked(State())
    private let posts = DispatchQueue(label: "CKAccountChanged")

    /// Creates the accounts of a device.
    init(_ base: Result<DeviceConfiguration, CKError>, clock: any Clock<Duration>) {
        self.base = base
        self.clock = clock
        let folder = (try? base.get())?.stateFolder
        file = folder.map(SessionFile.init(folder:))
        if let file { state.withLock { Self.read(file, into: &$0) } }
    }

    deinit {
        state.withLock { $0.watcher }?.cancel()
    }

    // MARK: - Asking

    /// Returns the configuration of a container, with the tokens of whoever is signed
    /// in now, and who that is.
    func configuration(
        of container: String
    ) throws(CKError) -> (DeviceConfiguration, account: DeviceAccount?) {
        refresh()
        return try state.withLock { state throws(CKError) in
            try resolve(container, state)
        }
    }

    /// Returns who is signed in to a container, as far as the device knows.
    func account(of container: String) -> DeviceAccount? {
        (try? configuration(of: container))?.account
    }

    /// Returns who was signed in to a container when it was last looked: cheap enough to
    /// ask for each record.
    func knownAccount(of container: String) -> DeviceAccount? {
        state.withLock { state in
            if let place = state.places[container] { return place.account }
            return (try? resolve(container, state))?.account
        }
    }

    /// The container that signing in made the default: the only one.
    var onlyContainer: String? {
        refresh()
        return state.withLock { Self.onlyContainer($0) }
    }

    private static func onlyContainer(_ state: State) -> String? {
        let names = Set(((try? state.sessions.get()) ?? []).map(\.container))
        return names.count == 1 ? names.first : nil
    }

    /// Returns how the server took the last request for a container.
    func standing(in container: String) -> AccountStanding {
        state.withLock { $0.places[container]?.standing ?? .unknown }
    }

    // MARK: - Watching

    /// Begins to tell of changes in a container.
    func follow(_ container: String) {
        let account = account(of: container)
        state.withLock { state in
            if state.places[container] == nil { state.places[container] = Place(account: account) }
            watch(&state)
        }
    }

    /// Begins to tell of changes in the container that somebody signs in to first.
    func followOnlyContainer() {
        state.withLock { state in
            state.followsOnlyContainer = true
            watch(&state)
        }
    }

    private func watch(_ state: inout State) {
        guard file != nil, state.watcher == nil else { return }
        // Without a parent: it ends with the device.
        state.watcher = Task { [weak self, clock] in
            while !Task.isCancelled {
                try? await clock.sleep(for: Self.watchInterval)
                guard let self else { return }
                self.refresh()
            }
        }
    }

    /// A signal after each change of an account from now on.
    func changes() -> AsyncStream<Void> {
        let id = UUID.random()
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[id] = nil }
        }
        state.withLock { $0.listeners[id] = continuation }
        return stream
    }

    /// Looks whether another process signed in or out.
    private func refresh() {
        guard let file else { return }
        change { state in
            guard file.stamp() != state.stamp else { return }
            Self.read(file, into: &state)
        }
    }

    private static func read(_ file: SessionFile, into state: inout State) {
        // Taken before reading: a change in between is seen the next time.
        state.stamp = file.stamp()
        state.sessions = Result { () throws(CKError) in try file.read() }
    }

    /// Changes what is known, and tells the app once if an account is another one by
    /// it, or stands otherwise.
    private func change(_ body: (inout State) -> Void) {
        let listeners = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
            body(&state)
            return settle(&state) ? Array(state.listeners.values) : nil
        }
        guard let listeners else { return }
        for listener in listeners { listener.yield() }
        post()
    }

    /// Tells the app; apart from the caller, as it may do anything there.
    private func post() {
        posts.async {
            // Kept until it is told: an ID may be another device's once this one is gone.
            let device = ObjectIdentifier(self)
            NotificationCenter.default.post(
                name: .CKAccountChanged, object: nil, userInfo: [Self.deviceKey: device]
            )
        }
    }

    /// Compares every place with what was told of it last; whether one has changed.
    private func settle(_ state: inout State) -> Bool {
        var hasChanged = false
        if state.followsOnlyContainer, let container = Self.onlyContainer(state) {
            state.followsOnlyContainer = false
            // Nobody was signed in to it until now.
            if state.places[container] == nil { state.places[container] = Place(account: nil) }
        }
        for (container, place) in state.places {
            // A file that cannot be read says nothing about who is signed in.
            guard let (configuration, account) = try? resolve(container, state) else { continue }
            var place = place
            if place.account != account {
                place = Place(account: account)
                hasChanged = true
            } else if place.standing.isRefused, place.token != configuration.webAuthToken {
                // The user signed in again.
                place.standing = .unknown
                hasChanged = true
            }
            state.places[container] = place
        }
        return hasChanged
    }

    /// Waits until the app was told of every change so far.
    func flush() async {
        await withCheckedContinuation { continuation in
            posts.async { continuation.resume() }
        }
    }

    // MARK: - Learning

    /// Takes note of how the server took a request with a token.
    func learn(_ standing: AccountStanding, of token: String?, in container: String) {
        guard let token else { return }
        let hasChanged = state.withLock { state in
            guard var place = state.places[container],
                let (configuration, _) = try? resolve(container, state),
                configuration.webAuthToken == token
            else { return false }
            let before = place.standing
            place.standing = standing
            place.token = token
            state.places[container] = place
            return before != .unknown && before != standing
        }
        if hasChanged { post() }
    }

    /// Puts the token that an answer brought in the place of the one it was sent with.
    ///
    /// Of several processes and requests whose answers bring one, the first counts: the
    /// others compare, and find the old token gone.
    func renew(_ old: String, by new: String, in container: String) {
        guard let file, isInFile(old) else {
            return state.withLock { state in
                let current = try? resolve(container, state).0.webAuthToken
                guard current == old else { return }
                let original = state.renewed.first { $0.value == old }?.key ?? old
                state.renewed[original] = new
            }
        }
        // Where it cannot be written the old one works on, and is renewed next time.
        try? file.change { sessions in
            for index in sessions.indices where sessions[index].webAuthToken == old {
                sessions[index].webAuthToken = new
            }
        }
        refresh()
    }

    private func isInFile(_ token: String) -> Bool {
        state.withLock { state in
            ((try? state.sessions.get()) ?? []).contains { $0.webAuthToken == token }
        }
    }

    // MARK: - Signing in by a call

    /// Signs a user in to all containers of a device that has no file.
    func signIn(token: String, user: String) {
        change { $0.signedIn = .some(MemorySession(token: token, user: user)) }
    }

    /// Signs everybody out.
    func signOut() {
        change { $0.signedIn = .some(nil) }
    }

    // MARK: -

    private func resolve(
        _ container: String,
        _ state: State
    ) throws(CKError) -> (DeviceConfiguration, account: DeviceAccount?) {
        var configuration = try base.get()
        if let signedIn = state.signedIn {
            configuration.webAuthToken = signedIn.map { state.renewed[$0.token] ?? $0.token }
            let account = signedIn.map {
                DeviceAccount(
                    server: configuration.server.absoluteString, user: $0.user, isRecordName: false
                )
            }
            return (configuration, account)
        }
        if let session = try session(of: container, configuration, state) {
            return (try configuration.signedIn(session), session.account)
        }
        guard let token = configuration.webAuthToken else { return (configuration, nil) }
        configuration.webAuthToken = state.renewed[token] ?? token
        let account = DeviceAccount(
            server: configuration.server.absoluteString, user: token, isRecordName: false
        )
        return (configuration, account)
    }

    /// The session of the file that counts for a container; none when variables say
    /// otherwise.
    private func session(
        of container: String,
        _ configuration: DeviceConfiguration,
        _ state: State
    ) throws(CKError) -> SignedInSession? {
        guard file != nil, !configuration.given.contains(.webAuthToken) else { return nil }
        let sessions = try state.sessions.get().filter { session in
            session.container == container
                && (!configuration.given.contains(.server)
                    || session.isAt(configuration.server))
        }
        if let session = sessions.first(where: { $0.environment == configuration.environment }) {
            return session
        }
        // Signing in says the environment where nothing else does.
        let isGiven = configuration.given.contains(.environment)
        return !isGiven && sessions.count == 1 ? sessions.first : nil
    }
}

extension SignedInSession {
    var account: DeviceAccount {
        DeviceAccount(server: server, user: userRecordName, isRecordName: true)
    }

    /// Whether the session is with this server; a slash at the end makes no difference.
    func isAt(_ address: URL) -> Bool {
        func trimmed(_ text: String) -> Substring {
            text.hasSuffix("/") ? text.dropLast() : text[...]
        }
        return trimmed(server) == trimmed(address.absoluteString)
    }
}

extension DeviceConfiguration {
    /// Returns the configuration with what a session says.
    fileprivate func signedIn(_ session: SignedInSession) throws(CKError) -> DeviceConfiguration {
        var result = self
        result.server = try Self.address(session.server)
        if !given.contains(.apiToken) { result.apiToken = session.apiToken }
        result.webAuthToken = session.webAuthToken
        result.environment = session.environment
        return result
    }
}
