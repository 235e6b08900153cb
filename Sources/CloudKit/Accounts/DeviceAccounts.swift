// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellWire

/// Who is signed in on a device: from its configuration, from `tidebell login`, or by
/// a test, and kept up to date while the program runs (ACCT-2).
///
/// ``KnownAccounts`` decides; this reads and writes the file, and notifies the app. The file
/// of `tidebell login` is looked at before each request, and once in ``watchInterval``
/// for whoever only waits for `CKAccountChanged`. (Linux has no file events in Dispatch; one
/// `stat` a second costs less than a thread for inotify, and works on every file system.)
final class DeviceAccounts: Sendable {
    /// How soon a waiting program sees that another process signed in or out.
    static let watchInterval = Duration.seconds(1)

    /// The key in a notification's `userInfo` of the device it is about: in tests one
    /// process is several devices, whose IDs may be equal.
    static let deviceKey = "TidebellDevice"

    private let file: SessionFile?
    private let clock: any Clock<Duration>
    private let known: Locked<KnownAccounts>
    private let watcher = Locked<Task<Void, Never>?>(nil)
    private let listeners = Locked<[String: AsyncStream<Void>.Continuation]>([:])
    private let posts = DispatchQueue(label: "CKAccountChanged")

    /// Creates the accounts of a device.
    init(_ base: Result<DeviceConfiguration, CKError>, clock: any Clock<Duration>) {
        self.clock = clock
        file = (try? base.get())?.stateFolder.map(SessionFile.init(folder:))
        known = Locked(KnownAccounts(base, hasFile: file != nil))
        refresh()
    }

    deinit {
        watcher.current?.cancel()
    }

    // MARK: - Asking

    /// Returns the configuration of a container, with the tokens of whoever is signed
    /// in now, and who that is.
    func configuration(
        of container: String
    ) throws(CKError) -> (DeviceConfiguration, account: DeviceAccount?) {
        refresh()
        return try known.withLock { known throws(CKError) in
            try known.configuration(of: container)
        }
    }

    /// Returns who is signed in to a container, as far as the device knows.
    func account(of container: String) -> DeviceAccount? {
        (try? configuration(of: container))?.account
    }

    /// Returns who was signed in to a container when it was last looked: cheap enough to
    /// ask for each record.
    func knownAccount(of container: String) -> DeviceAccount? {
        known.withLock { $0.account(of: container) }
    }

    /// The container that signing in made the default: the only one.
    var onlyContainer: String? {
        refresh()
        return known.withLock { $0.onlyContainer }
    }

    /// The containers somebody is signed in to on this device, sorted.
    var signedInContainers: [String] {
        refresh()
        return known.withLock { $0.signedInContainers }
    }

    /// Returns how the server took the last request for a container.
    func standing(in container: String) -> AccountStanding {
        known.withLock { $0.standing(in: container) }
    }

    // MARK: - Watching

    /// Begins to report changes in a container.
    func follow(_ container: String) {
        refresh()
        perform(known.withLock { $0.follow(container) })
    }

    /// Begins to report changes in the container that somebody signs in to first.
    func followOnlyContainer() {
        perform(known.withLock { $0.followOnlyContainer() })
    }

    /// A signal after each change of an account from now on.
    func changes() -> AsyncStream<Void> {
        let id = NewIdentifier.make()
        let (stream, continuation) = AsyncStream<Void>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[id] = nil }
        }
        listeners.withLock { $0[id] = continuation }
        return stream
    }

    /// Waits until the app was notified of every change so far.
    func flush() async {
        await withCheckedContinuation { continuation in
            posts.async { continuation.resume() }
        }
    }

    // MARK: - Learning

    /// Takes note of how the server took a request with a token.
    func learn(_ standing: AccountStanding, of token: String?, in container: String) {
        guard let token else { return }
        perform(known.withLock { $0.learn(standing, of: token, in: container) })
    }

    /// Replaces the token that a request was sent with by the one that its answer brought.
    func renew(_ old: String, by new: String, in container: String) {
        perform(known.withLock { $0.renew(old, by: new, in: container) })
    }

    /// Signs a user in to all containers of a device that has no file.
    func signIn(token: String, user: String) {
        perform(known.withLock { $0.signIn(token: token, user: user) })
    }

    /// Signs everybody out.
    func signOut() {
        perform(known.withLock { $0.signOut() })
    }

    /// Looks whether another process signed in or out.
    private func refresh() {
        guard let file else { return }
        // Taken before reading: a change in between is seen the next time.
        let stamp = file.stamp()
        guard let reading = known.withLock({ $0.beginReading(stamp) }) else { return }
        let sessions = Result { () throws(DeviceError) in try file.read() }.mapError(CKError.init)
        perform(known.withLock { $0.take(sessions, from: reading) })
    }

    // MARK: - Doing

    private func perform(_ action: KnownAccounts.Action) {
        switch action {
        case .nothing: break
        case .watchFile: watch()
        case .replaceInFile(let old, let new): replace(old, by: new)
        case .notifyApp: post()
        case .notifyAppAndListeners:
            let listeners = listeners.withLock { Array($0.values) }
            for listener in listeners { listener.yield() }
            post()
        }
    }

    private func watch() {
        // Without a parent: it ends with the device.
        watcher.current = Task { [weak self, clock] in
            while !Task.isCancelled {
                try? await clock.sleep(for: Self.watchInterval)
                guard let self else { return }
                self.refresh()
            }
        }
    }

    private func replace(_ old: String, by new: String) {
        // Where it cannot be written the old one works on, and is renewed next time.
        try? file?.change { sessions in
            for index in sessions.indices where sessions[index].webAuthToken == old {
                sessions[index].webAuthToken = new
            }
        }
        refresh()
    }

    /// Notifies the app; apart from the caller, as it may do anything there.
    private func post() {
        posts.async {
            // Kept until the app is notified: an ID may be another device's once this one is gone.
            let device = ObjectIdentifier(self)
            NotificationCenter.default.post(
                name: .CKAccountChanged, object: nil, userInfo: [Self.deviceKey: device]
            )
        }
    }
}
