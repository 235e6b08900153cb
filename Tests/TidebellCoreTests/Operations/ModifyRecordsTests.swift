// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

struct ModifyRecordsTests {
    @Test("SAVE-4, SAVE-29, SAVE-30: a save gives a new tag and stamps; created stays")
    func savesStampRecords() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let first = try #require(try await bench.modify(.save(.create, "n1", title: "a"))[0].record)
        let second = try #require(
            try await bench.modify(
                .save(.update, "n1", title: "b", tag: first.recordChangeTag)
            )[0].record
        )
        #expect(second.recordChangeTag != first.recordChangeTag)
        #expect(second.created == first.created)
        #expect(second.modified.timestamp > first.modified.timestamp)
        #expect(
            second.modified
                == RecordStamp(
                    timestamp: second.modified.timestamp, userRecordName: bench.anna.recordName,
                    deviceID: "device of phone"
                )
        )
    }

    @Test("SAVE-2, SAVE-6: a stale tag is a conflict that carries the server's record")
    func aStaleTagConflicts() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let old = try #require(try await bench.modify(.save(.create, "n1", title: "a"))[0].record)
        let new = try #require(
            try await bench.modify(.save(.forceUpdate, "n1", title: "b"))[0].record
        )
        let result = try await bench.modify(
            .save(.update, "n1", title: "c", tag: old.recordChangeTag)
        )
        #expect(result[0].error?.code == .conflict)
        #expect(result[0].error?.reason == "client oplock error updating record")
        #expect(result[0].error?.detail?.serverRecord == new)
    }

    @Test("SAVE-8: strict, a new record whose ID exists is rejected, with the server's version")
    func strictlyRejected() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let old = try await bench.modify(.save(.create, "n1", title: "a"))[0].record
        var limits = Limits()
        limits.existingRecords = .strict
        let call = bench.call(limits: limits)
        let error = try await bench.modify(.save(.create, "n1", title: "b"), call: call)[0].error
        #expect(
            error
                == WireError(
                    .exists, "record to insert already exists",
                    detail: WireError.Detail(ckCode: 15, serverRecord: old)
                )
        )
        let update = ModifyRecords.Operation.save(.update, "n1", title: "c", tag: "x")
        #expect(try await bench.modify(update, call: call)[0].error?.ckErrorCode == 14)
    }

    @Test("web-services 9: without the extensions header an error has no detail")
    func plainClientsSeeNoDetail() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "n1"))
        let result = try await bench.modify(
            .save(.create, "n1"), call: bench.call(extensions: false)
        )
        #expect(result[0].error == WireError(.exists, "record to insert already exists"))
    }

    @Test(
        "SAVE-3, SAVE-12, SAVE-28: what each operation type leaves of the fields",
        arguments: [
            (ModifyRecords.OperationType.update, ["kept", "title"]),
            (.forceUpdate, ["kept", "title"]), (.replace, ["title"]), (.forceReplace, ["title"]),
        ]
    )
    func fieldsAfterSaving(
        type: ModifyRecords.OperationType, expected: [String]
    ) async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let fields: [String: Field?] = [
            "kept": Field(.int64(1)), "gone": Field(.int64(2)),
        ]
        let created = try #require(
            try await bench.modify(.save(.create, "n1", fields: fields))[0].record
        )
        let saved = try await bench.modify(
            .save(
                type, "n1", title: "x", tag: created.recordChangeTag,
                fields: ["gone": Field?.none]
            )
        )
        let record = try #require(saved[0].record)
        #expect(try record.fields.decoded().keys.sorted() == expected)
    }

    @Test(
        "SAVE-8, SAVE-9, SAVE-23: what each operation type does to a record that is not there",
        arguments: [
            (ModifyRecords.OperationType.create, "n1=x"), (.update, "n1 NOT_FOUND"),
            (.forceUpdate, "n1=x"), (.replace, "n1 NOT_FOUND"), (.forceReplace, "n1=x"),
            (.delete, "n1 NOT_FOUND"), (.forceDelete, "deleted n1 -"),
        ]
    )
    func missingRecords(type: ModifyRecords.OperationType, expected: String) async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let result = try await bench.modify(.save(type, "n1", title: "x", tag: "tag"))
        #expect(result.map(\.summary) == [expected])
    }

    @Test("SAVE-14, SAVE-15, SUB-64, T-16: a failed atomic batch leaves no trace, notifies nobody")
    func atomicBatchesRollBack() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.subscribe(WireSubscription(subscriptionID: "all", kind: .database))
        let before = try await bench.databaseChanges()
        let result = try await bench.modify(
            .save(.create, "n1", title: "a"), .save(.update, "n2", title: "b", tag: "old"),
            .save(.create, "n3", title: "c")
        )
        #expect(
            result.map(\.summary) == ["n1 ATOMIC_ERROR", "n2 NOT_FOUND", "n3 ATOMIC_ERROR"]
        )
        #expect(result[0].error?.reason == "the batch is atomic and record 'n2' failed")
        #expect(try await bench.changes().page?.records == [])
        #expect(try await bench.databaseChanges(since: before.syncToken).zones == [])
        #expect(try await bench.outbox() == [])
    }

    @Test("SAVE-14: with atomic false each record succeeds or fails alone")
    func nonAtomicBatchesKeepWhatWorks() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let result = try await bench.modify(
            .save(.create, "n1", title: "a"), .save(.update, "n2", title: "b", tag: "old"),
            atomic: false
        )
        #expect(result.map(\.summary) == ["n1=a", "n2 NOT_FOUND"])
        #expect(try await bench.lookup("n1", "n2").map(\.summary) == ["n1=a", "n2 NOT_FOUND"])
    }

    @Test("SAVE-16: the default zone refuses atomic and lets each record succeed alone")
    func theDefaultZoneIsNotAtomic() async throws {
        let bench = try await Bench()
        let result = try await bench.modify(
            .save(.create, "n1", title: "a"), .save(.update, "n2", tag: "old"),
            zone: "_defaultZone"
        )
        #expect(result.map(\.summary) == ["n1=a", "n2 NOT_FOUND"])
        await #expect(
            throws: WireError(.badRequest, "atomic operations not supported in default zone")
        ) {
            try await bench.modify(.save(.create, "n3"), zone: "_defaultZone", atomic: true)
        }
    }

    @Test("SAVE-11: saving into a missing zone names the zone")
    func missingZones() async throws {
        let bench = try await Bench()
        await #expect(throws: WireError(.zoneNotFound, "Zone 'Nowhere' does not exist")) {
            try await bench.modify(.save(.create, "n1"), zone: "Nowhere")
        }
    }

    @Test("SAVE-13: a value of another type than the field's is refused by name")
    func fieldTypesAreFixed() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "n1", fields: ["rank": Field(.int64(1))]))
        let result = try await bench.modify(
            .save(.create, "n2", fields: ["rank": Field(.string("first"))])
        )
        #expect(
            result[0].error?.reason
                == "Invalid value, expected type INT64. (field 'rank' of record type 'Note', given "
                + "as STRING)"
        )
    }

    @Test("SAVE-24: a parent goes only with its children")
    func parentsAreHeld() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "p"), .save(.create, "c", parent: "p"))
        let refused = try await bench.modify(.forceDelete("p"))
        #expect(refused[0].error?.code == .validatingReferenceError)
        #expect(refused[0].error?.reason == "record 'p' is the parent of record 'c'")
        let together = try await bench.modify(.forceDelete("p"), .forceDelete("c"))
        #expect(together.map(\.summary) == ["deleted p -", "deleted c -"])
    }

    @Test("REF-6: a parent must exist or be saved in the same batch")
    func parentsMustExist() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let result = try await bench.modify(.save(.create, "c", parent: "p"))
        #expect(result[0].error?.code == .validatingReferenceError)
    }

    @Test("REF-2, SUB-60, SAVE-21: deletions cascade, are notified, and are not in the answer")
    func deletionsCascade() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.subscribe(WireSubscription(subscriptionID: "all", kind: .database))
        func owned(by name: String) -> [String: Field?] {
            ["owner": Field(.reference(WireReference(recordName: name, action: .deleteSelf)))]
        }
        try await bench.modify(
            .save(.create, "a"), .save(.create, "b", fields: owned(by: "a")),
            .save(.create, "c", fields: owned(by: "b")), .save(.create, "d")
        )
        let token = try #require(try await bench.changes().page).syncToken
        let result = try await bench.modify(.forceDelete("a"))
        #expect(result.map(\.summary) == ["deleted a -"])
        let page = try #require(try await bench.changes(since: token).page)
        #expect(
            page.records.map(\.summary)
                == ["deleted a Note", "deleted b Note", "deleted c Note"]
        )
        guard case .records(let changes)? = try await bench.outbox().last?.event else {
            Issue.record("no outbox entry")
            return
        }
        #expect(changes.map(\.recordName) == ["a", "b", "c"])
        #expect(changes.allSatisfy { $0.event == .deleted })
    }

    @Test("ACCT-7: in the public database only its creator changes a record")
    func publicRecordsBelongToTheirCreator() async throws {
        let bench = try await Bench()
        try await bench.modify(
            .save(.create, "n1", title: "mine"), zone: "_defaultZone",
            call: bench.call(bench.anna, scope: .public)
        )
        let result = try await bench.modify(
            .save(.forceUpdate, "n1", title: "yours"), zone: "_defaultZone",
            call: bench.call(bench.otto, scope: .public)
        )
        #expect(result[0].error?.code == .accessDenied)
        let seen = try await bench.lookup(
            "n1", zone: "_defaultZone", call: bench.call(bench.otto, scope: .public)
        )
        #expect(seen.map(\.summary) == ["n1=mine"])
    }

    @Test(
        "REC-1 to REC-3, REC-6: bad names and sizes are refused with the culprit",
        arguments: [
            ("", "note", "the record name is empty"),
            ("_x", "note", "record name '_x' must not start with an underscore"),
            ("é", "note", "record name 'é' must be printable ASCII"),
            (
                String(repeating: "n", count: 256), "note",
                "record name '\(String(repeating: "n", count: 57))...' is longer than 255 characters"
            ),
            ("n1", "_asset", "Unprivileged attempt to insert a system field: _asset"),
            (
                "n1", "a.b",
                "field name 'a.b' must be a letter followed by letters, digits and underscores, "
                    + "at most 255 characters"
            ),
        ]
    )
    func badNames(name: String, field: String, reason: String) async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let result = try await bench.modify(
            .save(.create, name, fields: [field: Field(.int64(1))])
        )
        #expect(result[0].error?.reason == reason)
        #expect(try await bench.changes().page?.records == [])
    }

    @Test("REC-6: a record over 1 MB is too large, with CloudKit's words and code")
    func largeRecords() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let text = String(repeating: "x", count: 1024 * 1024)
        let error = try await bench.modify(.save(.create, "n1", title: text))[0].error
        #expect(error?.reason.hasPrefix("record too large") == true)
        #expect(error?.ckErrorCode == 27)
    }

    @Test("web-services 5.2: a missing change tag fails the request and names the operation")
    func missingTags() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        await #expect(
            throws: WireError(
                .badRequest,
                "BadRequestException: missing required field 'recordChangeTag' "
                    + "in operations[1] (update)"
            )
        ) {
            try await bench.modify(.save(.create, "n1"), .save(.update, "n2"))
        }
    }
}
