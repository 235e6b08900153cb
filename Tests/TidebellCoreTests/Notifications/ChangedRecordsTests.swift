// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

/// What a change looks up subscriptions by, however long its lists are.
@Suite struct ChangedRecordsTests {
    private func change(_ name: String, _ fields: [String: FieldValue]) -> RecordChange {
        RecordChange(
            recordName: name, recordType: "Note", event: .created,
            fields: RecordFields(fields.mapValues { Field($0) })
        )
    }

    private func numbers(_ range: Range<Int64>) -> FieldValue {
        .list(.int64List, range.map(FieldValue.int64))
    }

    private func triggers(_ records: ChangedRecords) -> Set<String> {
        Set(records.triggers.map { $0.term.rawValue + ($0.isBeginning ? "…" : "") })
    }

    @Test("H7: a change has so many terms; a longer list is found by its field's name")
    func bound() {
        let long = (0..<4).map {
            change("r\($0)", ["l": numbers($0 * 100_000..<$0 * 100_000 + 20_000)])
        }
        #expect(ChangedRecords(long).triggers.count < 10)
        let lists = (0..<400).map {
            change("r\($0)", ["l": numbers($0 * 1000..<$0 * 1000 + 1000)])
        }
        // The name of each record is one more.
        #expect(ChangedRecords(lists).triggers.count < ChangedRecords.termLimit + 500)
    }

    @Test("H7: single values have their terms before lists, and what fits keeps its own")
    func order() {
        let records = ChangedRecords(
            [
                change("a", ["l": numbers(0..<3), "t": .string("x")]),
                change("b", ["l": numbers(0..<2), "t": .string("y")]),
            ],
            termLimit: 4
        )
        #expect(
            triggers(records) == [
                "", "___recordID=ra", "___recordID=rb", "t=sx", "t=sy", "l@…", "l@n0", "l@n1",
            ])
    }
}
