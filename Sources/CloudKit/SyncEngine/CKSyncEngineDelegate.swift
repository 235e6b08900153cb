// SPDX-License-Identifier: Apache-2.0

/// The methods by which an app stores fetched records and provides the records to send.
///
/// The engine calls one method at a time and waits until it returns (SYNC-10). Do not call
/// `fetchChanges(_:)`, `sendChanges(_:)` or `flushState()` of the engine in these methods: they
/// would wait for the method that calls them. The program then ends with a message that explains
/// it. If the call is made in another task that the method waits for, the engine cannot detect it,
/// and both wait forever.
/// See <https://developer.apple.com/documentation/cloudkit/cksyncenginedelegate-1q7g8>.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event.
    ///
    /// Store the state of a `stateUpdate` together with the records that were fetched before it
    /// (SYNC-4).
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Returns the next records to send; nil when there are no more (SYNC-22).
    ///
    /// Called until it returns nil. Return only changes in `context.options.scope`.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Returns the options for the next zone; called before each zone is fetched (SYNC-25).
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Returns the options that the fetch was started with.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
