// SPDX-License-Identifier: Apache-2.0
package import CloudKit

/// An app that counts what its sync engine fetches of one zone and keeps nothing.
package actor CountingEngine: CKSyncEngineDelegate {
    private var count = 0

    package static func run(
        _ zoneID: CKRecordZone.ID, in database: CKDatabase
    ) async throws -> Int {
        let delegate = CountingEngine()
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        // Other benchmarks leave zones behind.
        try await engine.fetchChanges(.init(scope: .zoneIDs([zoneID])))
        return await delegate.count
    }

    package func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .fetchedRecordZoneChanges(let changes) = event {
            count += changes.modifications.count
        }
    }

    package func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        nil
    }
}
