// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CloudKit

@Suite struct RecordZoneOperationTests {
    static let a = CKRecordZone.ID(zoneName: "a")
    static let b = CKRecordZone.ID(zoneName: "b")
    static let gone = #""zoneID":{"zoneName":"b","ownerRecordName":"_me"}"#

    @Test("ZONE-3, OP-3: zones are saved and deleted in one request, callbacks in order")
    func savingAndDeleting() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.zone("a"), Answer.failure(Self.gone, "ZONE_NOT_FOUND")
            )
        )
        let zone = CKRecordZone(zoneID: Self.a)
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [zone],
            recordZoneIDsToDelete: [Self.b]
        )
        let log = CallbackLog()
        operation.perRecordZoneSaveBlock = { log.add("save \($0.zoneName) \(text($1))") }
        operation.perRecordZoneDeleteBlock = { log.add("delete \($0.zoneName) \(text($1))") }
        operation.modifyRecordZonesResultBlock = { log.add("result \(text($0))") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "save a success", "delete b zoneNotFound: because of ZONE_NOT_FOUND",
                "result success",
            ]
        )
        #expect(
            transport.sent.map(\.body) == [
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"a","zoneType":"REGULAR_CUSTOM_ZONE"}}},{"operationType":"delete","zone":{"zoneID":{"zoneName":"b","zoneType":"REGULAR_CUSTOM_ZONE"}}}]}"#
            ]
        )
        #expect(zone.capabilities == [.fetchChanges, .atomic, .sharing, .zoneWideSharing])
    }

    @Test("ERR-3, ERR-4, ZONE-11: the old completion gets a partialFailure by zone ID")
    func partialFailureOfSaving() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.zone("a"), Answer.failure(Self.gone, "ZONE_NOT_FOUND")
            )
        )
        let operation = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneID: Self.a)],
            recordZoneIDsToDelete: [Self.b]
        )
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        OldModifyZones().on(operation, log, errors: errors)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "completion saved [a] deleted [] partialFailure: Failed to modify some items (1)."
            ]
        )
        #expect(errors.current?.partialCodes == [Self.b: .zoneNotFound])
    }

    @Test("ZONE-2: a request the database refuses fails its zones, not the operation")
    func aRefusedRequest() async throws {
        let transport = ScriptedTransport { _, _ in
            .json(
                #"{"serverErrorCode":"BAD_REQUEST","reason":"no","ext":{"ckCode":24}}"#,
                status: 400
            )
        }
        let results = try await TestDevice(transport).container.publicCloudDatabase
            .modifyRecordZones(saving: [CKRecordZone(zoneID: Self.a)], deleting: [])
        #expect(results.saveResults.mapValues { text($0) } == [Self.a: "badDatabase: no"])
    }

    @Test("A server that reports it deleted what was to be saved saved nothing")
    func deletedInsteadOfSaved() async throws {
        let transport = ScriptedTransport { sent, _ in
            .json(
                sent.path.contains("/zones/")
                    ? Answer.zones(#"{"zoneID":{"zoneName":"a"},"deleted":true}"#)
                    : Answer.subscriptions(#"{"subscriptionID":"s","deleted":true}"#)
            )
        }
        let database = TestDevice(transport).database
        let results = [
            text(await Result { try await database.save(CKRecordZone(zoneID: Self.a)) }),
            text(
                await Result {
                    try await database.save(CKDatabaseSubscription(subscriptionID: "s"))
                }
            ),
        ]
        #expect(
            results
                == ["zone 'a'", "subscription 's'"].map {
                    "internalError: The server reports that \($0) is deleted, but it was to be "
                        + "saved."
                }
        )
    }

    @Test("ZONE-1, ZONE-3, ZONE-7: all zones, the default one without capabilities")
    func allZones() async throws {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.zone("_defaultZone", atomic: false), Answer.zone("a")
            )
        )
        let zones = try await TestDevice(transport).database.allRecordZones()
        #expect(zones.map(\.zoneID) == [.default, Self.a])
        #expect(zones.map(\.capabilities.rawValue) == [0, 15])
        #expect(transport.sent.map(\.method) == ["GET"])
    }

    @Test("ERR-3, ERR-4: fetching zones with old and with new callbacks")
    func fetchingZones() async {
        let transport = ScriptedTransport(
            answering: Answer.zones(
                Answer.zone("a"), Answer.failure(Self.gone, "ZONE_NOT_FOUND")
            )
        )
        let database = TestDevice(transport).database
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        let old = CKFetchRecordZonesOperation(recordZoneIDs: [Self.a, Self.b, Self.a])
        OldFetchZones().on(old, log, errors: errors)
        await database.runToEnd(old)
        let new = CKFetchRecordZonesOperation(recordZoneIDs: [Self.a, Self.b])
        new.perRecordZoneResultBlock = { log.add("zone \($0.zoneName) \(text($1))") }
        new.fetchRecordZonesResultBlock = { log.add("result \(text($0))") }
        await database.runToEnd(new)
        #expect(
            log.lines == [
                "completion [a] partialFailure: Failed to modify some items (1).",
                "zone a success", "zone b zoneNotFound: because of ZONE_NOT_FOUND",
                "result success",
            ]
        )
        #expect(errors.current?.partialCodes == [Self.b: .zoneNotFound])
        let body =
            #"{"zones":[{"zoneName":"a","zoneType":"REGULAR_CUSTOM_ZONE"},{"zoneName":"b","zoneType":"REGULAR_CUSTOM_ZONE"}]}"#
        #expect(transport.sent.map(\.body) == [body, body])
    }

    @Test("ZONE-8: in the shared database zones keep their owner, in the others they do not")
    func ownersOfZones() async throws {
        let transport = ScriptedTransport(answering: Answer.zones(Answer.zone("a")))
        let container = TestDevice(transport).container
        let owners = try await CKDatabase.Scope.all.asyncMap { scope in
            try await container.database(with: scope).allRecordZones().map(\.zoneID.ownerName)
        }
        // The private database comes before the shared one and shows who "_me" is.
        #expect(owners == [["__defaultOwner__"], ["__defaultOwner__"], ["__defaultOwner__"]])
        let stranger = TestDevice(
            ScriptedTransport(answering: Answer.zones(Answer.zone("a")))
        ).container
        let shared = try await stranger.sharedCloudDatabase.allRecordZones()
        #expect(shared.map(\.zoneID.ownerName) == ["_me"])
    }

    @Test("The convenience forms for one zone")
    func convenienceFormsForOneZone() async throws {
        let deleted = #"{"zoneID":{"zoneName":"a","ownerRecordName":"_me"},"deleted":true}"#
        let transport = ScriptedTransport { sent, _ in
            .json(
                sent.body.contains("delete")
                    ? Answer.zones(deleted) : Answer.zones(Answer.zone("a"))
            )
        }
        let database = TestDevice(transport).database
        #expect(try await database.save(CKRecordZone(zoneID: Self.a)).zoneID == Self.a)
        #expect(try await database.recordZone(for: Self.a).zoneID == Self.a)
        #expect(try await database.deleteRecordZone(withID: Self.a) == Self.a)
        let lines = CallbackLog()
        await withCheckedContinuation { continuation in
            database.save(CKRecordZone(zoneID: Self.a)) { zone, error in
                lines.add("\(zone?.zoneID.zoneName ?? "nil") \(text(error))")
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            database.fetchAllRecordZones { zones, error in
                lines.add("\(zones?.count ?? -1) \(text(error))")
                continuation.resume()
            }
        }
        #expect(lines.lines == ["a nil", "1 nil"])
    }
}

extension Array {
    /// Returns the results of `transform`, one after the other.
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
