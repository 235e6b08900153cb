// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

/// Which predicates a query subscription may have.
@Suite struct FilterRulesTests {
    /// Why a subscription with these filters is refused; nil if it is saved.
    private func reason(
        _ filters: WireFilter..., type: String = "Note", on bench: Bench
    ) async throws -> String? {
        try await reason(filters, type: type, on: bench)
    }

    private func reason(
        _ filters: [WireFilter], type: String = "Note", on bench: Bench
    ) async throws -> String? {
        var subscription = WireSubscription(
            subscriptionID: "s", kind: .query, recordType: type, firesOn: .create
        )
        subscription.filters = filters
        guard case .failed("s", let error) = try await bench.subscribe(subscription) else {
            return nil
        }
        #expect(error.code == .badRequest)
        return error.reason
    }

    /// A bench whose schema knows a type with a field of every sort.
    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let location = FieldValue.location(WireLocation(latitude: 54, longitude: 10))
        try await bench.modify(
            .save(
                .create, "a",
                fields: [
                    "text": Field(.string("x")), "number": Field(.int64(1)),
                    "ratio": Field(.double(0.5)), "at": Field(.timestamp(1)),
                    "place": Field(location), "raw": Field(.bytes([1])),
                    "tags": Field(.list(.stringList, [.string("x")])),
                    "of": Field(.reference(WireReference(recordName: "b"))),
                    "secret": Field(.string("x"), isEncrypted: true),
                ]
            )
        )
        return bench
    }

    @Test("SUB-22: filters that fit the fields are saved and come back")
    func accepted() async throws {
        let bench = try await bench()
        let filters = [
            WireFilter(.equals, .field("text"), .string("x")),
            WireFilter(.lessThan, .field("number"), .double(1.5)),
            WireFilter(.greaterThan, .field("ratio"), .int64(0)),
            WireFilter(.greaterThan, .field("at"), .int64(0)),
            WireFilter(.in, .field("text"), .list(.stringList, [.string("x"), .string("y")])),
            WireFilter(
                .near, .field("place"), .location(WireLocation(latitude: 1, longitude: 2)),
                distance: 5000
            ),
            WireFilter(.listContains, .field("tags"), .string("x")),
            WireFilter(.notListContainsAll, .field("tags"), .list(.stringList, [])),
            WireFilter(.equals, .field("of"), .reference(WireReference(recordName: "b"))),
            WireFilter(.containsAllTokens, .allText, .string("x y")),
            WireFilter(.listMemberBeginsWith, .field("tags"), .string("x")),
            WireFilter(.equals, .system(.recordName), .string("a")),
            WireFilter(
                .equals, .system(.createdUserRecordName),
                .reference(WireReference(recordName: "_a"))
            ),
            WireFilter(.lessThan, .system(.modifiedTimestamp), .timestamp(5)),
            WireFilter(.equals, .field("raw"), .bytes([1])),
            WireFilter(.notIn, .field("raw"), .list(.bytesList, [.bytes([1])])),
            WireFilter(.equals, .field("later"), .string("x")), .nothing,
        ]
        #expect(try await reason(filters, on: bench) == nil)
        let call = bench.call()
        let saved = try await bench.store.read { try ListSubscriptions.run(for: call, in: $0) }
        guard case .subscription(let subscription)? = saved.subscriptions.first else {
            Issue.record("\(saved)")
            return
        }
        #expect(subscription.filters == filters)
    }

    @Test("SUB-22, QUERY-21: what is compared with a known field must fit its type")
    func types() async throws {
        let bench = try await bench()
        let head = "subscription 's': filterBy[0], "
        #expect(
            try await reason(WireFilter(.equals, .field("text"), .int64(1)), on: bench)
                == head + "EQUALS on 'text': "
                + "Invalid value, expected type STRING but actual value was INT64"
        )
        #expect(
            try await reason(
                WireFilter(.equals, .field("text"), .list(.stringList, [])), on: bench)
                == head + "EQUALS on 'text': "
                + "Invalid value, expected one value but actual value was a list"
        )
        #expect(
            try await reason(WireFilter(.in, .field("text"), .string("x")), on: bench)
                == head + "IN on 'text': "
                + "Invalid value, expected a list; write the type of the list too"
        )
        #expect(
            try await reason(WireFilter(.equals, .field("tags"), .string("x")), on: bench)
                == head + "EQUALS on 'tags': a STRING_LIST field is compared with LIST_CONTAINS"
        )
        #expect(
            try await reason(WireFilter(.listContains, .field("text"), .string("x")), on: bench)
                == head + "LIST_CONTAINS on 'text': a STRING field is no list"
        )
        #expect(
            try await reason(
                WireFilter(.lessThan, .field("of"), .reference(.init(recordName: "b"))), on: bench
            ) == head + "LESS_THAN on 'of': REFERENCE fields have no order"
        )
        #expect(
            try await reason(WireFilter(.beginsWith, .field("number"), .string("1")), on: bench)
                == head + "BEGINS_WITH on 'number': expected a field of type STRING, not INT64"
        )
        #expect(
            try await reason(
                WireFilter(.greaterThan, .system(.createdTimestamp), .string("x")), on: bench)
                == head + "GREATER_THAN on 'createdTimestamp': "
                + "Invalid value, expected type TIMESTAMP but actual value was STRING"
        )
    }

    @Test("QUERY-7, REC-11: bytes are equal or not, assets and encrypted fields cannot be queried")
    func unqueryable() async throws {
        let bench = try await bench()
        #expect(
            try await reason(WireFilter(.lessThan, .field("raw"), .bytes([1])), on: bench)
                == "subscription 's': filterBy[0], LESS_THAN on 'raw': BYTES fields have no order"
        )
        let asset = FieldValue.asset(WireAsset(fileChecksum: "x", size: 1))
        #expect(
            try await reason(WireFilter(.equals, .field("new"), asset), on: bench)
                == "subscription 's': filterBy[0], EQUALS on 'new': "
                + "ASSETID fields cannot be queried"
        )
        #expect(
            try await reason(WireFilter(.equals, .field("secret"), .string("x")), on: bench)
                == "subscription 's': filterBy[0], EQUALS on 'secret': "
                + "encrypted fields cannot be queried"
        )
    }

    @Test("NINFO-20, REC-11: a push does not show what is stored encrypted")
    func encryptedDesiredKeys() async throws {
        let bench = try await bench()
        var subscription = WireSubscription(
            subscriptionID: "s", kind: .query, recordType: "Note", firesOn: .create
        )
        subscription.notificationInfo = WireNotificationInfo()
        subscription.notificationInfo?.desiredKeys = ["text", "secret"]
        #expect(
            try await bench.subscribe(subscription)
                == .failed(
                    subscriptionID: "s",
                    WireError(
                        .badRequest,
                        "additionalFields names 'secret', which record type 'Note' stores "
                            + "encrypted; pushes are not"
                    )
                )
        )
    }

    @Test("QUERY-6, QUERY-21: names that are no fields are refused, with a hint")
    func names() async throws {
        let bench = try await bench()
        let head = "subscription 's': filterBy[1], EQUALS on "
        let good = WireFilter(.equals, .field("text"), .string("x"))
        #expect(
            try await reason(
                good, WireFilter(.equals, .field("recordName"), .string("x")), on: bench)
                == head + "'recordName': Did not find field: 'recordName' in type 'Note'; "
                + "for the system field write systemFieldName"
        )
        for name in ["a.b", "_x", "", "1", "é"] {
            let reason = try await reason(
                good, WireFilter(.equals, .field(name), .string("x")), on: bench)
            #expect(
                reason?.hasPrefix(head + "'\(name)': a field name is a letter followed by") == true,
                "\(name)"
            )
        }
        #expect(
            try await reason(WireFilter(.equals, .allText, .string("x")), on: bench)
                == "subscription 's': filterBy[0], EQUALS on 'self': needs a fieldName or a "
                + "systemFieldName; only tokens are looked for in all text"
        )
    }

    @Test("SUB-22: fields and types nobody has used yet may be watched")
    func unknownType() async throws {
        let bench = try await Bench()
        let filter = WireFilter(.equals, .field("any"), .string("x"))
        #expect(try await reason(filter, type: "Later", on: bench) == nil)
    }

    @Test("QUERY-9: NEAR needs a location on earth and a distance, nothing else does")
    func distances() async throws {
        let bench = try await bench()
        let location = FieldValue.location(WireLocation(latitude: 54, longitude: 10))
        let nowhere = FieldValue.location(WireLocation(latitude: 91, longitude: 10))
        let head = "subscription 's': filterBy[0], "
        let needs = head + "NEAR on 'place': needs a distance in metres, greater than 0"
        #expect(try await reason(WireFilter(.near, .field("place"), location), on: bench) == needs)
        #expect(
            try await reason(WireFilter(.near, .field("place"), location, distance: 0), on: bench)
                == needs
        )
        #expect(
            try await reason(WireFilter(.near, .field("place"), nowhere, distance: 1), on: bench)
                == head + "NEAR on 'place': the location lies outside latitude -90...90, "
                + "longitude -180...180"
        )
        #expect(
            try await reason(
                WireFilter(.equals, .field("text"), .string("x"), distance: 1), on: bench)
                == head + "EQUALS on 'text': only NEAR takes a distance"
        )
        #expect(
            try await reason(
                WireFilter(.near, .field("text"), location, distance: 1), on: bench)
                == head + "NEAR on 'text': expected a field of type LOCATION, not STRING"
        )
    }

    @Test("Filters, elements, texts and bytes are bounded")
    func bounds() async throws {
        let bench = try await bench()
        let filter = WireFilter(.notEquals, .field("text"), .string("x"))
        #expect(try await reason(Array(repeating: filter, count: 64), on: bench) == nil)
        #expect(
            try await reason(Array(repeating: filter, count: 65), on: bench)
                == "subscription 's': 65 filters; at most 64 are allowed"
        )
        func choices(_ count: Int) -> WireFilter {
            let elements = Array(repeating: FieldValue.string("x"), count: count)
            return WireFilter(.in, .field("text"), .list(.stringList, elements))
        }
        #expect(try await reason(choices(1000), on: bench) == nil)
        #expect(
            try await reason(choices(1001), on: bench)
                == "subscription 's': filterBy[0], IN on 'text': "
                + "1001 elements; at most 1000 are allowed"
        )
        let long = FieldValue.string(String(repeating: "x", count: 1025))
        #expect(
            try await reason(WireFilter(.equals, .field("text"), long), on: bench)
                == "subscription 's': filterBy[0], EQUALS on 'text': "
                + "a text of 1025 characters; at most 1024 are allowed"
        )
        let fits = FieldValue.string(String(repeating: "x", count: 1024))
        let many = WireFilter(
            .in, .field("text"), .list(.stringList, Array(repeating: fits, count: 64))
        )
        let reason = try await reason(many, on: bench)
        #expect(reason?.hasSuffix("bytes as JSON; at most 65536 are stored (filterBytes)") == true)
    }
}
