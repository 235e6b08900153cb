// SPDX-License-Identifier: Apache-2.0

/// What an app does for its sync engine: keeps what was fetched, and gives what to send.
///
/// The engine calls one method at a time and waits until it returns (SYNC-10). Do not
/// call `fetchChanges(_:)`, `sendChanges(_:)` or `flushState()` of the engine from here:
/// they would wait for the call they are made from. The program ends with a sentence that
/// explains it, unless the call is made in another task that the method waits for, which cannot
/// be seen from here: then both wait for ever.
/// See <https://developer.apple.com/documentation/cloudkit/cksyncenginedelegate-1q7g8>.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event.
    ///
    /// Keep the state of a `stateUpdate` together with what was fetched before it (SYNC-4).
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Returns the next records to send; nil when there are no more (SYNC-22).
    ///
    /// Called until it returns nil. Give only changes of `context.options.scope`.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Returns how to go on fetching; called before each zone is fetched (SYNC-25).
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Returns the options the fetch began with.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
