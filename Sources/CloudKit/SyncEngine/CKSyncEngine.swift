// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Syncs an app's records between the devices of a user.
///
/// Create an engine early, with the state from its last `stateUpdate` event, and add pending
/// changes to ``state``. The engine does the rest: it fetches after a push, sends soon after
/// changes were added, and waits and tries again when the network, the server or the account is not
/// available. It calls your delegate for every step, and passes records only to the delegate.
///
/// ```swift
/// let configuration = CKSyncEngine.Configuration(
///     database: container.privateCloudDatabase,
///     stateSerialization: kept.state,
///     delegate: self
/// )
/// let engine = CKSyncEngine(configuration)
/// engine.state.add(pendingRecordZoneChanges: [.saveRecord(note.recordID)])
/// ```
///
/// Records in the default zone are sent, but never fetched (SYNC-28): use a custom zone. Use one
/// engine for each database (SYNC-1). In tests that call `fetchChanges` and `sendChanges`
/// themselves, two engines with different delegates on one database can take the place of two
/// devices; but for the server they are one device, so neither gets a push for a change of the
/// other. The engine works until it is released.
/// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5>.
public final class CKSyncEngine: Sendable {
    /// The database that is synced.
    public let database: CKDatabase

    /// The pending changes, and which changes were fetched.
    public let state: CKSyncEngine.State

    /// What works for the engine.
    let core: SyncEngineCore

    /// Creates an engine; with automatic sync it starts at once.
    ///
    /// Without a signed-in user it waits until a user signs in (SYNC-2). If there is an engine with
    /// the same delegate, database and options that was made with this state, or sent it in its
    /// last event, the new engine replaces it: both share one ``state``, and no change that was
    /// added since is lost. With any other state, including nil, the new engine starts from that
    /// state.
    /// - Precondition: The database is the private or the shared one.
    public init(_ configuration: CKSyncEngine.Configuration) {
        precondition(
            configuration.database.databaseScope != .public,
            "A sync engine works on the private or the shared database, not on the public one."
        )
        database = configuration.database
        let replaced = LivingSyncEngines.engine(replacedBy: configuration)
        core = replaced?.core ?? SyncEngineCore(configuration)
        state = core.state
        core.begin(for: self)
        LivingSyncEngines.add(self)
        // Until here the working half must not be without an engine.
        withExtendedLifetime(replaced) {}
    }

    deinit {
        LivingSyncEngines.remove(ObjectIdentifier(self), of: core.delegateID)
        core.end(for: ObjectIdentifier(self))
    }

    /// Fetches the changes on the server now.
    ///
    /// Returns when the delegate has handled all its events (SYNC-18). One attempt to sync runs at
    /// a time; this one waits for earlier ones.
    /// - Throws: `notAuthenticated` without a user, the error of what failed as a whole,
    ///   or `partialFailure` with the error of each zone that could not be fetched; always
    ///   a ``CKError``.
    public func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions = .init()) async throws {
        try await core.fetch(FetchChangesContext(reason: .manual, options: options))
    }

    /// Sends the pending changes now.
    ///
    /// Returns when the delegate has handled all its events (SYNC-18). Each change is sent once per
    /// call: a change that fails and is added again in an event is sent by the next call. One
    /// attempt to sync runs at a time; this one waits for earlier ones.
    /// - Throws: `notAuthenticated` without a user, the error of what failed as a whole,
    ///   or `partialFailure` with the error of each zone and record that could not be
    ///   sent; always a ``CKError``.
    public func sendChanges(_ options: CKSyncEngine.SendChangesOptions = .init()) async throws {
        try await core.send(SendChangesContext(reason: .manual, options: options))
    }

    /// Cancels all attempts to sync, including waiting ones, and returns when they have ended.
    /// Changes that a running request has made already are not undone (SYNC-8).
    ///
    /// When it is called in a method of the delegate, it returns at once.
    public func cancelOperations() async {
        await core.cancelAttempts()
    }

    /// Sends the newest state to the delegate, if the delegate has an older one, and returns when
    /// it is handled. Tidebell addition.
    ///
    /// State updates are sent automatically soon after a change. Call this method when the app is
    /// about to end, or must not lose what it just added (SYNC-4).
    public func flushState() async {
        await core.flushState()
    }
}

extension CKSyncEngine: CustomStringConvertible {
    /// The engine as text, for logs.
    public var description: String {
        "<CKSyncEngine: database=\(database.databaseScope), "
            + "automaticallySync=\(core.automaticallySync)>"
    }
}
