// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let outbox: [Check] = [
        Check("Outbox entries come back in order, with everything they had") { store in
            let database = DatabaseID(rawValue: 4)
            let subscription = StoredSubscription(
                serial: SubscriptionSerial(rawValue: 9), database: database, user: .ben,
                subscription: .watching(.zone, "z", zone: "diary", type: "Note")
            )
            let changes = [
                RecordChange(
                    recordName: "a\"b", recordType: "Note", event: .created, fields: .text("x")
                ),
                RecordChange(recordName: "c", recordType: "Note", event: .updated),
                RecordChange(
                    recordName: "e", recordType: "Note", event: .updated, fields: .text("y"),
                    system: .init(
                        created: RecordStamp(
                            timestamp: 5, userRecordName: "_anna", deviceID: "phone"
                        ),
                        modified: RecordStamp(timestamp: 6, userRecordName: "_ben", deviceID: ""),
                        parent: "p"
                    )
                ),
                RecordChange(
                    recordName: "d", recordType: "Note", event: .deleted, fields: RecordFields.none),
            ]
            var saved: [OutboxEntry] = [
                .change(of: "a", .records(changes), in: database),
                .change(of: "b", .zoneCreated, in: database),
                .change(
                    of: "c", .zoneDeleted(.encryptedDataReset, subscriptions: [subscription]),
                    in: database
                ),
                .change(of: "d", .zoneDeleted(.purged, subscriptions: []), in: database),
            ]
            saved[1].originUser = nil
            saved[1].originClient = nil
            let entries = saved
            try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox(Array(entries.prefix(2)))
                try transaction.appendOutbox(Array(entries.suffix(2)))
            }
            let found = try await store.read { try $0.outbox(limit: 9) }
            #expect(found.map(\.position).ascends)
            for (index, entry) in found.enumerated() { saved[index].position = entry.position }
            #expect(found == saved)
            #expect(try await store.read { try $0.outbox(limit: 3) } == Array(saved.prefix(3)))
        },
        Check("SUB-65: the next deletion of a zone is found by the zone and a position") { store in
            let (mine, other) = (DatabaseID(rawValue: 4), DatabaseID(rawValue: 5))
            let end = OutboxEntry.Event.zoneDeleted(.deleted, subscriptions: [])
            let found = try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox([
                    .change(of: "a", in: mine), .change(of: "a", end, in: other),
                    .change(of: "b", end, in: mine), .change(of: "a", end, in: mine),
                    .change(of: "a", .zoneCreated, in: mine), .change(of: "a", end, in: mine),
                ])
                let ids = try transaction.outbox(of: mine).map(\.id)
                return try [ids[0], ids[2], ids[4]].map { id in
                    try transaction.zoneEnd("a", in: mine, afterOutbox: id.position).flatMap {
                        ids.firstIndex(of: $0.id)
                    }
                }
            }
            #expect(found == [2, 4, nil])
        },
        Check("An entry remembers how far it was processed") { store in
            try await store.write(.everything) { transaction throws in
                let database = DatabaseID(rawValue: 1)
                try transaction.appendOutbox(["a", "b"].map { .change(of: $0, in: database) })
                let ids = try transaction.outbox(limit: 9).map(\.id)
                let serial = SubscriptionSerial(rawValue: 70)
                try transaction.setNotifiedThrough(serial, ofOutboxEntry: ids[0])
                #expect(
                    try transaction.outbox(limit: 9).map(\.notifiedThrough) == [serial, .start])
            }
        },
        Check("H7: databases with entries have their turns, and equal shares") { store in
            let (a, b, c) = (
                DatabaseID(rawValue: 7), DatabaseID(rawValue: 2), DatabaseID(rawValue: 5)
            )
            try await store.write(.everything) { transaction throws in
                func turns(_ limit: Int) throws -> [String] {
                    try transaction.outboxes(limit: limit).map { outbox in
                        "\(outbox.database.rawValue) \(outbox.entries.map(\.zoneName).joined())"
                            + (outbox.mayHaveMore ? "…" : "")
                    }
                }
                func markNotified(_ zone: String, in database: DatabaseID) throws {
                    let entry = try transaction.outbox(of: database).first { $0.zoneName == zone }
                    try transaction.markNotified(
                        upTo: entry?.position ?? .start, in: database, keeping: false)
                }
                #expect(try turns(6) == [])
                try transaction.appendOutbox("1234".map { .change(of: "\($0)", in: a) })
                try transaction.appendOutbox([.change(of: "5", in: b)])
                try transaction.appendOutbox([.change(of: "6", in: a), .change(of: "7", in: c)])
                #expect(try turns(6) == ["7 12…", "2 5", "5 7"])
                #expect(try turns(2) == ["7 1…", "2 5…"])
                // A database that was processed, in full or in part, waits until all others were.
                try markNotified("1", in: a)
                #expect(try turns(6) == ["2 5", "5 7", "7 23…"])
                let part = try #require(try transaction.outbox(of: b).first)
                try transaction.setNotifiedThrough(
                    SubscriptionSerial(rawValue: 3), ofOutboxEntry: part.id)
                try transaction.appendOutbox([.change(of: "8", in: b)])
                #expect(try turns(6) == ["5 7", "7 23…", "2 58…"])
                try markNotified("7", in: c)
                #expect(try turns(9) == ["7 2346…", "2 58"])
                try markNotified("6", in: a)
                try markNotified("8", in: b)
                #expect(try turns(6) == [])
            }
        },
        Check("H7: entries have so many bytes, the first of all whatever it has") { store in
            let (a, b, c) = (
                DatabaseID(rawValue: 7), DatabaseID(rawValue: 2), DatabaseID(rawValue: 5)
            )
            try await store.write(.everything) { transaction throws in
                func read(_ byteLimit: Int) throws -> [String] {
                    try transaction.outboxes(of: [a, b, c], limit: 9, byteLimit: byteLimit).map {
                        "\($0.database.rawValue) \($0.entries.map(\.zoneName).joined())"
                            + ($0.isCutByBytes ? "!" : "") + ($0.mayHaveMore ? "…" : "")
                    }
                }
                func long(_ bytes: Int) -> OutboxEntry.Event {
                    let name = String(repeating: "n", count: bytes)
                    return .records([
                        RecordChange(recordName: name, recordType: "Note", event: .created)
                    ])
                }
                try transaction.appendOutbox(
                    "123".map { .change(of: "\($0)", long(1000), in: a) })
                try transaction.appendOutbox([
                    .change(of: "4", long(2000), in: b), .change(of: "5", in: c),
                    .change(of: "6", long(2000), in: c),
                ])
                #expect(try read(.max) == ["7 123…", "2 4", "5 56"])
                #expect(try read(1) == ["7 1!…", "2 !…", "5 !…"])
                // What is too long for one leaves room for the next.
                #expect(try read(1800) == ["7 1!…", "2 !…", "5 5!…"])
                // A third is enough for two; what is left is for who comes later.
                #expect(try read(9000) == ["7 12!…", "2 4", "5 56"])
                let first = try #require(try transaction.outbox(of: a).first)
                try transaction.markNotified(upTo: first.position, in: a, keeping: false)
                #expect(try read(1) == ["7 2!…", "2 !…", "5 !…"])
            }
        },
        Check(reopening: "Processed entries are removed, and their IDs never used again") {
            store, engine in
            let database = DatabaseID(rawValue: 1)
            let ids = try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox(["a", "b", "c"].map { .change(of: $0, in: database) })
                return try transaction.outbox(limit: 9).map(\.position)
            }
            try await store.write(.everything) {
                try $0.markNotified(upTo: ids[1], in: database, keeping: false)
            }
            let left = try await store.read { try $0.outbox(limit: 9).map(\.position) }
            #expect(left == [ids[2]])
            try await store.write(.everything) {
                try $0.markNotified(upTo: ids[2], in: database, keeping: false)
            }
            let reopened = try await engine.reopen(store)
            let next = try await reopened.write(.everything) { transaction in
                try transaction.appendOutbox([.change(of: "d", in: database)])
                return try transaction.outbox(limit: 9).map(\.position)
            }
            #expect(next.count == 1)
            #expect(next[0] > ids[2])
            try await reopened.close()
        },
        Check("PUSH-14: every listener is woken after a commit with outbox entries") { store in
            var listeners = [
                store.outboxCommits().makeAsyncIterator(),
                store.outboxCommits().makeAsyncIterator(),
            ]
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("diary")
                try transaction.appendOutbox([.change(of: "diary", in: zone.database)])
            }
            for index in listeners.indices {
                let notified: Void? = await listeners[index].next()
                #expect(notified != nil)
                let entries = try await store.read { try $0.outbox(limit: 9) }
                #expect(entries.count == 1)
            }
        },
        Check("Nobody is woken by what was rolled back or wrote no outbox entry") { store in
            let commits = store.outboxCommits()
            _ = try? await store.write(.everything) { transaction throws in
                try transaction.appendOutbox([
                    .change(of: "diary", in: DatabaseID(rawValue: 1))
                ])
                throw Refused()
            }
            _ = try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox([])
                return try transaction.makeZone("diary")
            }
            try await store.close()
            // The stream ends with the store; what it kept back comes before.
            var notified = 0
            for await _ in commits { notified += 1 }
            #expect(notified == 0)
        },
    ]

    static let notifications: [Check] = [
        Check("PUSH-7: notifications come back in order with their sequences") { store in
            let saved: [StoredNotification] = [
                .push("a", from: nil), .push("b", collapse: "zone"), .push("c", to: .ben),
            ]
            let appended = try await store.write(.everything) { try $0.appendNotifications(saved) }
            #expect(appended[0].sequence < appended[1].sequence)
            var expected = saved
            for index in expected.indices { expected[index].sequence = appended[index].sequence }
            #expect(appended == expected)
            try await store.read { reader throws in
                func log(
                    _ user: UserID, after sequence: NotificationSequence = .start, limit: Int = 9
                ) throws -> [StoredNotification] {
                    try reader.notifications(
                        for: user, after: sequence, excludingOrigin: nil, limit: limit
                    )
                }
                #expect(try log(.anna) == Array(appended.prefix(2)))
                #expect(try log(.anna, limit: 1) == [appended[0]])
                #expect(try log(.anna, after: appended[0].sequence) == [appended[1]])
                #expect(try log(.ben) == [appended[2]])
                #expect(try reader.notificationHead(of: .ben) == appended[2].sequence)
            }
        },
        Check("PUSH-7: what is appended twice changes nothing") { store in
            let saved: [StoredNotification] = [
                .push("a"), .push("b", collapse: "c"), .push("a", to: .ben),
            ]
            let first = try await store.write(.everything) { try $0.appendNotifications(saved) }
            let (again, later) = try await store.write(.everything) { transaction throws in
                let again = try transaction.appendNotifications(saved)
                let end = first[0].sequence
                let later = try transaction.appendNotifications(
                    [saved[1], .push("d")], unlessAfter: [.anna: end])
                return (again, later)
            }
            #expect(again == first)
            #expect(later[0] == first[1])
            try await store.read { reader throws in
                func log(_ user: UserID) throws -> [StoredNotification] {
                    try reader.notifications(
                        for: user, after: .start, excludingOrigin: nil, limit: 9)
                }
                #expect(try log(.anna) == [first[0], first[1], later[1]])
                #expect(try log(.ben) == [first[2]])
            }
        },
        Check("SUB-47: a device is not given what it made itself") { store in
            try await store.write(.everything) { transaction throws in
                _ = try transaction.appendNotifications([
                    .push("phone", from: "phone"), .push("pad", from: "pad"),
                    .push("server", from: nil),
                ])
                func notified(_ client: String?) throws -> [String] {
                    try transaction.notifications(
                        for: .anna, after: .start, excludingOrigin: client, limit: 9
                    ).map(\.notificationID)
                }
                #expect(try notified("phone") == ["pad", "server"])
                #expect(try notified("pad") == ["phone", "server"])
                #expect(try notified("mac") == ["phone", "pad", "server"])
                #expect(try notified(nil) == ["phone", "pad", "server"])
            }
        },
        Check("PUSH-2: a notification replaces those with its collapse ID and origin") { store in
            try await store.write(.everything) { transaction throws in
                _ = try transaction.appendNotifications([
                    .push("1", collapse: "c"), .push("other ID", collapse: "d"),
                    .push("other origin", from: "pad", collapse: "c"),
                    .push("no origin", from: nil, collapse: "c"), .push("alert"),
                    .push("other user", to: .ben, collapse: "c"),
                    .push("other subscription", subscription: "x", collapse: "c"),
                    .push("2", collapse: "c"), .push("3", collapse: "c"),
                    .push("no origin 2", from: nil, collapse: "c"), .push("alert 2"),
                ])
                let left = try transaction.notifications(
                    for: .anna, after: .start, excludingOrigin: nil, limit: 99
                )
                #expect(
                    left.map(\.notificationID) == [
                        "other ID", "other origin", "alert", "other subscription", "3",
                        "no origin 2", "alert 2",
                    ]
                )
                let bens = try transaction.notifications(
                    for: .ben, after: .start, excludingOrigin: nil, limit: 99
                )
                #expect(bens.map(\.notificationID) == ["other user"])
            }
        },
        Check(reopening: "NOTIF-15: old notifications go, and the head stays where it was") {
            store, engine in
            let later = Instant.noon.advanced(by: .seconds(60))
            let (anna, appended) = try await store.write(.everything) { transaction throws in
                let anna = try transaction.annaAndBen().0
                let appended = try transaction.appendNotifications([
                    .push("a", to: anna), .push("b", to: anna), .push("c", to: anna, at: later),
                    .push("d", to: anna),
                ])
                return (anna, appended)
            }
            try await store.write(.everything) { transaction throws in
                #expect(
                    try transaction.removeNotifications(createdBefore: later, limit: 2) == 2
                )
                #expect(
                    try transaction.removeNotifications(createdBefore: later, limit: 9) == 1
                )
                #expect(
                    try transaction.removeNotifications(createdBefore: later, limit: 9) == 0
                )
                let left = try transaction.notifications(
                    for: anna, after: .start, excludingOrigin: nil, limit: 9
                )
                #expect(left == [appended[2]])
                #expect(try transaction.notificationHead(of: anna) == appended[3].sequence)
            }
            let reopened = try await engine.reopen(store)
            let next = try await reopened.write(.everything) {
                try $0.appendNotifications([.push("e", to: anna)])
            }
            #expect(next[0].sequence > appended[3].sequence)
            try await reopened.close()
        },
        Check("An empty log has its head at the start") { store in
            let head = try await store.read { try $0.notificationHead(of: .anna) }
            #expect(head == .start)
        },
    ]

    static let devices: [Check] = [
        Check("A new device starts at the head of the log and is found again") { store in
            try await store.write(.everything) { transaction throws in
                let head = try transaction.appendNotifications([.push("a"), .push("b")])[1].sequence
                func register(_ client: String) throws -> StoredDevice {
                    try transaction.registerDevice(
                        clientID: client, user: .anna, container: .notes, at: .noon
                    )
                }
                let phone = try register("phone")
                #expect(
                    phone
                        == StoredDevice(
                            key: phone.key, user: .anna, clientID: "phone", acknowledged: head
                        )
                )
                _ = try transaction.appendNotifications([.push("c")])
                #expect(try register("phone") == phone)
                let pad = try register("pad")
                #expect(try transaction.devices(of: .anna) == [phone, pad])
                #expect(try transaction.devices(of: .ben).isEmpty)
            }
        },
        Check("SUB-51: a device that changes its user is no longer the old user's") { store in
            try await store.write(.everything) { transaction throws in
                func register(_ user: UserID, in container: ContainerKey) throws -> StoredDevice {
                    try transaction.registerDevice(
                        clientID: "phone", user: user, container: container, at: .noon
                    )
                }
                let annas = try register(.anna, in: .notes)
                let elsewhere = try register(UserID(rawValue: 7), in: .chess)
                let token = StoredPushToken(
                    token: "t", apnsEnvironment: .production, courier: "c", topic: nil
                )
                try transaction.putPushToken(token, notifying: annas.key)
                let bens = try register(.ben, in: .notes)
                #expect(bens.key != annas.key)
                #expect(try transaction.devices(of: .anna).isEmpty)
                #expect(try transaction.devices(of: .ben) == [bens])
                #expect(try transaction.devices(of: UserID(rawValue: 7)) == [elsewhere])
                #expect(try transaction.pushToken(courier: "c", at: .noon)?.devices == [])
            }
        },
        Check("An acknowledgement never goes back, and is one device's own") { store in
            try await store.write(.everything) { transaction throws in
                let devices = try ["phone", "pad"].map {
                    try transaction.registerDevice(
                        clientID: $0, user: .anna, container: .notes, at: .noon
                    )
                }
                for sequence: Int64 in [5, 3, 5] {
                    try transaction.acknowledge(
                        devices[0].key, upTo: NotificationSequence(rawValue: sequence)
                    )
                }
                let acknowledged = try transaction.devices(of: .anna).map(\.acknowledged.rawValue)
                #expect(acknowledged == [5, 0])
            }
        },
    ]

    static let pushTokens: [Check] = [
        Check("A push token is found by itself and by its courier, with its devices") { store in
            try await store.write(.everything) { transaction throws in
                let devices = try ["phone", "pad", "mac"].map {
                    try transaction.registerDevice(
                        clientID: $0, user: .anna, container: .notes, at: .noon
                    )
                }
                let issued = StoredPushToken(
                    token: "issued", apnsEnvironment: .development, courier: "c", topic: "notes"
                )
                let native = StoredPushToken(
                    token: "native", apnsEnvironment: .production, courier: nil, topic: nil
                )
                try transaction.putPushToken(issued, notifying: devices[0].key)
                try transaction.putPushToken(issued, notifying: devices[1].key)
                try transaction.putPushToken(issued, notifying: devices[0].key)
                try transaction.putPushToken(native, notifying: devices[2].key)
                let found = try transaction.pushToken(courier: "c", at: .noon)
                #expect(found?.token == issued)
                #expect(found?.devices == Array(devices.prefix(2)))
                #expect(try transaction.pushToken("native") == native)
                #expect(try transaction.pushToken("nope") == nil)
                #expect(try transaction.pushToken(courier: "nope", at: .noon) == nil)
            }
        },
        Check("A push token put again is replaced") { store in
            try await store.write(.everything) { transaction throws in
                let device = try transaction.registerDevice(
                    clientID: "phone", user: .anna, container: .notes, at: .noon
                )
                var token = StoredPushToken(
                    token: "t", apnsEnvironment: .development, courier: "old", topic: nil
                )
                try transaction.putPushToken(token, notifying: device.key)
                token.courier = "new"
                token.apnsEnvironment = .production
                try transaction.putPushToken(token, notifying: device.key)
                #expect(try transaction.pushToken("t") == token)
                #expect(try transaction.pushToken(courier: "old", at: .noon) == nil)
                #expect(try transaction.pushToken(courier: "new", at: .noon)?.devices == [device])
            }
        },
    ]
}

extension StoreReader {
    /// The oldest entries, in a store in which one database has some.
    func outbox(limit: Int) throws -> [OutboxEntry] {
        let entries = try outboxes(limit: 10_000).flatMap(\.entries)
        #expect(Set(entries.map(\.database)).count <= 1, "those of several have no order")
        return Array(entries.prefix(limit))
    }

    /// The pending entries of a database.
    func outbox(of database: DatabaseID) throws -> [OutboxEntry] {
        try outboxes(of: [database], limit: 10_000, byteLimit: .max).flatMap(\.entries)
    }
}
