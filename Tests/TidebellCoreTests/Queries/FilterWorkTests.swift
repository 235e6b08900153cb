// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("What filters cost")
struct FilterWorkTests {
    private static let words = (0..<5000).map { "word\($0)" }
    private static let text = words.joined(separator: " ")
    private static let listBytes = words.reduce(0) { $0 + $1.utf8.count }

    private func makeRecord() -> RecordView {
        RecordView(
            name: "r", type: "Note",
            fields: [
                "text": Field(.string(Self.text)),
                "list": Field(.list(.stringList, Self.words.map { .string($0) })),
            ]
        )
    }

    private func filters(
        _ comparator: WireFilter.Comparator, _ subject: WireFilter.Subject,
        _ value: (Int) -> FieldValue
    ) -> [PreparedFilter] {
        (0..<WireFilter.countLimit).map {
            PreparedFilter(WireFilter(comparator, subject, value($0)))
        }
    }

    private func word(_ index: Int) -> FieldValue { .string("word\(index)") }
    private func someWords(_ index: Int) -> FieldValue {
        .list(.stringList, [word(index), word(index + 1)])
    }

    private func strange(_ index: Int) -> FieldValue { .string("?\(index)") }

    @Test("QUERY-3: a field is folded once for all filters that ask for the same of it")
    func foldedOnce() {
        let text = WireFilter.Subject.field("text")
        let list = WireFilter.Subject.field("list")
        let cases: [(String, [PreparedFilter], Int)] = [
            ("tokens", filters(.containsAllTokens, text, word), Self.text.utf8.count),
            ("tokens of a list", filters(.containsAnyTokens, list, word), Self.listBytes),
            (
                "all text", filters(.containsAllTokens, .allText, word),
                Self.text.utf8.count + Self.listBytes
            ),
            ("a key", filters(.notEquals, text, word), Self.text.utf8.count),
            ("a key among others", filters(.notIn, text, someWords), Self.text.utf8.count),
            ("a prefix", filters(.notBeginsWith, text, strange), Self.text.utf8.count),
            ("prefixes", filters(.notListMemberBeginsWith, list, strange), Self.listBytes),
            ("elements", filters(.listContains, list, word), Self.listBytes),
            ("any of them", filters(.listContainsAny, list, someWords), Self.listBytes),
            ("all of them", filters(.listContainsAll, list, someWords), Self.listBytes),
        ]
        for (what, filters, bytes) in cases {
            let record = makeRecord()
            #expect(record.foldedBytes == 0)
            #expect(record.verdict(on: filters) == .matches, "\(what)")
            #expect(record.foldedBytes == bytes, "\(what)")
            #expect(record.verdict(on: filters) == .matches, "\(what)")
            #expect(record.foldedBytes == bytes, "\(what)")
        }
    }

    @Test("QUERY-3: a record that is changed is folded anew")
    func changed() {
        let filter = [WireFilter(.containsAllTokens, .field("text"), .string("tide"))]
        var record = makeRecord()
        let copy = record
        #expect(record.verdict(on: filter) != .matches)
        record.fields["text"] = Field(.string("the tide"))
        #expect(record.verdict(on: filter) == .matches)
        #expect(copy.verdict(on: filter) != .matches)
    }

    @Test("What a filter costs is announced before it runs, and grows with the text")
    func countedBefore() {
        struct Enough: Error {}
        let record = makeRecord()
        let tokens = filters(.containsAllTokens, .field("text"), word)
        #expect(throws: Enough.self) {
            try record.verdict(on: tokens) { work in
                if work >= Self.text.utf8.count { throw Enough() }
            }
        }
        #expect(record.foldedBytes == 0)
        var counts: [Int] = []
        let verdict = record.verdict(on: tokens) { counts.append($0) }
        #expect(verdict == .matches)
        #expect(counts.count == WireFilter.countLimit)
        #expect(counts[0] >= Self.text.utf8.count)
        #expect(counts.dropFirst().allSatisfy { $0 > 0 && $0 < 1000 })
    }

    @Test("Filters with long lists cost no more than the record is long")
    func longLists() {
        let many = FieldValue.list(
            .stringList, (0..<WireFilter.elementLimit).map { .string("\($0) of many") }
        )
        let record = RecordView(
            name: "r", type: "Note", fields: ["list": Field(.list(.stringList, [.string("x")]))]
        )
        let filters = filters(.notListContainsAny, .field("list")) { _ in many }
        var work = 0
        let verdict = record.verdict(on: filters) { work += $0 }
        #expect(verdict == .matches)
        #expect(work < WireFilter.countLimit * 200)
    }
}
