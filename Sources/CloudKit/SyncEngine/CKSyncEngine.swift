// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Keeps an app's records the same on all devices of a user.
///
/// Create one early, give it what it last gave you as its state, and add to ``state`` what
/// is to be sent; the engine does the rest: it fetches when a push reports that something
/// changed, sends soon after changes were added, waits and tries again when the network,
/// the server or the account is not there. It calls your delegate for every step, and
/// only there does it hand over records.
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
/// Records of the default zone are sent, but never fetched (SYNC-28): use a zone of your
/// own. Two engines on one database, with delegates of their own, stand for two devices in
/// tests that fetch and send themselves (they are one device to the server, which pushes
/// neither what the other did); in earnest, have one for each database (SYNC-1). The engine works until it is let go.
/// See <https://developer.apple.com/documentation/cloudkit/cksyncengine-5sie5>.
public final class CKSyncEngine: Sendable {
    /// The database that is synced.
    public let database: CKDatabase

    /// What is to be sent, and how far was fetched.
    public let state: CKSyncEngine.State

    /// What works for the engine.
    let core: SyncEngineCore

    /// Creates an engine; with automatic sync it begins at once.
    ///
    /// Without a signed-in user it rests until one signs in (SYNC-2). While an engine of
    /// the same delegate, database and options lives that was made with this state, or
    /// gave it last, the new one replaces it: both have one ``state``, and nothing
    /// that was added since is lost. With any other state, also nil, it starts from that.
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

    /// Fetches what changed on the server now.
    ///
    /// Returns when the delegate has handled all events of it (SYNC-18). One attempt to
    /// sync runs at a time; this one waits for those asked for before.
    /// - Throws: `notAuthenticated` without a user, the error of what failed as a whole,
    ///   or `partialFailure` with the error of each zone that could not be fetched; always
    ///   a ``CKError``.
    public func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions = .init()) async throws {
        try await core.fetch(FetchChangesContext(reason: .manual, options: options))
    }

    /// Sends what is to be sent now.
    ///
    /// Returns when the delegate has handled all events of it (SYNC-18). Each change is
    /// sent once in a call: what fails and is added again in an event is sent by the next
    /// one. One attempt to sync runs at a time; this one waits for those asked for before.
    /// - Throws: `notAuthenticated` without a user, the error of what failed as a whole,
    ///   or `partialFailure` with the error of each zone and record that could not be
    ///   sent; always a ``CKError``.
    public func sendChanges(_ options: CKSyncEngine.SendChangesOptions = .init()) async throws {
        try await core.send(SendChangesContext(reason: .manual, options: options))
    }

    /// Cancels all attempts to sync, also those that wait, and returns when they have
    /// ended. What a request under way has done is done (SYNC-8).
    ///
    /// From a method of the delegate it returns at once.
    public func cancelOperations() async {
        await core.cancelAttempts()
    }

    /// Hands the delegate the newest state, if it has an older one, and returns when that
    /// is handled. Tidebell addition.
    ///
    /// State updates come by themselves soon after a change. Call this when the app is
    /// about to end, or may not lose what it just added (SYNC-4).
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
