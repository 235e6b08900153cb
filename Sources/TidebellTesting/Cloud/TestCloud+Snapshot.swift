// SPDX-License-Identifier: Apache-2.0
import CloudKit
import TidebellCore
import TidebellHTTP
import TidebellServer

extension TestCloud {
    /// The contents of a cloud at one time: accounts, zones, records with their files,
    /// subscriptions, shares.
    ///
    /// Its files are removed when the snapshot is released.
    public final class Snapshot: Sendable {
        fileprivate let folder: URL
        fileprivate let accounts: Set<String>
        fileprivate let paths: Set<RequestPath>
        /// The web tokens that the cloud knew.
        fileprivate let tokens: Set<String>

        fileprivate init(
            _ folder: URL, accounts: Set<String>, paths: Set<RequestPath>, tokens: Set<String>
        ) {
            self.folder = folder
            self.accounts = accounts
            self.paths = paths
            self.tokens = tokens
        }

        deinit {
            // What cannot be removed is one more in the system's temporary folder.
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// Returns a snapshot of the cloud's contents, while the cloud runs; pushes under way are
    /// delivered first.
    ///
    /// ```swift
    /// let filled = try await cloud.snapshot()
    /// // … a test that changes everything …
    /// try await cloud.restore(filled)
    /// ```
    public func snapshot() async throws -> Snapshot {
        try await settle()
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidebell-test-snapshot-\(Randomness.system.makeUUID())")
        let snapshot = Snapshot(
            folder, accounts: Set(state.accounts), paths: Set(state.paths),
            tokens: Set(state.devices.compactMap(\.webAuthToken))
        )
        _ = try Backup.make(of: DataFolder(state.folder), to: folder, at: state.clock.instant)
        return snapshot
    }

    /// Restores the contents of a snapshot, as the command `tidebell restore` does.
    ///
    /// Devices are kept. They are registered for pushes again if they were before, and users who
    /// signed in since the snapshot are signed in again. The clock does not go back. As after any
    /// restore, earlier change tokens have expired (`changeTokenExpired`). Faults that have not
    /// occurred, and pushes that were not taken, are discarded.
    public func restore(_ snapshot: Snapshot) async throws {
        try await stop()
        let outcome = try await Restoring.run(
            snapshot.folder, to: DataFolder(state.folder), replacing: true,
            at: state.clock.instant
        )
        // What was there is wanted by nobody, and its name would be in the way of the next restore.
        if let aside = outcome.movedAside { try FileManager.default.removeItem(at: aside) }
        state.replaceNames(accounts: snapshot.accounts, paths: snapshot.paths)
        try await state.begin(with: snapshot.tokens)
    }

    /// Empties the cloud, up to the schema of its file. Devices are kept, signed in to new and empty accounts and registered for
    /// pushes as before, and the clock is not changed.
    ///
    /// Earlier change tokens have expired; faults that have not occurred, and pushes that were not
    /// taken, are discarded.
    ///
    /// ```swift
    /// try await cloud.reset()
    /// ```
    public func reset() async throws {
        try await stop()
        for name in try FileManager.default.contentsOfDirectory(atPath: state.folder.path) {
            try FileManager.default.removeItem(at: state.folder.appendingPathComponent(name))
        }
        state.replaceNames(accounts: [], paths: [])
        try await state.begin(with: [])
        if let schema { try await useSchema(schema) }
    }
}

extension CloudState {
    /// Starts the server on what the folder holds now, and makes the devices at home in it.
    ///
    /// - Parameter tokens: The web tokens that the server knows.
    fileprivate func begin(with tokens: Set<String>) async throws {
        for device in devices { device.removeFaults() }
        faults.removeAll()
        try await start()
        try await knowAPIToken()
        for device in devices {
            guard let user = device.user, let token = device.webAuthToken, !tokens.contains(token)
            else { continue }
            let containers = device.registered.keys.sorted()
            try await device.signIn(user)
            guard device.isOnline else { continue }
            for container in containers {
                try await device.registerForRemoteNotifications(container: container)
            }
        }
        try await connectDevices()
        // A device that was connected is told that its log has a gap.
        try await settle()
        for device in devices { _ = device.takePushes() }
    }

    /// Has the server know the API token that devices are configured with.
    private func knowAPIToken() async throws {
        guard let apiToken else { return }
        let server = try running()
        let hash = Secret.hash(apiToken)
        guard try await !server.accounts.tokens(.api).contains(where: { $0.hash == hash }) else {
            return
        }
        let now = clock.instant
        try await server.store.write(.store) {
            try AddToken.run(
                .api, hash, named: "test", for: nil, lifetime: nil, at: now, in: $0
            )
        }
    }
}
