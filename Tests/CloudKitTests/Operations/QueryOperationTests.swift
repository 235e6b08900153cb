// SPDX-License-Identifier: Apache-2.0
import CoreLocation
import Foundation
import Testing

@testable import CloudKit

@Suite("Queries: what is sent and what comes back")
struct QueryOperationTests {
    private static let everything = CKQuery(
        recordType: "Note", predicate: NSPredicate(value: true))
    private static let here = CLLocation(latitude: 50, longitude: 8)

    private func page(_ marker: String?, _ records: String...) -> String {
        let marker = marker.map { #","continuationMarker":"\#($0)""# } ?? ""
        return #"{"records":[\#(records.joined(separator: ","))]\#(marker)}"#
    }

    @Test("QUERY-1, QUERY-9: type, filters and order are sent as the wire knows them")
    func whatIsSent() async throws {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSPredicate(format: "title BEGINSWITH %@ AND size > %d", "a", 3)
        )
        query.sortDescriptors = [
            NSSortDescriptor(key: "creationDate", ascending: false),
            NSSortDescriptor(key: "title", ascending: true),
            CKLocationSortDescriptor(key: "place", relativeLocation: Self.here),
        ]
        let transport = ScriptedTransport(answering: page(nil))
        _ = try await TestDevice(transport).database.records(
            matching: query, inZoneWith: Sample.zoneID, desiredKeys: ["title"], resultsLimit: 7)
        #expect(transport.sent.map(\.endpoint) == ["private records/query"])
        #expect(
            transport.sent.map(\.body) == [
                #"{"query":{"recordType":"Note","filterBy":["#
                    + #"{"comparator":"BEGINS_WITH","fieldName":"title","fieldValue":{"value":"a","type":"STRING"}},"#
                    + #"{"comparator":"GREATER_THAN","fieldName":"size","fieldValue":{"value":3,"type":"INT64"}}],"#
                    + #""sortBy":[{"systemFieldName":"createdTimestamp","ascending":false},"#
                    + #"{"fieldName":"title","ascending":true},"#
                    + #"{"fieldName":"place","ascending":true,"relativeLocation":{"latitude":50.0,"longitude":8.0}}]},"#
                    + #""zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"},"resultsLimit":7,"desiredKeys":["title"]}"#
            ]
        )
    }

    @Test("QUERY-13: no zone is every zone of the private, the only one of the public database")
    func noZone() async throws {
        let transport = ScriptedTransport(answering: page(nil))
        let container = TestDevice(transport).container
        _ = try await container.privateCloudDatabase.records(matching: Self.everything)
        _ = try await container.publicCloudDatabase.records(matching: Self.everything)
        #expect(
            transport.sent.map { "\($0.endpoint) \($0.body)" } == [
                #"private records/query {"query":{"recordType":"Note","filterBy":[],"sortBy":[]},"zoneWide":true}"#,
                #"public records/query {"query":{"recordType":"Note","filterBy":[],"sortBy":[]},"zoneID":{"zoneName":"_defaultZone","zoneType":"DEFAULT_ZONE"}}"#,
            ]
        )
    }

    @Test("QUERY-12: the shared database demands a zone, and nothing is sent without one")
    func sharedDatabase() async throws {
        let transport = ScriptedTransport(answering: page(nil))
        let shared = TestDevice(transport).container.sharedCloudDatabase
        let result = await Result { try await shared.records(matching: Self.everything) }
        #expect(
            text(result) == "invalidArguments: A query of type 'Note' in a shared database needs a "
                + "zone: set the operation's zoneID, and run one operation for each zone."
        )
        #expect(transport.sent.isEmpty)
        let zoneID = CKRecordZone.ID(zoneName: "Notes", ownerName: "_owner")
        _ = try await shared.records(matching: Self.everything, inZoneWith: zoneID)
        #expect(transport.sent.map(\.endpoint) == ["shared records/query"])
    }

    @Test("QUERY-19, OP-3: records come in order, failures among them, before the result")
    func callbackOrder() async {
        let transport = ScriptedTransport(
            answering: page(
                "more", Answer.record("b"), Answer.failedRecord("c", "NOT_FOUND"),
                Answer.record("a")
            )
        )
        let operation = CKQueryOperation(query: Self.everything)
        let log = CallbackLog()
        OldQuery().on(operation, log)
        operation.recordMatchedBlock = { log.add("matched \($0.recordName) \(text($1))") }
        operation.queryResultBlock = { result in
            log.add("result \(text(result)) \((try? result.get()) != nil)")
        }
        operation.completionBlock = { log.add("completionBlock") }
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "matched b success", "matched c unknownItem: because of NOT_FOUND",
                "matched a success", "result success true", "completionBlock",
            ]
        )
    }

    @Test("QUERY-19, ERR-3: the old callbacks get records, cursor and a partialFailure")
    func oldCallbacks() async {
        let transport = ScriptedTransport(
            answering: page("more", Answer.record("b"), Answer.failedRecord("c", "NOT_FOUND")))
        let operation = CKQueryOperation(query: Self.everything)
        let log = CallbackLog()
        let errors = Locked<CKError?>(nil)
        OldQuery().on(operation, log, errors: errors)
        await TestDevice(transport).database.runToEnd(operation)
        #expect(
            log.lines == [
                "fetched b", "completion true partialFailure: Failed to modify some items (1).",
            ]
        )
        #expect(errors.current?.partialCodes == [Sample.id("c", zone: .default): .unknownItem])
    }

    @Test("QUERY-17: a cursor goes on with the query and zone it began with, archived or not")
    func cursors() async throws {
        let transport = ScriptedTransport(
            answering: page("m1", Answer.record("a")), page("m2", Answer.record("b")), page(nil))
        let database = TestDevice(transport).database
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "n == 1"))
        let first = try await database.records(
            matching: query, inZoneWith: Sample.zoneID, desiredKeys: ["k"], resultsLimit: 1)
        let cursor = try #require(first.queryCursor)
        let second = try await database.records(continuingMatchFrom: cursor, resultsLimit: 2)
        #expect(second.matchResults.map(\.0) == [Sample.id("b")])

        let data = try NSKeyedArchiver.archivedData(
            withRootObject: try #require(second.queryCursor), requiringSecureCoding: true)
        let restored = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKQueryOperation.Cursor.self, from: data)
        )
        let operation = CKQueryOperation(cursor: restored)
        operation.query = CKQuery(recordType: "Other", predicate: NSPredicate(value: true))
        operation.zoneID = .default
        let log = CallbackLog()
        operation.queryResultBlock = { result in
            log.add("\(text(result)) \((try? result.get()) == .some(nil))")
        }
        await database.runToEnd(operation)
        #expect(log.lines == ["success true"])

        let rest =
            #"{"query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","fieldName":"n","fieldValue":{"value":1,"type":"INT64"}}],"sortBy":[]},"#
            + #""zoneID":{"zoneName":"Notes","zoneType":"REGULAR_CUSTOM_ZONE"}"#
        #expect(
            transport.sent.map(\.body) == [
                rest + #","resultsLimit":1,"desiredKeys":["k"]}"#,
                rest + #","resultsLimit":2,"continuationMarker":"m1"}"#,
                rest + #","continuationMarker":"m2"}"#,
            ]
        )
    }

    @Test("QUERY-17: a cursor compares by identity, is its own copy, and must be the server's")
    func cursorObjects() async throws {
        let cursor = CKQueryOperation.Cursor(data: Data("Apple's".utf8))
        #expect(cursor != CKQueryOperation.Cursor(data: cursor.data))
        #expect(cursor.copy() as AnyObject === cursor)
        let transport = ScriptedTransport(answering: page(nil))
        let result = await Result {
            try await TestDevice(transport).database.records(continuingMatchFrom: cursor)
        }
        #expect(
            text(result) == "invalidArguments: The query cursor was made by another service: run "
                + "the query from its beginning."
        )
        #expect(transport.sent.isEmpty)
    }

    @Test("QUERY-1: the operation keeps a copy of its query, and needs a query or a cursor")
    func theQueryIsCopied() async {
        let transport = ScriptedTransport(answering: page(nil))
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let operation = CKQueryOperation(query: query)
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(operation.query !== query)
        #expect(operation.query?.sortDescriptors == nil)

        let empty = CKQueryOperation()
        let log = CallbackLog()
        empty.queryResultBlock = { log.add(text($0)) }
        await TestDevice(transport).database.runToEnd(empty)
        #expect(
            log.lines == [
                "invalidArguments: The query operation has neither a query nor a cursor: set one "
                    + "of them."
            ]
        )
        #expect(empty.resultsLimit == 0)
        #expect(CKQueryOperation.maximumResults == 0)
    }

    /// What is refused: predicate, order, and how the reason begins.
    static var refusals: [(String, [NSSortDescriptor], String)] {
        [
            ("a == 1 OR b == 2", [], "Invalid predicate: OR is not supported"),
            ("NOT (a == 1 AND b == 2)", [], "Invalid predicate: NOT around AND"),
            ("title ENDSWITH 'x'", [], "Invalid predicate: ENDSWITH in 'title"),
            ("title LIKE 'x*'", [], "Invalid predicate: LIKE in 'title"),
            ("title MATCHES 'x.*'", [], "Invalid predicate: MATCHES in 'title"),
            ("owner.name == 'x'", [], "Invalid predicate: 'owner.name' is a key path."),
            ("title == nil", [], "Invalid predicate: 'title == nil' compares with nil"),
            ("ALL tags == 'x'", [], "Invalid predicate: ALL in 'ALL tags"),
            ("a == b", [], "Invalid predicate: 'a == b' compares two fields."),
            (
                "a == 1", [NSSortDescriptor(keyPath: \String.count, ascending: true)],
                "Invalid sort descriptor: A sort descriptor made of a key path"
            ),
            (
                "a == 1", [NSSortDescriptor(key: "owner.name", ascending: true)],
                "Invalid sort descriptor: 'owner.name' is a key path."
            ),
            (
                "a == 1", [NSSortDescriptor(key: nil, ascending: true)],
                "Invalid sort descriptor: A sort descriptor made of a key path"
            ),
        ]
    }

    @Test(
        "QUERY-3 to QUERY-9: what CloudKit does not take is refused before it is sent",
        arguments: refusals.indices
    )
    func refused(row: Int) async {
        let (format, order, reason) = Self.refusals[row]
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: format))
        query.sortDescriptors = order
        let transport = ScriptedTransport(answering: page(nil))
        let result = await Result {
            try await TestDevice(transport).database.records(matching: query)
        }
        #expect(text(result).hasPrefix("invalidArguments: " + reason), "\(text(result))")
        #expect(transport.sent.isEmpty)
    }

    @Test("QUERY-9: the farthest first is refused")
    func reversedDistance() async throws {
        let descriptor = CKLocationSortDescriptor(key: "place", relativeLocation: Self.here)
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        query.sortDescriptors = [
            try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        ]
        let transport = ScriptedTransport(answering: page(nil))
        let result = await Result {
            try await TestDevice(transport).database.records(matching: query)
        }
        #expect(text(result).contains("a reversed CKLocationSortDescriptor is not supported"))
    }

    @Test("QUERY-6: comparing with the current user asks first who that is")
    func theCurrentUser() async throws {
        let transport = ScriptedTransport(answering: #"{"userRecordName":"_me"}"#, page(nil))
        let me = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        let query = CKQuery(
            recordType: "Note", predicate: NSPredicate(format: "creatorUserRecordID == %@", me))
        _ = try await TestDevice(transport).container.publicCloudDatabase
            .records(matching: query)
        #expect(
            transport.sent.map(\.endpoint) == ["public users/caller", "public records/query"])
        #expect(transport.sent.last?.body.contains(#""recordName":"_me""#) == true)
    }

    @Test("The old convenience forms give the records of the first page, or an error")
    func oldConvenienceForms() async throws {
        let transport = ScriptedTransport(
            answering: page("more", Answer.record("a"), Answer.record("b")),
            page(nil, Answer.record("a"), Answer.failedRecord("b", "NOT_FOUND"))
        )
        let database = TestDevice(transport).database
        let old: any OldQueries = OldQueryForms(database: database)
        #expect(try await old.records().map(\.recordID.recordName) == ["a", "b"])
        let failed = await Result { try await old.records() }
        #expect(text(failed) == "unknownItem: because of NOT_FOUND")
        #expect(await old.performed() == "nil unknownItem: because of NOT_FOUND")
    }
}

/// The deprecated forms, behind a requirement that is not.
private protocol OldQueries: Sendable {
    func records() async throws -> [CKRecord]
    func performed() async -> String
}

private struct OldQueryForms: OldQueries {
    let database: CKDatabase

    private var query: CKQuery {
        CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    }

    @available(*, deprecated)
    func records() async throws -> [CKRecord] {
        try await database.perform(query, inZoneWith: nil)
    }

    @available(*, deprecated)
    func performed() async -> String {
        await withCheckedContinuation { continuation in
            database.perform(query, inZoneWith: nil) { records, error in
                continuation.resume(
                    returning: "\(records == nil ? "nil" : "\(records?.count ?? 0)") \(text(error))"
                )
            }
        }
    }
}
