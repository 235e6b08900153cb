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
        Set(records.triggers.map { $0.term.rawValue + ($0.end == nil ? "" : "…") })
    }

    private func asked(_ terms: String...) -> AskedTerms {
        AskedTerms([
            "Note": Set(terms.compactMap { TermFamily(of: SubscriptionTerm(rawValue: $0)) })
        ])
    }

    @Test("H7: a change has so many terms; a longer list is found by its field's name")
    func bound() {
        let long = (0..<4).map {
            change("r\($0)", ["l": numbers($0 * 100_000..<$0 * 100_000 + 20_000)])
        }
        let elements = asked("l@")
        #expect(triggers(ChangedRecords(long, asked: elements)) == ["", "l@…"])
        let lists = (0..<400).map {
            change("r\($0)", ["l": numbers($0 * 1000..<$0 * 1000 + 1000)])
        }
        #expect(
            ChangedRecords(lists, asked: elements).triggers.count < ChangedRecords.termLimit)
        #expect(ChangedRecords(lists).triggers.count < ChangedRecords.termLimit + 500)
    }

    @Test("H7: single values have their terms before lists, and what fits keeps its own")
    func order() {
        let records = ChangedRecords(
            [
                change("a", ["l": numbers(0..<3), "t": .string("x")]),
                change("b", ["l": numbers(7..<9), "t": .string("y")]),
            ],
            asked: asked("l@", "t=", "___recordID="), termLimit: 7
        )
        #expect(
            triggers(records) == [
                "", "___recordID=ra", "___recordID=rb", "t=sx", "t=sy", "l@…",
            ])
        let few = ChangedRecords(
            [change("a", ["l": numbers(0..<3), "t": .string("x")])],
            asked: asked("l@", "t="), termLimit: 4)
        #expect(triggers(few) == ["", "t=sx", "l@n0", "l@n1", "l@n2"])
    }

    @Test("SUB-23: a change has terms of what is asked for only, and the ranges of records are one")
    func families() {
        let changes = (1...3).map { change("r\($0)", ["n": .int64($0), "t": .string("x")]) }
        #expect(triggers(ChangedRecords(changes, asked: AskedTerms([:]))) == [""])
        let floors = ChangedRecords(changes, asked: asked("n>"))
        #expect(
            floors.triggers.map(\.end).compactMap { $0 }.map(\.rawValue)
                == ["n>10c0080000000000000000 "])
    }
}
