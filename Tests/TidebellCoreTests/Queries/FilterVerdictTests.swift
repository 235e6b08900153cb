// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("Filters and records")
struct FilterVerdictTests {
    private static let target = WireReference(
        recordName: "harbour", zoneID: ZoneID(zoneName: "Z"), action: .deleteSelf
    )
    private static let kiel = WireLocation(latitude: 54.3233, longitude: 10.1228)
    private static let record = RecordView(
        name: "Note-1", type: "Note",
        created: RecordStamp(timestamp: 1000, userRecordName: "_anna", deviceID: "phone"),
        modified: RecordStamp(timestamp: 2000, userRecordName: "_otto", deviceID: ""),
        parent: "harbour",
        fields: [
            "title": Field(.string("The Café by the Straße")),
            "height": Field(.int64(3)),
            "ratio": Field(.double(2.5)),
            "when": Field(.timestamp(1500)),
            "at": Field(.location(kiel)),
            "of": Field(.reference(target)),
            "tags": Field(.list(.stringList, [.string("Low"), .string("spring tide")])),
            "levels": Field(.list(.int64List, [.int64(1), .int64(2)])),
            "empty": Field(.list(.stringList, [])),
            "refs": Field(.list(.referenceList, [.reference(target)])),
            "raw": Field(.bytes([1, 2])),
            "secret": Field(.string("pearl"), isEncrypted: true),
        ]
    )

    private func passes(
        _ comparator: WireFilter.Comparator, _ field: String, _ value: FieldValue,
        distance: Double? = nil
    ) -> Bool {
        let subject = field == "self" ? WireFilter.Subject.allText : .init(fieldName: field)
        let filter = WireFilter(comparator, subject, value, distance: distance)
        return Self.record.verdict(on: [filter]) == .matches
    }

    private func strings(_ texts: String...) -> FieldValue {
        .list(.stringList, texts.map { .string($0) })
    }

    @Test("QUERY-8: strings are equal whatever their case, and however their accents are written")
    func stringEquality() {
        for text in [
            "The Café by the Straße", "the cafe\u{301} BY THE STRASSE", "THE CAFÉ BY THE STRASSE",
        ] {
            #expect(passes(.equals, "title", .string(text)), "\(text)")
            #expect(!passes(.notEquals, "title", .string(text)), "\(text)")
            #expect(passes(.in, "title", strings("other", text)), "\(text)")
        }
        #expect(!passes(.equals, "title", .string("The Cafe by the Straße")))
        #expect(!passes(.equals, "title", .string("The Café")))
    }

    @Test("QUERY-8: a prefix is case-sensitive")
    func prefixes() {
        #expect(passes(.beginsWith, "title", .string("The Ca")))
        #expect(passes(.beginsWith, "title", .string("")))
        #expect(!passes(.beginsWith, "title", .string("the Ca")))
        #expect(passes(.notBeginsWith, "title", .string("the Ca")))
        #expect(passes(.listMemberBeginsWith, "tags", .string("spring")))
        #expect(!passes(.listMemberBeginsWith, "tags", .string("low")))
        #expect(passes(.notListMemberBeginsWith, "tags", .string("low")))
        #expect(!passes(.beginsWith, "height", .string("3")))
    }

    @Test("QUERY-8: a prefix is of whole characters, however their accents are written")
    func accentedPrefixes() {
        func begins(_ text: String, with start: String) -> Bool {
            let record = RecordView(name: "r", type: "T", fields: ["t": Field(.string(text))])
            let filter = WireFilter(.beginsWith, .field("t"), .string(start))
            return record.verdict(on: [filter]) == .matches
        }
        for word in ["caf\u{E9}s", "cafe\u{301}s"] {
            #expect(begins(word, with: "caf\u{E9}"))
            #expect(begins(word, with: "cafe\u{301}"))
            #expect(!begins(word, with: "cafe"))
            #expect(begins(word, with: "caf"))
        }
    }

    @Test("QUERY-8, QUERY-5: words are found without case, accents and stop words")
    func tokens() {
        #expect(passes(.containsAllTokens, "title", .string("cafe STRASSE")))
        #expect(passes(.containsAllTokens, "title", .string("the cafe, with strasse!")))
        #expect(!passes(.containsAllTokens, "title", .string("cafe sea")))
        #expect(passes(.containsAnyTokens, "title", .string("sea café")))
        #expect(!passes(.containsAnyTokens, "title", .string("the by")))
        #expect(!passes(.containsAllTokens, "title", .string("caf")))
        #expect(passes(.containsAllTokens, "tags", .string("tide low")))
        #expect(passes(.containsAllTokens, "self", .string("cafe tide")))
        #expect(!passes(.containsAnyTokens, "self", .string("pearl")))
        #expect(!passes(.containsAllTokens, "height", .string("3")))
    }

