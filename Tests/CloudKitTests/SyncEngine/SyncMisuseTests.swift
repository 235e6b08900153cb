// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite("Misuse of a sync engine")
struct SyncMisuseTests {
    /// An app that syncs from inside an event.
    private final class Reentrant: CKSyncEngineDelegate {
        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            try? await syncEngine.sendChanges()
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext,
            syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            nil
        }
    }

    @Test("SYNC-10: syncing from a method of the delegate ends the program with a sentence")
    func reentrance() async throws {
        let result = await #expect(
            processExitsWith: .failure,
            observing: [\.standardErrorContent]
        ) {
            let device = TestDevice(ScriptedTransport(answering: #"{"userRecordName":"_me"}"#))
            let delegate = Reentrant()
            var configuration = CKSyncEngine.Configuration(
                database: device.database,
                stateSerialization: nil,
                delegate: delegate
            )
            configuration.automaticallySync = false
            try await CKSyncEngine(configuration).fetchChanges()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("sendChanges(_:) must not be called from a method"))
    }

    @Test("SYNC-1: an engine on the public database ends the program")
    func publicDatabase() async {
        await #expect(processExitsWith: .failure) {
            let device = TestDevice(ScriptedTransport(answering: "{}"))
            let delegate = Reentrant()
            _ = CKSyncEngine(
                CKSyncEngine.Configuration(
                    database: device.container.publicCloudDatabase,
                    stateSerialization: nil,
                    delegate: delegate
                )
            )
        }
    }

    @Test("The texts for logs name what happened")
    func descriptions() {
        let recordID = PendingChangeTests.id("a")
        let error = CKError.local(.zoneNotFound, "No such zone.")
        let event = CKSyncEngine.Event.sentRecordZoneChanges(
            CKSyncEngine.Event.SentRecordZoneChanges(
                savedRecords: [],
                failedRecordSaves: [
                    .init(record: CKRecord(recordType: "Note", recordID: recordID), error: error)
                ],
                deletedRecordIDs: [recordID],
                failedRecordDeletes: [:]
            )
        )
        #expect("\(event)".contains("recordName=a"))
        #expect("\(event)".contains("No such zone."))
        let options = CKSyncEngine.SendChangesOptions(scope: .recordIDs([recordID]))
        let context = CKSyncEngine.SendChangesContext(reason: .manual, options: options)
        #expect("\(context)".contains("reason=manual"))
        #expect("\(context)".contains("recordName=a"))
        #expect(options.operationGroup.name == "CKSyncEngine send")
    }
}
