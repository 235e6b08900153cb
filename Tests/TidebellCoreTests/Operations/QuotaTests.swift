// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

@Suite("Quotas")
struct QuotaTests {
    /// What a record of type Note with a title counts.
    private func size(_ name: String, _ title: String) -> Int64 {
        let fields = RecordFields(["title": Field(.string(title))])
        return Int64(
            StoredRecord.overhead + name.utf8.count + "Note".utf8.count + fields.json.count)
    }

    /// What is stored, counted anew, and what the database has.
    private func measured(
        _ bench: Bench, scope: DatabaseScope = .private
    ) async throws -> (counted: StorageUse, known: StorageUse) {
        let key = DatabaseKey(
            container: Bench.container, scope: scope,
            owner: scope == .public ? nil : bench.anna.id
        )
        return try await bench.store.read { reader throws in
            guard let database = try reader.database(key) else { return (.zero, .zero) }
            var counted = StorageUse.zero
            for zone in try reader.zones(nil, in: database.id) {
                if zone.name != ZoneID.defaultName { counted.bytes += StoredZone.overhead }
                let page = try reader.recordChanges(
                    in: zone.key, after: .start, limit: .max, byteLimit: .max, reverse: false)
                for record in page.records where !record.isDeleted {
                    counted =
                        counted
                        + StorageUse(bytes: record.measuredSize(withFiles: 0), records: 1)
                }
            }
            return (counted, database.use)
        }
    }

    private func limits(user: Int64? = nil, container: Int64? = nil) -> Limits {
        var limits = Limits()
        (limits.userQuota, limits.containerQuota) = (user, container)
        return limits
    }

