// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

/// The literal shapes of web-services 4.1, 5.5, 5.6 and 5.8.
@Suite("Shapes of zones and changes")
struct ZoneShapeTests {
    private let notes = ZoneID(zoneName: "Notes", ownerRecordName: "_0f")
    private let notesJSON =
        #"{"zoneName":"Notes","ownerRecordName":"_0f","zoneType":"REGULAR_CUSTOM_ZONE"}"#

    @Test("a zone ID is read by either spelling of its owner and written with its type")
    func zoneID() throws {
        func read(_ json: String) throws -> ZoneID {
            try JSONReader.read(utf8(json)) { try ZoneID(from: &$0) }
        }
        #expect(try read(notesJSON) == notes)
        #expect(try read(#"{"zoneName":"Notes","ownerName":"_0f"}"#) == notes)
        #expect(
            try read(#"{"ownerRecordName":null,"zoneName":"Notes","zoneType":7}"#)
                == ZoneID(zoneName: "Notes")
        )
        #expect(written { notes.write(to: &$0) } == notesJSON)
        #expect(
            written { ZoneID(zoneName: "_defaultZone").write(to: &$0) }
                == #"{"zoneName":"_defaultZone","zoneType":"DEFAULT_ZONE"}"#
        )
    }

    @Test("a zone carries atomic, except where strict clients forbid it")
    func zoneShape() {
        let zone = ZoneResult.zone(WireZone(zoneID: notes, syncToken: "t", isAtomic: true))
        var answer = ZonesResponse(zones: [zone])
        #expect(
            written { answer.write(to: &$0) }
                == #"{"zones":[{"zoneID":\#(notesJSON),"syncToken":"t","atomic":true}]}"#
        )
        answer.sendsAtomic = false
        #expect(
            written { answer.write(to: &$0) }
                == #"{"zones":[{"zoneID":\#(notesJSON),"syncToken":"t"}]}"#
        )
    }

    @Test("zones/modify reads creations and deletions, past unknown members")
    func modifyZones() throws {
        let json = #"""
            {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"A"},"atomic":true}},
             {"zone":{"zoneID":{"zoneName":"B"}},"operationType":"delete","x":1}]}
            """#
        let request = try JSONReader.read(utf8(json)) {
            try ModifyZones.Request(from: &$0)
        }
        #expect(
            request.operations == [.create(ZoneID(zoneName: "A")), .delete(ZoneID(zoneName: "B"))]
        )
    }

    @Test(
        "zones/modify names what is wrong",
        arguments: [
            ("{}", "missing required field 'operations'"),
            (
                #"{"operations":[{"operationType":"create"}]}"#,
                "operations[0]: missing required field 'zoneID'"
            ),
            (
                #"{"operations":[{"zone":{"zoneID":{"zoneName":"A"}}}]}"#,
                "operations[0]: missing required field 'operationType'"
            ),
            (
                #"{"operations":[{"operationType":"update","zone":{"zoneID":{"zoneName":"A"}}}]}"#,
                #"operations[0]: unknown operation type "update""#
            ),
            (
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":null}}}]}"#,
                "operations[0].zone.zoneID.zoneName: expected a string, found null"
            ),
        ]
    )
    func modifyZonesErrors(json: String, expected: String) {
        #expect(
            failure(reading: json) { _ = try ModifyZones.Request(from: &$0) }
                == expected
        )
    }

    @Test("changes/database: a living zone has only its ID, a gone one also deleted")
    func databaseChanges() throws {
        let answer = FetchDatabaseChanges.Response(
            zones: [
                .zone(WireZone(zoneID: notes, isAtomic: true)), .deleted(notes, nil),
                .deleted(notes, .purged),
            ],
            syncToken: "D2",
            moreComing: false
        )
        #expect(
            written { answer.write(to: &$0) }
                == #"{"zones":[{"zoneID":\#(notesJSON)},{"zoneID":\#(notesJSON),"deleted":true},"#
                + #"{"zoneID":\#(notesJSON),"deleted":true,"ext":{"reason":"purged"}}],"#
                + #""syncToken":"D2","moreComing":false}"#
        )
    }

    @Test("changes/database: null and unknown request members are absent ones")
    func databaseChangesRequest() throws {
        for json in ["{}", #"{"syncToken":null,"resultsLimit":null,"fetchAll":true}"#] {
            let request = try JSONReader.read(utf8(json)) {
                try FetchDatabaseChanges.Request(from: &$0)
            }
            #expect(request == FetchDatabaseChanges.Request())
        }
    }

    @Test("changes/zone: options stand per zone and as defaults, with either numbers spelling")
    func zoneChangesRequest() throws {
        let json = #"""
            {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"AQ==","resultsLimit":2,
              "desiredKeys":[],"desiredRecordTypes":["Note"],"reverse":false,"numbersAsStrings":true},
              {"zoneID":{"zoneName":"B"},"syncToken":null}],
             "numberAsStrings":true,"resultsLimit":9,"desiredKeys":null}
            """#
        let request = try JSONReader.read(utf8(json)) {
            try FetchZoneChanges.Request(from: &$0)
        }
        let expected = FetchZoneChanges.Request(
            zones: [
                FetchZoneChanges.Zone(
                    zoneID: ZoneID(zoneName: "Notes"),
                    syncToken: "AQ==",
                    options: FetchZoneChanges.Options(
                        resultsLimit: 2,
                        desiredKeys: [],
                        desiredRecordTypes: ["Note"],
                        reverse: false,
                        numbersAsStrings: true
                    )
                ),
                FetchZoneChanges.Zone(zoneID: ZoneID(zoneName: "B")),
            ],
            options: FetchZoneChanges.Options(resultsLimit: 9, numbersAsStrings: true)
        )
        #expect(request == expected)
    }

    @Test("changes/zone: what a zone sets stands over the request's defaults")
    func mergedOptions() {
        let zone = FetchZoneChanges.Options(resultsLimit: 2, desiredKeys: [])
        let defaults = FetchZoneChanges.Options(
            resultsLimit: 9,
            desiredKeys: ["a"],
            desiredRecordTypes: ["T"],
            reverse: true
        )
        #expect(
            zone.merged(over: defaults)
                == FetchZoneChanges.Options(
                    resultsLimit: 2,
                    desiredKeys: [],
                    desiredRecordTypes: ["T"],
                    reverse: true
                )
        )
    }

    @Test("changes/zone: a page carries its token beside the records; a failed zone its reason")
    func zoneChangesResponse() throws {
        let answer = FetchZoneChanges.Response(zones: [
            .changes(
                FetchZoneChanges.Page(
                    zoneID: notes,
                    syncToken: "AR",
                    moreComing: true,
                    records: [.deleted(WireTombstone(recordName: "n2", recordType: "Note"))],
                    clientChangeToken: [1, 2]
                )
            ),
            .failed(notes, WireError(.zoneNotFound, "Zone 'Notes' does not exist")),
        ])
        #expect(
            written { answer.write(to: &$0) }
                == #"{"zones":[{"zoneID":\#(notesJSON),"syncToken":"AR","moreComing":true,"#
                + #""clientChangeToken":"AQI=","#
                + #""records":[{"recordName":"n2","deleted":true,"recordType":"Note"}]},"#
                + #"{"zoneID":\#(notesJSON),"reason":"Zone 'Notes' does not exist","#
                + #""serverErrorCode":"ZONE_NOT_FOUND"}]}"#
        )
        let nullMore = #"{"zones":[{"zoneID":\#(notesJSON),"syncToken":"t","moreComing":null}]}"#
        let read = try JSONReader.read(utf8(nullMore)) { try FetchZoneChanges.Response(from: &$0) }
        let page = FetchZoneChanges.Page(
            zoneID: notes,
            syncToken: "t",
            moreComing: false,
            records: []
        )
        #expect(read == FetchZoneChanges.Response(zones: [.changes(page)]))
    }
}
