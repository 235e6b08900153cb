// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Filters and long runs of marks")
struct LongMarkRunTests {
    /// What a subscription or a query holds against a record with such a text.
    @Test("QUERY-8: a filter is held against 400 KB of marks, however they are ordered")
    func filters() throws {
        let text = "a" + String(repeating: "\u{301}\u{316}", count: 100_000)
        let stored = Array(#"{"t":{"value":"\#(text)"},"l":{"value":["b","\#(text)"]}}"#.utf8)
        let record = RecordView(
            name: "n1", type: "Note",
            created: RecordStamp(timestamp: 0, userRecordName: "_anna", deviceID: ""),
            modified: RecordStamp(timestamp: 0, userRecordName: "_anna", deviceID: ""),
            parent: nil, fields: try RecordFields(json: stored).decoded()
        )
        let passes = { (comparator: WireFilter.Comparator, field: String) in
            let subject = field.isEmpty ? WireFilter.Subject.allText : .field(field)
            let filter = WireFilter(comparator, subject, .string("\u{E1}b"))
            return record.verdict(on: [filter]) == .matches
        }
        #expect(!passes(.equals, "t"))
        #expect(passes(.notEquals, "t"))
        #expect(!passes(.beginsWith, "t"))
        #expect(!passes(.listContains, "l"))
        #expect(!passes(.containsAllTokens, ""))
        #expect(!passes(.lessThan, "t") || !passes(.greaterThan, "t"))
    }
}