    @Test("H8, ACCT-9: whatever is done, the use is the sum of what is stored", arguments: 1...5)
    func sum(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bench = try await Bench()
        let zones = ["Notes", "Games"]
        for zone in zones { try await bench.makeZone(zone) }
        for step in 0..<120 {
            let zone = zones.randomElement(using: &random) ?? ""
            let name = "\(Int.random(in: 0..<8, using: &random))"
            let title = String(repeating: "x", count: .random(in: 0..<300, using: &random))
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try await bench.deleteZone(zone)
                if Bool.random(using: &random) { try await bench.makeZone(zone) }
            case 1: try await bench.makeZone(zone)
            case 2...4:
                _ = try? await bench.modify(.forceDelete(name), zone: zone)
            case 5:
                let target = Field(
                    .reference(
                        WireReference(
                            recordName: "\(Int.random(in: 0..<8, using: &random))",
                            action: .deleteSelf)))
                _ = try? await bench.modify(
                    .save(.forceUpdate, name, title: title, fields: ["of": target]), zone: zone)
            case 6:
                _ = try? await bench.modify(
                    .save(.forceReplace, name, title: title), .save(.create, "0", title: title),
                    zone: zone)
            case 7:
                _ = try? await bench.modify(
                    .save(.forceUpdate, name, title: title), .save(.create, "\(step)"),
                    zone: "_defaultZone")
            default:
                _ = try? await bench.modify(.save(.forceUpdate, name, title: title), zone: zone)
            }
            let uses = try await measured(bench)
            #expect(uses.known == uses.counted, "seed \(seed), step \(step)")
            guard uses.known == uses.counted else { return }
        }
    }

    @Test("ERR-34: what there is no room for is refused, naming bound, use and limit")
    func refusal() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let call = { bench.call(limits: limits(user: 1000)) }
        let first = try await bench.modify(.save(.create, "a", title: "tide"), call: call())
        #expect(first.map(\.summary) == ["a=tide"])
        let (used, wanted) = (size("a", "tide"), size("b", String(repeating: "x", count: 400)))
        let second = try await bench.modify(
            .save(.create, "b", title: String(repeating: "x", count: 400)), call: call())
        #expect(
            second.map(\.error) == [
                WireError(
                    .quotaExceeded,
                    "record 'b' needs \(wanted) bytes more; the private records and zones of the user "
                        + "hold \(StoredZone.overhead + used) of at most 1000 bytes (userQuota); "
                        + "delete some first"
                )
            ]
        )
        #expect(second[0].error?.ckErrorCode == 25)
        let uses = try await measured(bench)
        #expect(uses.known == StorageUse(bytes: StoredZone.overhead + used, records: 1))
    }

    @Test("ACCT-9: over quota, deletions, reads and saves that do not grow go on")
    func overQuota() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "long"), .save(.create, "b", title: "b"))
        let call = { bench.call(limits: limits(user: 1)) }
        #expect(try await bench.lookup("a", call: call()).map(\.summary) == ["a=long"])
        let shorter = try await bench.modify(.save(.forceUpdate, "a", title: "x"), call: call())
        #expect(shorter.map(\.summary) == ["a=x"])
        let longer = try await bench.modify(.save(.forceUpdate, "a", title: "xy"), call: call())
        #expect(longer.map(\.summary) == ["a QUOTA_EXCEEDED"])
        let deleted = try await bench.modify(.forceDelete("b"), call: call())
        #expect(deleted.map(\.summary) == ["deleted b -"])
        try await bench.deleteZone("Notes", call())
        #expect(try await measured(bench).known == .zero)
    }

    @Test("ACCT-9: what a batch deletes makes room for what it saves")
    func exchange() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        try await bench.modify(.save(.create, "a", title: "tide"))
        let call = bench.call(limits: limits(user: size("a", "tide")))
        let answer = try await bench.modify(
            .save(.create, "b", title: "tide"), .forceDelete("a"), call: call)
        #expect(answer.map(\.summary) == ["b=tide", "deleted a -"])
    }

    @Test("SAVE-16: in the default zone what there is room for is saved")
    func partial() async throws {
        let bench = try await Bench()
        let call = bench.call(limits: limits(user: size("a", "tide")))
        let answer = try await bench.modify(
            .save(.create, "a", title: "tide"), .save(.create, "b", title: "tide"),
            zone: "_defaultZone", call: call)
        #expect(answer.map(\.summary) == ["a=tide", "b QUOTA_EXCEEDED"])
    }

    @Test("SAVE-26: over quota, children fail with their parents")
    func family() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let call = { bench.call(limits: limits(user: 0)) }
        let both = try await bench.modify(
            .save(.create, "child", parent: "parent"), .save(.create, "parent"), call: call())
        #expect(both.map(\.summary) == ["child QUOTA_EXCEEDED", "parent QUOTA_EXCEEDED"])
        let orphan = try await bench.modify(
            .save(.create, "child", parent: "nobody"), call: call())
        #expect(orphan.map(\.summary) == ["child VALIDATING_REFERENCE_ERROR"])
        let line = try await bench.modify(
            .save(.create, "parent", parent: "nobody"), .save(.create, "child", parent: "parent"),
            .save(.create, "other"), call: call())
        #expect(
            line.map(\.summary) == [
                "parent VALIDATING_REFERENCE_ERROR", "child INTERNAL_ERROR",
                "other QUOTA_EXCEEDED",
            ])
    }

    @Test("ACCT-9: public records count for the container, private ones for all of a person's")
    func owners() async throws {
        let bench = try await Bench()
        let quota = limits(user: size("a", "tide"), container: size("a", "tide"))
        let publicCall = { bench.call($0, scope: .public, limits: quota) }
        let first = try await bench.modify(
            .save(.create, "a", title: "tide"), zone: "_defaultZone", call: publicCall(bench.anna))
        #expect(first.map(\.summary) == ["a=tide"])
        let second = try await bench.modify(
            .save(.create, "b", title: "tide"), zone: "_defaultZone", call: publicCall(bench.otto))
        #expect(second.map(\.summary) == ["b QUOTA_EXCEEDED"])
        #expect(second[0].error?.reason.contains("(containerQuota)") == true)
        let own = try await bench.modify(
            .save(.create, "a", title: "tide"), zone: "_defaultZone",
            call: bench.call(limits: quota))
        #expect(own.map(\.summary) == ["a=tide"])
        // Another container is no way round it.
        let elsewhere = ContainerKey(container: "iCloud.org.other", environment: .development)
        let user = try await bench.store.write(.everything) {
            try $0.makeUser(
                of: bench.anna.account, in: elsewhere,
                recordName: "_" + String(repeating: "b", count: 32), at: Instant(rawValue: 0))
        }
        let other = try await bench.modify(
            .save(.create, "a", title: "tide"), zone: "_defaultZone",
            call: bench.call(user, limits: quota, container: elsewhere))
        #expect(other.map(\.summary) == ["a QUOTA_EXCEEDED"])
    }

    @Test("H8, ACCT-9: empty zones of all containers count for the quota; a deleted one makes room")
    func emptyZones() async throws {
        let bench = try await Bench()
        let elsewhere = ContainerKey(container: "other", environment: .development)
        let user = try await bench.store.write(.everything) {
            try $0.makeUser(
                of: bench.anna.account, in: elsewhere, recordName: "_other",
                at: Instant(rawValue: 0))
        }
        let quota = limits(user: 2 * StoredZone.overhead + 100)
        func make(_ name: String, _ call: Call) async throws -> WireError? {
            let answer = try await bench.makeZone(name, call)
            guard case .failed(_, let error) = answer.zones[0] else { return nil }
            return error
        }
        let here = { bench.call(limits: quota) }
        let there = { bench.call(user, limits: quota, container: elsewhere) }
        #expect(try await make("A", here()) == nil)
        #expect(try await make("B", there()) == nil)
        // One that is there costs nothing more.
        #expect(try await make("B", there()) == nil)
        let refused = WireError(
            .quotaExceeded,
            "zone 'C' counts 512 bytes; the private records and zones of the user hold 1024 of at "
                + "most 1124 bytes (userQuota); delete some first"
        )
        #expect(try await make("C", here()) == refused)
        #expect(try await make("C", there()) == refused)
        try await bench.deleteZone("A", here())
        #expect(try await make("C", there()) == nil)
    }

    @Test("H8: zones of a database are bounded; a deleted one makes room")
    func zones() async throws {
        let bench = try await Bench()
        var limits = Limits()
        limits.zonesPerDatabase = 2
        let call = { bench.call(limits: limits) }
        try await bench.makeZone("A", call())
        guard case .failed(_, let error) = try await bench.makeZone("B", call()).zones[0] else {
            Issue.record("a zone beyond the bound was made")
            return
        }
        #expect(error.ckErrorCode == 27 && error.reason.contains("(zonesPerDatabase)"))
        try await bench.deleteZone("A", call())
        guard case .zone = try await bench.makeZone("B", call()).zones[0] else {
            Issue.record("a deleted zone makes no room")
            return
        }
    }

    @Test("H9: the types of a container and the fields of a type are bounded")
    func schema() async throws {
        let bench = try await Bench()
        var limits = Limits()
        (limits.recordTypesPerContainer, limits.fieldsPerType) = (1, 2)
        func save(_ name: String, _ type: String, _ fields: String...) async throws -> WireError? {
            let operation = ModifyRecords.Operation(
                .forceUpdate, recordName: name, recordType: type,
                fields: FieldChanges(
                    Dictionary(uniqueKeysWithValues: fields.map { ($0, Field(.int64(1))) })))
            return try await bench.modify(
                operation, zone: "_defaultZone", call: bench.call(limits: limits))[0].error
        }
        #expect(try await save("a", "Note", "x", "y") == nil)
        #expect(try await save("b", "Note", "y") == nil)
        let field = try await save("c", "Note", "z")
        #expect(field?.ckErrorCode == 27)
        #expect(
            field?.reason
                == "record type 'Note' would have 3 fields of at most 2 (fieldsPerType)")
        let type = try await save("d", "Game")
        #expect(type?.ckErrorCode == 27)
        #expect(type?.reason.contains("(recordTypesPerContainer)") == true)
    }

    @Test("H8: a full quota takes no files, and uploads that do not come are bounded")
    func uploads() async throws {
        let bench = try await Bench()
        func ask(
            _ limits: Limits, _ token: UInt8, in container: ContainerKey = Bench.container
        ) async throws -> WireError? {
            let user = try await bench.store.write(.everything) {
                try $0.makeUser(
                    of: bench.anna.account, in: container, recordName: bench.anna.recordName,
                    at: Instant(rawValue: 0))
            }
            let call = bench.call(user, limits: limits, container: container)
            let request = UploadAssets.Request(
                zoneID: ZoneID(zoneName: ZoneID.defaultName),
                tokens: [.init(recordName: "a", recordType: "Note", fieldName: "file")])
            do {
                _ = try await bench.store.write(.everything) {
                    try UploadAssets.run(request, tokenHashes: [[token]], for: call, in: $0)
                }
                return nil
            } catch let error as WireError { return error }
        }
        try await bench.modify(.save(.create, "a", title: "tide"), zone: "_defaultZone")
        #expect(try await ask(limits(user: 1), 1)?.code == .quotaExceeded)
        // The bound is of all containers, also of those that have nothing yet.
        let other = ContainerKey(container: "iCloud.org.example.other", environment: .development)
        #expect(try await ask(limits(user: 1), 1, in: other)?.code == .quotaExceeded)
        #expect(try await ask(limits(user: 1 << 20), 9, in: other) == nil)
        var few = Limits()
        few.awaitedUploadsPerUser = 1
        #expect(try await ask(few, 2) == nil)
        let error = try await ask(few, 3)
        #expect(error?.code == .throttled)
        #expect(error?.reason.contains("(awaitedUploadsPerUser)") == true)
    }

    @Test("H7: the bytes of a user's subscriptions are bounded; what shrinks is saved")
    func subscriptions() async throws {
        let bench = try await Bench()
        func subscription(_ id: String, _ text: Int) -> WireSubscription {
            var subscription = WireSubscription(
                subscriptionID: id, kind: .query, recordType: "Note", firesOn: .create)
            subscription.filters = [
                WireFilter(.equals, .field("title"), .string(String(repeating: id, count: text)))
            ]
            return subscription
        }
        var limits = Limits()
        let first = subscription("a", 300)
        limits.subscriptionBytesPerUser = first.json.count + 10
        let call = { bench.call(limits: limits) }
        guard case .subscription = try await bench.subscribe(first, call()) else {
            Issue.record("the first subscription fits")
            return
        }
        guard case .failed(_, let error) = try await bench.subscribe(subscription("b", 1), call())
        else {
            Issue.record("a subscription beyond the bound was saved")
            return
        }
        #expect(error.ckErrorCode == 27 && error.reason.contains("(subscriptionBytesPerUser)"))
        #expect(error.reason.hasPrefix("with subscription 'b'"))
        limits.subscriptionBytesPerUser = 1
        guard case .subscription = try await bench.subscribe(subscription("a", 200), call()) else {
            Issue.record("a subscription that shrinks is saved")
            return
        }
    }

    @Test("SUB-28: a new subscription that comes without an ID gets a fresh one")
    func freshID() async throws {
        let bench = try await Bench()
        let unnamed = WireSubscription(subscriptionID: "", kind: .database)
        guard case .subscription(let saved) = try await bench.subscribe(unnamed) else {
            Issue.record("it was refused")
            return
        }
        #expect(saved.subscriptionID.count == 36)
    }
}
