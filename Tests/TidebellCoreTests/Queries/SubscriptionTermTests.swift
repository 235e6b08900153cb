// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Terms of subscriptions")
struct SubscriptionTermTests {
    private func term(_ filters: WireFilter...) -> String {
        SubscriptionTerm(of: filters).rawValue
    }

    @Test("A predicate is found by its most selective equality")
    func choice() {
        let flag = WireFilter(.equals, .field("done"), .int64(0))
        let location = WireFilter(.equals, .field("place"), .string("Sea"))
        let owner = WireFilter(.equals, .system(.createdUserRecordName), .string("_anna"))
        let thread = WireFilter(
            .equals, .field("thread"), .reference(WireReference(recordName: "T"))
        )
        let record = WireFilter(.equals, .system(.recordName), .string("Note-1"))
        let tag = WireFilter(.listContains, .field("tags"), .string("Low"))
        #expect(term(flag, location) == "place=ssea")
        #expect(term(owner, flag) == "done=n0")
        #expect(term(tag, owner) == "___createdBy=r_anna")
        #expect(term(location, thread) == "thread=rT")
        #expect(term(thread, record, location) == "___recordID=rNote-1")
        #expect(term(tag) == "tags@slow")
    }

    @Test("3 and 3.0 are one term, as are all spellings of a text, and long texts are cut")
    func normalisation() {
        func equals(_ value: FieldValue) -> String { term(WireFilter(.equals, .field("f"), value)) }
        #expect(equals(.int64(3)) == "f=n3")
        #expect(equals(.double(3)) == "f=n3")
        #expect(equals(.timestamp(3)) == "f=n3")
        #expect(equals(.double(2.5)) == "f=n2.5")
        #expect(equals(.string("CAFÉ")) == equals(.string("cafe\u{301}")))
        let long = String(repeating: "x", count: 500)
        #expect(equals(.string(long)) == "f=s" + String(repeating: "x", count: 64))
    }

    @Test("One choice is an equality; without any there is no term; with none there is no hope")
    func lists() {
        let one = FieldValue.list(.stringList, [.string("A")])
        let two = FieldValue.list(.stringList, [.string("A"), .string("B")])
        let empty = FieldValue.list(.stringList, [])
        #expect(term(WireFilter(.in, .field("f"), one)) == "f=sa")
        #expect(term(WireFilter(.in, .field("f"), two)) == "")
        #expect(term(WireFilter(.listContainsAny, .field("f"), one)) == "f@sa")
        #expect(term(WireFilter(.listContainsAll, .field("f"), two)) == "f@sa")
        #expect(term() == "")
        #expect(term(WireFilter(.notEquals, .field("f"), .string("a"))) == "")
        #expect(term(.nothing) == "!")
        #expect(term(WireFilter(.listContainsAny, .field("f"), empty)) == "!")
        #expect(!RecordView(name: "r", type: "T").terms.contains(.never))
    }
}
