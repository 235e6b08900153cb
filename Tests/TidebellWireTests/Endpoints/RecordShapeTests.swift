// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

/// The literal shapes of web-services 4.2, 5.2, 5.3 and 6: what real clients send
/// and what they must be answered.
@Suite("Shapes of records/modify and records/lookup")
struct RecordShapeTests {
    private func request(_ json: String) throws -> ModifyRecords.Request {
        try JSONReader.read(utf8(json)) {
            try ModifyRecords.Request(from: &$0)
        }
    }

    private func problem(_ json: String) -> String? {
        failure(reading: json) { _ = try ModifyRecords.Request(from: &$0) }
    }

    @Test("reads the worked example of a modify request")
    func workedExample() throws {
        let json = #"""
            {"zoneID":{"zoneName":"Notes"},"atomic":true,"operations":[
              {"operationType":"create","record":{"recordName":"n1","recordType":"Note",
                "fields":{"title":{"value":"hello"},"rank":{"type":"INT64","value":3}}}},
              {"operationType":"update","record":{"recordName":"n0","recordChangeTag":"old",
                "fields":{"title":{"value":"x"}}}}]}
            """#
        let expected = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "Notes"),
            operations: [
                ModifyRecords.Operation(
                    .create,
                    recordName: "n1",
                    recordType: "Note",
                    fields: FieldChanges([
                        "title": Field(.string("hello")), "rank": Field(.int64(3)),
                    ])
                ),
                ModifyRecords.Operation(
                    .update,
                    recordName: "n0",
                    recordChangeTag: "old",
                    fields: FieldChanges(["title": Field(.string("x"))])
                ),
            ],
            atomic: true
        )
        #expect(try request(json) == expected)
    }

    @Test("members an answer had are ignored when they come back in a request")
    func echoedMembers() throws {
        let json = #"""
            {"operations":[{"operationType":"update","record":{"recordName":"r","recordType":"T",
              "recordChangeTag":"1","fields":{},"pluginFields":{},"deleted":false,
              "created":{"timestamp":1,"userRecordName":"_u","deviceID":"2"},"modified":null,
              "zoneID":{"zoneName":"Elsewhere"},"shortGUID":"x","chainProtectionInfo":[[{}]]},
              "unknown":[1,{"a":null}]}],"unheardOf":{"deep":[true]}}
            """#
        let expected = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "_defaultZone"),
            operations: [
                ModifyRecords.Operation(
                    .update,
                    recordName: "r",
                    recordType: "T",
                    recordChangeTag: "1"
                )
            ]
        )
        #expect(try request(json) == expected)
    }

    @Test("an explicit null is an absent member")
    func nullIsAbsent() throws {
        let json = #"""
            {"zoneID":null,"atomic":null,"desiredKeys":null,"numbersAsStrings":null,
             "clientChangeToken":null,"operations":[{"operationType":"create","desiredKeys":null,
             "record":{"recordName":null,"recordType":"T","recordChangeTag":null,"fields":null}}]}
            """#
        let expected = ModifyRecords.Request(
            zoneID: ZoneID(zoneName: "_defaultZone"),
            operations: [ModifyRecords.Operation(.create, recordName: nil, recordType: "T")]
        )
        #expect(try request(json) == expected)
    }

    @Test("parent: an object sets it, null removes it, absence leaves it")
    func parent() throws {
        func parent(_ member: String) throws -> String?? {
            let json = #"""
                {"operations":[{"operationType":"forceUpdate","record":{"recordName":"r"\#(member)}}]}
                """#
            return try request(json).operations[0].parent
        }
        #expect(try parent(#","parent":{"recordName":"p"}"#) == .some("p"))
        #expect(try parent(#","parent":null"#) == .some(nil))
        #expect(try parent("") == .none)
    }

    @Test(
        "errors name the culprit",
        arguments: [
            ("{}", "missing required field 'operations'"),
            (#"{"operations":{}}"#, "operations: expected an array, found an object"),
            (#"{"operations":[7]}"#, "operations[0]: expected an object, found a number"),
            (
                #"{"operations":[{"record":{}}]}"#,
                "operations[0]: missing required field 'operationType'"
            ),
            (
                #"{"operations":[{"operationType":"create"}]}"#,
                "operations[0]: missing required field 'record'"
            ),
            (
                #"{"operations":[{"operationType":"upsert","record":{}}]}"#,
                #"operations[0].operationType: unknown operation type "upsert""#
            ),
            (
                #"{"operations":[{"operationType":"create","record":{"fields":{"title":{"value":1.5,"type":"TIMESTAMP"}}}}]}"#,
                "operations[0].record.fields.title: Invalid value, expected type TIMESTAMP."
            ),
            (
                #"{"operations":[{"operationType":"create","record":{"fields":{"title":"bare"}}}]}"#,
                "operations[0].record.fields.title: a field is an object, {\"value\": …}; {\"value\": null} "
                    + "removes it"
            ),
            (
                #"{"operations":[{"operationType":"create","record":{"parent":{}}}]}"#,
                "operations[0].record.parent: missing required field 'recordName'"
            ),
            (#"{"zoneID":{},"operations":[]}"#, "zoneID: missing required field 'zoneName'"),
            (#"{"zoneID":{"zoneName":""},"operations":[]}"#, "zoneID: the zone name is empty"),
            (
                #"{"clientChangeToken":"%","operations":[]}"#,
                "clientChangeToken: expected base64 text"
            ),
        ]
    )
    func errorsNameTheCulprit(json: String, expected: String) {
        #expect(problem(json) == expected)
    }

    @Test("writes a record as CloudKit's answers do, with zone, stamps and pluginFields")
    func recordShape() {
        let record = WireRecord(
            recordName: "n1",
            recordType: "Note",
            recordChangeTag: "m1",
            zoneID: ZoneID(zoneName: "Notes", ownerRecordName: "_0f"),
            fields: RecordFields(["title": Field(.string("hello"))]),
            created: RecordStamp(timestamp: 1, userRecordName: "_0f", deviceID: "2"),
            modified: RecordStamp(timestamp: 2, userRecordName: "_0f", deviceID: "2"),
            parent: "p"
        )
        let answer = ModifyRecords.Response(records: [
            .record(record),
            .deleted(WireTombstone(recordName: "n2")),
            .failed(recordName: "n3", WireError(.conflict, "client oplock error updating record")),
        ])
        #expect(
            written { answer.write(to: &$0) }
                == #"{"records":[{"recordName":"n1","recordType":"Note","#
                + #""fields":{"title":{"value":"hello","type":"STRING"}},"pluginFields":{},"#
                + #""recordChangeTag":"m1","#
                + #""created":{"timestamp":1,"userRecordName":"_0f","deviceID":"2"},"#
                + #""modified":{"timestamp":2,"userRecordName":"_0f","deviceID":"2"},"#
                + #""deleted":false,"zoneID":{"zoneName":"Notes","ownerRecordName":"_0f","#
                + #""zoneType":"REGULAR_CUSTOM_ZONE"},"parent":{"recordName":"p"}},"#
                + #"{"recordName":"n2","deleted":true},"#
                + #"{"recordName":"n3","reason":"client oplock error updating record","#
                + #""serverErrorCode":"CONFLICT"}]}"#
        )
    }

    @Test("an item error carries no uuid; extension detail stands under ext alone")
    func itemErrorShape() {
        let error = WireError(
            .internalError,
            "busy",
            retryAfter: 1.5,
            detail: WireError.Detail(ckCode: 23)
        )
        #expect(
            written { writer in RecordResult.failed(recordName: "r", error).write(to: &writer) }
                == #"{"recordName":"r","reason":"busy","serverErrorCode":"INTERNAL_ERROR","#
                + #""retryAfter":1.5,"ext":{"ckCode":23}}"#
        )
    }

    @Test("desiredKeys: an empty list is not an absent one, in lookup too")
    func desiredKeys() throws {
        let json = #"""
            {"records":[{"recordName":"a","desiredKeys":[]},{"recordName":"b","desiredKeys":null}],
             "desiredKeys":[],"zoneID":{"zoneName":"Z","ownerName":"_o"},"numbersAsStrings":true}
            """#
        let expected = LookupRecords.Request(
            zoneID: ZoneID(zoneName: "Z", ownerRecordName: "_o"),
            records: [
                LookupRecords.Item(recordName: "a", desiredKeys: []),
                LookupRecords.Item(recordName: "b"),
            ],
            desiredKeys: [],
            numbersAsStrings: true
        )
        let read = try JSONReader.read(utf8(json)) {
            try LookupRecords.Request(from: &$0)
        }
        #expect(read == expected)
    }
}
