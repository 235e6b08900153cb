// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@Suite("Field values")
struct FieldValueTests {
    private func read(_ field: String) throws -> Field? {
        try JSONReader.read(utf8(field)) { try Field.read(from: &$0) }
    }

    private func problem(_ field: String) -> String? {
        failure(reading: field) { _ = try Field.read(from: &$0) }
    }

    @Test(
        "An asset of an impossible size is refused", arguments: [-1, 1 << 48 + 1, .max] as [Int64])
    func impossibleSizes(size: Int64) {
        let asset = #"{"fileChecksum":"c","size":\#(size)}"#
        #expect(
            problem(#"{"type":"ASSETID","value":\#(asset)}"#)?
                .contains("the size of an asset must be 0 to 281474976710656") == true
        )
    }

    /// What each tag makes of a JSON value.
    static let typed: [(String, FieldValue)] = [
        (#"{"value":"a","type":"STRING"}"#, .string("a")),
        (#"{"type":"INT64","value":3}"#, .int64(3)),
        (#"{"value":3.0,"type":"INT64"}"#, .int64(3)),
        (#"{"value":"-3","type":"INT64"}"#, .int64(-3)),
        (#"{"value":"9223372036854775807","type":"INT64"}"#, .int64(.max)),
        (#"{"value":3,"type":"DOUBLE"}"#, .double(3)),
        (#"{"value":2.5,"type":"DOUBLE"}"#, .double(2.5)),
        (#"{"value":1700000000000,"type":"TIMESTAMP"}"#, .timestamp(1_700_000_000_000)),
        (#"{"value":1.7e12,"type":"TIMESTAMP"}"#, .timestamp(1_700_000_000_000)),
        (#"{"value":"AQID","type":"BYTES"}"#, .bytes([1, 2, 3])),
        (#"{"value":"","type":"BYTES"}"#, .bytes([])),
        (
            #"{"value":{"recordName":"r","action":"DELETE_SELF"},"type":"REFERENCE"}"#,
            .reference(WireReference(recordName: "r", action: .deleteSelf))
        ),
        (
            #"{"value":{"recordName":"r","zoneID":{"zoneName":"Z"},"action":"VALIDATE"}}"#,
            .reference(
                WireReference(recordName: "r", zoneID: ZoneID(zoneName: "Z"), action: .validate)
            )
        ),
        (
            #"{"value":{"fileChecksum":"c","size":9,"receipt":"r","wrappingKey":"w"},"type":"ASSET"}"#,
            .asset(WireAsset(fileChecksum: "c", size: 9, receipt: "r", wrappingKey: "w"))
        ),
        (
            #"{"value":{"fileChecksum":"c","size":9,"downloadURL":"u"},"type":"ASSETID"}"#,
            .asset(WireAsset(fileChecksum: "c", size: 9, downloadURL: "u"))
        ),
        (
            #"{"value":{"latitude":1,"longitude":-2.5,"altitude":null,"timestamp":7},"type":"LOCATION"}"#,
            .location(WireLocation(latitude: 1, longitude: -2.5, timestamp: 7))
        ),
        (#"{"value":["a"],"type":"STRING_LIST"}"#, .list(.stringList, [.string("a")])),
        (
            #"{"value":[1,"2",3.0],"type":"INT64_LIST"}"#,
            .list(.int64List, [.int64(1), .int64(2), .int64(3)])
        ),
        (
            #"{"value":[1,2.5],"type":"DOUBLE_LIST"}"#,
            .list(.doubleList, [.double(1), .double(2.5)])
        ),
        (
            #"{"value":[1,2],"type":"TIMESTAMP_LIST"}"#,
            .list(.timestampList, [.timestamp(1), .timestamp(2)])
        ),
        (
            #"{"value":["AQ==",""],"type":"BYTES_LIST"}"#,
            .list(.bytesList, [.bytes([1]), .bytes([])])
        ),
        (
            #"{"value":[{"recordName":"r","action":"NONE"}],"type":"REFERENCE_LIST"}"#,
            .list(.referenceList, [.reference(WireReference(recordName: "r"))])
        ),
        (
            #"{"value":[{"fileChecksum":"c","size":1}],"type":"ASSET_LIST"}"#,
            .list(.assetList, [.asset(WireAsset(fileChecksum: "c", size: 1))])
        ),
        (
            #"{"value":[{"latitude":0,"longitude":0}],"type":"LOCATION_LIST"}"#,
            .list(.locationList, [.location(WireLocation(latitude: 0, longitude: 0))])
        ),
        (#"{"value":[],"type":"LOCATION_LIST"}"#, .list(.locationList, [])),
        (
            #"{"value":[9007199254740993,2.0],"type":"INT64_LIST"}"#,
            .list(.int64List, [.int64(9_007_199_254_740_993), .int64(2)])
        ),
    ]

    @Test("a tag decides what the JSON value is", arguments: typed)
    func tagDecides(json: String, value: FieldValue) throws {
        #expect(try read(json) == Field(value))
    }

    @Test(
        "without a tag the JSON shape decides",
        arguments: [
            (#"{"value":"AQID"}"#, .string("AQID")), (#"{"value":3}"#, .int64(3)),
            (#"{"value":3.0}"#, .double(3)),
            (#"{"value":["a","b"]}"#, .list(.stringList, [.string("a"), .string("b")])),
            (#"{"value":[1,2.5]}"#, .list(.doubleList, [.double(1), .double(2.5)])),
            (#"{"value":[]}"#, .list(nil, [])),
            (#"{"type":null,"value":1,"isEncrypted":null}"#, .int64(1)),
            (
                #"{"value":{"recordName":"r","zoneID":null,"action":null,"size":null}}"#,
                .reference(WireReference(recordName: "r"))
            ),
        ] as [(String, FieldValue)]
    )
    func shapeDecides(json: String, value: FieldValue) throws {
        #expect(try read(json) == Field(value))
    }

    @Test(
        "no value, a null value and a bare tag remove the field",
        arguments: [
            #"{}"#, #"{"value":null}"#, #"{"type":"TIMESTAMP"}"#,
            #"{"type":"STRING","value":null}"#,
        ]
    )
    func removes(json: String) throws {
        #expect(try read(json) == nil)
    }

    @Test("REC-11: isEncrypted is kept beside the plain tag")
    func encrypted() throws {
        let json = #"{"value":"s","type":"STRING","isEncrypted":true}"#
        let field = Field(.string("s"), isEncrypted: true)
        #expect(try read(json) == field)
        #expect(written { field.write(to: &$0) } == json)
    }

    @Test("REC-4: what a time is away from its millisecond stands beside the value")
    func nanoseconds() throws {
        let one = #"{"value":1063,"type":"TIMESTAMP","nanoseconds":-500000}"#
        let field = Field(.timestamp(1063), nanoseconds: [-500_000])
        #expect(try read(one) == field)
        #expect(written { field.write(to: &$0) } == one)
        let two = #"{"value":[1,2],"type":"TIMESTAMP_LIST","isEncrypted":true,"nanoseconds":[0,7]}"#
        let list = Field(
            .list(.timestampList, [.timestamp(1), .timestamp(2)]),
            isEncrypted: true, nanoseconds: [0, 7]
        )
        #expect(try read(two) == list)
        #expect(written { list.write(to: &$0) } == two)
        let whole = Field(.timestamp(1), nanoseconds: [0])
        #expect(whole == Field(.timestamp(1)))
    }

    @Test(
        "nanoseconds that belong to no time, or leave its millisecond, are refused",
        arguments: [
            (#"{"value":1,"type":"INT64","nanoseconds":1}"#, "1 nanoseconds for 0 times"),
            (
                #"{"value":[1],"type":"TIMESTAMP_LIST","nanoseconds":[1,2]}"#,
                "2 nanoseconds for 1 times"
            ),
            (
                #"{"value":1,"type":"TIMESTAMP","nanoseconds":1000000}"#,
                "nanoseconds: nanoseconds beyond the millisecond"
            ),
            (
                #"{"value":1,"type":"TIMESTAMP","nanoseconds":-9223372036854775808}"#,
                "nanoseconds: nanoseconds beyond the millisecond"
            ),
        ]
    )
    func refusesNanoseconds(json: String, expected: String) {
        #expect(problem(json) == expected)
    }

    @Test(
        "a value that is not of its tag is refused by the tag's name",
        arguments: [
            (#"{"value":1.5,"type":"TIMESTAMP"}"#, "TIMESTAMP"),
            (#"{"value":"2024-01-01","type":"TIMESTAMP"}"#, "TIMESTAMP"),
            (#"{"value":[1,1.5],"type":"TIMESTAMP_LIST"}"#, "TIMESTAMP"),
            (#"{"value":2.5,"type":"INT64"}"#, "INT64"),
            (#"{"value":"2.5","type":"INT64"}"#, "INT64"),
            (#"{"value":"9223372036854775808","type":"INT64"}"#, "INT64"),
            (#"{"value":9223372036854775808,"type":"INT64"}"#, "INT64"),
            (#"{"value":7,"type":"STRING"}"#, "STRING"),
            (#"{"value":"7","type":"DOUBLE"}"#, "DOUBLE"),
            (#"{"value":"no base64!","type":"BYTES"}"#, "BYTES"),
            (#"{"value":"r","type":"REFERENCE"}"#, "REFERENCE"),
            (#"{"value":{"latitude":1,"longitude":2},"type":"ASSET"}"#, "ASSETID"),
            (#"{"value":"a","type":"STRING_LIST"}"#, "STRING_LIST"),
            (#"{"value":["a"],"type":"STRING"}"#, "STRING"),
            (#"{"value":[],"type":"STRING"}"#, "STRING"),
            (#"{"value":["a",1],"type":"STRING_LIST"}"#, "STRING"),
        ]
    )
    func refusesOtherTypes(json: String, expected: String) {
        #expect(problem(json) == "Invalid value, expected type \(expected).")
    }

    @Test(
        "REC-4: what no CloudKit type can hold is refused with its reason",
        arguments: [
            (#"{"value":true}"#, "value: CloudKit has no boolean type; use INT64 0 or 1"),
            (#"{"value":1,"type":"BOOLEAN"}"#, #"type: unknown field type "BOOLEAN""#),
            (#"{"value":1,"type":"int64"}"#, #"type: unknown field type "int64""#),
            (#"{"value":[["a"]]}"#, "value: a list cannot contain lists"),
            (#"{"value":[[]]}"#, "value: a list cannot contain lists"),
            (#"{"value":["a",[]]}"#, "value: a list cannot contain lists"),
            (#"{"value":["a",null]}"#, "value[1]: null inside a list"),
            (#"{"value":["a",1]}"#, "a list has values of one type, not INT64 and STRING"),
            (#"{"value":{}}"#, "value: an object that is not a reference, asset or location"),
            (
                #"{"value":{"recordName":""}}"#,
                "value: an object that is not a reference, asset or location"
            ),
            (
                #"{"value":{"latitude":1}}"#,
                "value: an object that is not a reference, asset or location"
            ),
            (
                #"{"value":{"recordName":"r","action":"CASCADE"}}"#,
                #"value.action: unknown reference action "CASCADE""#
            ),
            (#"{"value":{"recordName":7}}"#, "value.recordName: expected a string, found a number"),
        ]
    )
    func refusesWhatCloudKitLacks(json: String, expected: String) {
        #expect(problem(json) == expected)
    }

    @Test("every value is written with its granular tag")
    func writesTags() {
        let values: [(FieldValue, String)] = [
            (.string("a"), #"{"value":"a","type":"STRING"}"#),
            (.int64(1), #"{"value":1,"type":"INT64"}"#),
            (.double(1), #"{"value":1.0,"type":"DOUBLE"}"#),
            (.timestamp(1), #"{"value":1,"type":"TIMESTAMP"}"#),
            (.bytes([1, 2, 3]), #"{"value":"AQID","type":"BYTES"}"#),
            (
                .reference(WireReference(recordName: "r", zoneID: ZoneID(zoneName: "Z"))),
                #"{"value":{"recordName":"r","zoneID":{"zoneName":"Z","#
                    + #""zoneType":"REGULAR_CUSTOM_ZONE"},"action":"NONE"},"type":"REFERENCE"}"#
            ),
            (
                .asset(WireAsset(fileChecksum: "c", size: 9, downloadURL: "u")),
                #"{"value":{"fileChecksum":"c","size":9,"downloadURL":"u"},"type":"ASSETID"}"#
            ),
            (
                .location(WireLocation(latitude: 1, longitude: 2, speed: 3, timestamp: 4)),
                #"{"value":{"latitude":1.0,"longitude":2.0,"speed":3.0,"timestamp":4},"#
                    + #""type":"LOCATION"}"#
            ),
            (.list(.int64List, [.int64(1)]), #"{"value":[1],"type":"INT64_LIST"}"#),
            (.list(.stringList, []), #"{"value":[],"type":"STRING_LIST"}"#),
            (.list(nil, []), #"{"value":[]}"#),
        ]
        for (value, json) in values {
            #expect(written { Field(value).write(to: &$0) } == json)
        }
    }

    @Test("numbersAsStrings writes INT64 as text, in lists too, and nothing else")
    func numbersAsStrings() {
        func text(_ value: FieldValue) -> String {
            written { Field(value).write(to: &$0, numbersAsStrings: true) }
        }
        #expect(text(.int64(.max)) == #"{"value":"9223372036854775807","type":"INT64"}"#)
        #expect(text(.list(.int64List, [.int64(1)])) == #"{"value":["1"],"type":"INT64_LIST"}"#)
        #expect(text(.timestamp(1)) == #"{"value":1,"type":"TIMESTAMP"}"#)
        #expect(text(.double(1)) == #"{"value":1.0,"type":"DOUBLE"}"#)
    }

    @Test("a value keeps its type from writing to reading", arguments: [31, 32, 33] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<500 {
            let field = random.field()
            for asStrings in [false, true] {
                let bytes = JSONWriter.write { field.write(to: &$0, numbersAsStrings: asStrings) }
                let read = try JSONReader.read(bytes) { try Field.read(from: &$0) }
                #expect(read == field, "seed \(seed), round \(round)")
            }
        }
    }
}
