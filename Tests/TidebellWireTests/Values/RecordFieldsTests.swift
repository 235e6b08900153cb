// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@Suite("Record fields")
struct RecordFieldsTests {
    private func changes(_ json: String) throws -> FieldChanges {
        try JSONReader.read(utf8(json)) { try FieldChanges(from: &$0) }
    }

    @Test("the stored form is canonical: names sorted, tags always there")
    func canonical() throws {
        let fields = RecordFields(["b": Field(.int64(1)), "a": Field(.string("x"))])
        #expect(
            String(decoding: fields.json, as: UTF8.self)
                == #"{"a":{"value":"x","type":"STRING"},"b":{"value":1,"type":"INT64"}}"#
        )
        #expect(try fields.decoded() == ["b": Field(.int64(1)), "a": Field(.string("x"))])
        #expect(RecordFields([:]) == .none)
        #expect(RecordFields.none.isEmpty)
        #expect(!fields.isEmpty)
    }

    @Test("SAVE-12: a null value removes, an absent name changes nothing")
    func removal() throws {
        let read = try changes(#"{"gone":{"value":null},"kept":{"value":1}}"#)
        #expect(read == FieldChanges(["gone": nil, "kept": Field(.int64(1))]))
        #expect(
            written { read.write(to: &$0) }
                == #"{"gone":{"value":null},"kept":{"value":1,"type":"INT64"}}"#
        )
    }

    @Test("a name that stands twice is refused, even when its first value removes")
    func duplicates() {
        for first in ["1", "null"] {
            #expect(
                failure(reading: #"{"a":{"value":\#(first)},"a":{"value":2}}"#) {
                    _ = try FieldChanges(from: &$0)
                } == "a: the field is there twice"
            )
        }
    }

    @Test("LIMIT-12: 256 fields are accepted, one more is not")
    func fieldLimit() throws {
        func document(_ count: Int) -> String {
            "{" + (0..<count).map { #""f\#($0)":{"value":1}"# }.joined(separator: ",") + "}"
        }
        #expect(try changes(document(256)).values.count == 256)
        #expect(
            failure(reading: document(257)) { _ = try FieldChanges(from: &$0) }
                == "f256: more than 256 fields"
        )
    }

    @Test("fields decode to what was encoded", arguments: [41, 42] as [UInt64])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let fields = Dictionary(random.list(upTo: 6) { ($0.text(), $0.field()) }) { $1 }
            let decoded = try RecordFields(fields).decoded()
            #expect(decoded == fields, "seed \(seed), round \(round)")
        }
    }
}
