// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Terms of subscriptions")
struct SubscriptionTermTests {
    private func term(_ filters: WireFilter...) -> String {
        SubscriptionTerms(of: filters).terms.map(\.rawValue).joined(separator: " ")
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
        let places = WireFilter(
            .in, .field("place"), .list(.stringList, [.string("Bay"), .string("Sea")]))
        // Of what finds as little, the one with fewer terms.
        #expect(term(places, location) == "place=ssea")
    }

    @Test("SUB-23: terms are told apart byte by byte, also where Swift takes their texts for one")
    func bytes() {
        let (one, two) = ("t=\u{105C9}", "t=\u{105D2}\u{307}")
        let terms = (SubscriptionTerm(rawValue: one), SubscriptionTerm(rawValue: two))
        #expect([one == two, terms.0 == terms.1, terms.0 != terms.1] == [true, false, true])
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

    @Test("SUB-23: several choices are several terms, one list element is enough, none are none")
    func lists() {
        let one = FieldValue.list(.stringList, [.string("A")])
        let two = FieldValue.list(.stringList, [.string("B"), .string("A"), .string("a")])
        let empty = FieldValue.list(.stringList, [])
        #expect(term(WireFilter(.in, .field("f"), one)) == "f=sa")
        #expect(term(WireFilter(.in, .field("f"), two)) == "f=sa f=sb")
        #expect(term(WireFilter(.listContainsAny, .field("f"), two)) == "f@sa f@sb")
        #expect(term(WireFilter(.listContainsAll, .field("f"), two)) == "f@sb")
        #expect(term() == "")
        #expect(term(.nothing) == "!")
        #expect(term(WireFilter(.listContainsAny, .field("f"), empty)) == "!")
    }

    @Test("SUB-23: bounds, ranges, prefixes, words and places have terms of their own")
    func ranges() {
        func at(_ comparator: WireFilter.Comparator, _ value: FieldValue) -> WireFilter {
            WireFilter(comparator, .field("f"), value)
        }
        // A kind of keys, the bits of a double, and what an integer has beyond it.
        let two = "10c000000000000000" + "0000"
        #expect(term(at(.greaterThan, .int64(2))) == "f>\(two)")
        #expect(term(at(.greaterThanOrEquals, .double(2))) == "f>\(two)")
        #expect(term(at(.lessThan, .int64(2))) == "f<\(two)00")
        #expect(
            term(at(.greaterThan, .int64(2)), at(.lessThan, .int64(3)))
                == "f~10.50.3000 f~10.50.3001 f~10.50.3002")
        #expect(term(at(.greaterThan, .int64(3)), at(.lessThan, .int64(2))) == "!")
        #expect(term(at(.beginsWith, .string("Ab"))) == "f^116162")
        #expect(term(at(.listMemberBeginsWith, .string("Ab"))) == "f%116162")
        #expect(term(at(.containsAllTokens, .string("a lowest tide"))) == "f#116c6f77657374")
        #expect(
            term(at(.containsAnyTokens, .string("low tide"))) == "f#116c6f77 f#1174696465")
        #expect(term(WireFilter(.containsAllTokens, .allText, .string("low"))) == "#116c6f77")
        let near = WireFilter(
            .near, .field("f"), .location(WireLocation(latitude: 1, longitude: 2)), distance: 1000)
        let cells = SubscriptionTerms(of: [near]).terms.map(\.rawValue)
        #expect(cells.allSatisfy { $0.hasPrefix("f+20.") } && (1...8).contains(cells.count))
    }

    @Test(
        "SUB-23: what only excludes, asks for no beginning or for too much has no term, and says why"
    )
    func fallBack() {
        let many = FieldValue.list(.int64List, (0..<101).map { .int64($0) })
        let filters = [
            WireFilter(.notEquals, .field("f"), .string("a")),
            WireFilter(.beginsWith, .field("g"), .string("")),
            WireFilter(.in, .field("h"), many),
        ]
        let terms = SubscriptionTerms(of: filters)
        #expect(terms.terms == [.none])
        #expect(
            terms.reasonAgainst
                == "NOT_EQUALS on 'f' only excludes, BEGINS_WITH on 'g' asks for no "
                + "beginning, IN on 'h' asks for one of more than 100 values")
        #expect(SubscriptionTerms(of: []).reasonAgainst == nil)
        #expect(SubscriptionTerms(of: [filters[0], .nothing]).reasonAgainst == nil)
    }
}