    @Test("Numbers are compared by value, whatever their type, and exactly")
    func numbers() {
        #expect(passes(.equals, "height", .double(3)))
        #expect(passes(.lessThan, "height", .double(3.5)))
        #expect(!passes(.lessThan, "height", .double(3)))
        #expect(passes(.lessThanOrEquals, "height", .double(3)))
        #expect(passes(.greaterThan, "ratio", .int64(2)))
        #expect(passes(.greaterThanOrEquals, "ratio", .double(2.5)))
        #expect(passes(.in, "height", .list(.doubleList, [.double(3)])))
        #expect(passes(.greaterThan, "when", .timestamp(1499)))
        #expect(passes(.equals, "when", .int64(1500)))
        #expect(!passes(.equals, "height", .string("3")))
        // 2^53 + 1 has no double; rounding would make it equal to 2^53.
        let big = RecordView(
            name: "b", type: "Note", fields: ["n": Field(.int64(9_007_199_254_740_993))]
        )
        let filter = WireFilter(.equals, .field("n"), .double(9_007_199_254_740_992))
        #expect(
            big.verdict(on: [filter])
                == .failed(filter, found: .int64(9_007_199_254_740_993))
        )
        #expect(
            big.verdict(on: [WireFilter(.lessThan, .field("n"), .double(1e300))]) == .matches
        )
        #expect(
            big.verdict(on: [WireFilter(.greaterThan, .field("n"), .double(-1e300))]) == .matches
        )
    }

    @Test("REF-8, QUERY-10: a reference is compared by its target alone, case and all")
    func references() {
        let other = FieldValue.reference(WireReference(recordName: "harbour"))
        #expect(passes(.equals, "of", other))
        #expect(passes(.in, "of", .list(.referenceList, [other])))
        #expect(passes(.listContains, "refs", other))
        #expect(!passes(.equals, "of", .reference(WireReference(recordName: "Harbour"))))
    }

    @Test("QUERY-9: NEAR is inside the circle, on the great circle")
    func near() {
        let hamburg = FieldValue.location(WireLocation(latitude: 53.5511, longitude: 9.9937))
        #expect(passes(.near, "at", hamburg, distance: 87_000))
        #expect(!passes(.near, "at", hamburg, distance: 86_000))
        let antimeridian = RecordView(
            name: "f", type: "Note",
            fields: ["at": Field(.location(WireLocation(latitude: 0, longitude: 179.9)))]
        )
        let east = WireFilter(
            .near, .field("at"), .location(WireLocation(latitude: 0, longitude: -179.9)),
            distance: 23_000
        )
        #expect(antimeridian.verdict(on: [east]) == .matches)
    }

    @Test("QUERY-22: lists are looked into by their elements")
    func lists() {
        #expect(passes(.listContains, "tags", .string("LOW")))
        #expect(!passes(.listContains, "tags", .string("high")))
        #expect(passes(.notListContains, "tags", .string("high")))
        #expect(passes(.listContains, "levels", .double(2)))
        #expect(passes(.listContainsAny, "tags", strings("high", "low")))
        #expect(!passes(.listContainsAny, "tags", strings()))
        #expect(passes(.notListContainsAny, "tags", strings("high")))
        #expect(passes(.listContainsAll, "tags", strings("low", "Spring Tide")))
        #expect(!passes(.listContainsAll, "tags", strings("low", "high")))
        #expect(passes(.notListContainsAll, "tags", strings("low", "high")))
        #expect(passes(.listContainsAll, "empty", strings()))
        #expect(!passes(.listContains, "title", .string("The Café by the Straße")))
        #expect(!passes(.in, "tags", strings("Low")))
    }

    @Test("QUERY-6: system fields are compared like fields, their names exactly")
    func systemFields() {
        #expect(passes(.equals, "___recordID", .string("Note-1")))
        #expect(
            passes(.equals, "___recordID", .reference(WireReference(recordName: "Note-1")))
        )
        #expect(!passes(.equals, "___recordID", .string("note-1")))
        #expect(passes(.beginsWith, "___recordID", .string("Note-")))
        #expect(passes(.in, "___recordID", strings("x", "Note-1")))
        #expect(passes(.greaterThan, "___modTime", .timestamp(1999)))
        #expect(passes(.lessThanOrEquals, "___createTime", .timestamp(1000)))
        #expect(passes(.equals, "___createdBy", .reference(WireReference(recordName: "_anna"))))
        #expect(passes(.notEquals, "___modifiedBy", .string("_anna")))
        #expect(passes(.equals, "___parent", .string("harbour")))
        #expect(!passes(.equals, "___share", .string("s")))
        #expect(passes(.notEquals, "___share", .string("s")))
    }

    @Test("A missing field, or one of another type, passes nothing but a NOT_")
    func missingFields() {
        for comparator in WireFilter.Comparator.allCases {
            let isNegated = comparator.rawValue.hasPrefix("NOT_")
            for value in [FieldValue.string("x"), strings("x"), .int64(1)] {
                let distance = 1.0
                #expect(passes(comparator, "none", value, distance: distance) == isNegated)
                #expect(passes(comparator, "raw", value, distance: distance) == isNegated)
            }
        }
    }

    @Test("REC-11: an encrypted field passes nothing at all")
    func encryptedFields() {
        for comparator in WireFilter.Comparator.allCases {
            for value in [FieldValue.string("pearl"), strings("pearl")] {
                #expect(!passes(comparator, "secret", value))
            }
        }
    }

    @Test("QUERY-3: all filters have to hold; the first that does not is named, with what it met")
    func conjunction() {
        let holds = WireFilter(.equals, .field("height"), .int64(3))
        let fails = WireFilter(.lessThan, .field("height"), .int64(3))
        let misses = WireFilter(.equals, .field("none"), .int64(3))
        let hidden = WireFilter(.equals, .field("secret"), .string("pearl"))
        #expect(Self.record.verdict(on: []) == .matches)
        #expect(Self.record.verdict(on: [holds, holds]) == .matches)
        #expect(
            Self.record.verdict(on: [holds, fails, misses]) == .failed(fails, found: .int64(3))
        )
        #expect(Self.record.verdict(on: [misses, fails]) == .failed(misses, found: nil))
        #expect(Self.record.verdict(on: [hidden]) == .failed(hidden, found: nil))
        #expect(
            Self.record.verdict(on: [.nothing]) == .failed(.nothing, found: .string("Note-1"))
        )
    }
}
