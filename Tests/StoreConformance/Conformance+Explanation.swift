// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let explanations: [Check] = [
        Check("Processed entries leave the outbox and are kept, newest first") { store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes()).id
            }
            let ids = try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox(["a", "b", "c"].map { .change(of: $0, in: database) })
                return try transaction.outbox(limit: 9).map(\.id)
            }
            try await store.write(.everything) {
                try $0.markNotified(upTo: ids[1].position, in: database, keeping: true)
            }
            try await store.read { reader throws in
                #expect(try reader.outbox(limit: 9).map(\.id) == [ids[2]])
                let kept = try reader.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(kept.map(\.entry.zoneName) == ["c", "b", "a"])
                #expect(kept.map(\.isNotified) == [false, true, true])
                let newest = try reader.keptChanges(KeptChangeQuery(), limit: 1)
                #expect(newest.map(\.entry.id) == [ids[2]])
                #expect(try reader.oldestKeptChange() == .noon)
            }
            // What was processed stays so.
            try await store.write(.everything) {
                try $0.markNotified(upTo: ids[0].position, in: database, keeping: true)
            }
            #expect(try await store.read { try $0.outbox(limit: 9).map(\.id) } == [ids[2]])
        },
        Check(reopening: "Entries processed without being kept leave the earlier ones alone") {
            store, engine in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes()).id
            }
            try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox(["a", "b", "c"].map { .change(of: $0, in: database) })
                let ids = try transaction.outbox(limit: 9).map(\.id)
                try transaction.markNotified(upTo: ids[0].position, in: database, keeping: true)
                try transaction.markNotified(upTo: ids[1].position, in: database, keeping: false)
            }
            let reopened = try await engine.reopen(store)
            try await reopened.read { reader throws in
                #expect(try reader.outbox(limit: 9).map(\.zoneName) == ["c"])
                let kept = try reader.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(kept.map(\.entry.zoneName) == ["c", "a"])
            }
            try await reopened.close()
        },
        Check("Kept changes are found by database, zone and record") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let user = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_anna", at: Instant(rawValue: 0)
                )
                let other = try transaction.createAccount(named: "ben", at: .noon)
                let databases = try [
                    DatabaseKey.privateNotes(user.id), .publicNotes,
                    DatabaseKey(container: .released, scope: .public, owner: nil),
                    DatabaseKey(container: .chess, scope: .public, owner: nil),
                ].map { try transaction.makeDatabase($0).id }
                let change = OutboxEntry.Event.records([
                    RecordChange(recordName: "a\"b", recordType: "Note", event: .created)
                ])
                try transaction.appendOutbox(
                    zip(["mine", "all", "released", "chess"], databases).map {
                        .change(of: $0, $0 == "all" ? change : .zoneCreated, in: $1)
                    }
                )
                func found(_ limit: Int = 9, _ set: (inout KeptChangeQuery) -> Void) throws
                    -> [String]
                {
                    var query = KeptChangeQuery()
                    set(&query)
                    return try transaction.keptChanges(query, limit: limit)
                        .map(\.entry.zoneName).sorted()
                }
                #expect(try found { _ in } == ["all", "chess", "mine", "released"])
                let notes = ContainerKey.notes.container
                #expect(try found { $0.container = notes } == ["all", "mine", "released"])
                #expect(try found { $0.environment = .production } == ["released"])
                #expect(try found { $0.scope = .private } == ["mine"])
                #expect(
                    try found { $0.account = account } == ["all", "chess", "mine", "released"]
                )
                #expect(try found { $0.account = other } == ["all", "chess", "released"])
                #expect(try found { $0.zoneName = "mine" } == ["mine"])
                #expect(try found { $0.recordName = "a\"b" } == ["all"])
                #expect(try found { $0.recordName = "a" } == [])
                let kept = try transaction.keptChanges(KeptChangeQuery(), limit: 9)
                #expect(
                    try found { $0.after = kept[1].cursor }
                        == kept.suffix(2).map(\.entry.zoneName).sorted())
                #expect(try found { $0.after = kept[3].cursor } == [])
                for change in kept {
                    // Where it stands among those that were asked for is not its own.
                    var alone = try #require(try transaction.keptChange(change.entry.id))
                    alone.cursor = change.cursor
                    #expect(alone == change)
                }
                let gone = OutboxEntryID(
                    database: databases[0], position: OutboxPosition(rawValue: .max / 2))
                #expect(try transaction.keptChange(gone) == nil)
            }
        },
        Check("What became of matches is found by change, user and notification") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.publicNotes).id
                try transaction.appendOutbox(["a", "b"].map { .change(of: $0, in: database) })
                let ids = try transaction.outbox(of: database).map(\.id)
                let saved: [NotifiedMatch] = [
                    .notified(ids[0], "a", to: .ben), .notified(ids[0], "b"),
                    .notified(ids[0], "b", merged: true),
                    .notified(ids[1], "c", record: "n1", pruned: ["soundName", "desiredKeys"]),
                ]
                try transaction.appendNotifiedMatches(Array(saved.prefix(2)))
                try transaction.appendNotifiedMatches(Array(saved.suffix(2)))
                #expect(
                    try transaction.notifiedMatches(of: ids[0], to: nil, limit: 9) == [
                        saved[1], saved[2], saved[0],
                    ]
                )
                #expect(
                    try transaction.notifiedMatches(of: ids[0], to: .ben, limit: 9) == [saved[0]])
                #expect(
                    try transaction.notifiedMatches(of: ids[0], to: .anna, limit: 1) == [saved[1]])
                #expect(
                    try transaction.notifiedMatches(of: ids[1], to: nil, limit: 9) == [saved[3]])
                #expect(
                    try transaction.notifiedMatches(notificationID: "b", limit: 9) == [
                        saved[1], saved[2],
                    ])
                #expect(try transaction.notifiedMatches(notificationID: "x", limit: 9) == [])
            }
        },
        Check("PUSH-14: positions ascend in each database, and name an entry with it alone") {
            store in
            try await store.write(.everything) { transaction throws in
                let databases = try [
                    DatabaseKey.publicNotes,
                    DatabaseKey(container: .chess, scope: .public, owner: nil),
                    DatabaseKey(container: .released, scope: .public, owner: nil),
                ].map { try transaction.makeDatabase($0).id }
                for zone in ["a", "b", "c", "d"] {
                    try transaction.appendOutbox(databases.map { .change(of: zone, in: $0) })
                }
                let outboxes = try databases.map { try transaction.outbox(of: $0) }
                for entries in outboxes {
                    #expect(entries.map(\.zoneName) == ["a", "b", "c", "d"])
                    #expect(entries.map(\.position).ascends)
                }
                // What is done to an entry is done to no other database's.
                let second = outboxes[1][1]
                let serial = SubscriptionSerial(rawValue: 70)
                try transaction.setNotifiedThrough(serial, ofOutboxEntry: second.id)
                try transaction.shorten(.zoneDeleted(.deleted, subscriptions: []), of: second.id)
                try transaction.appendNotifiedMatches([.notified(second.id, "n")])
                for entry in outboxes.joined() where entry.id != second.id {
                    #expect(try transaction.keptChange(entry.id)?.entry == entry)
                    #expect(
                        try transaction.notifiedMatches(of: entry.id, to: nil, limit: 9).isEmpty)
                }
                var changed = second
                changed.notifiedThrough = serial
                changed.event = .zoneDeleted(.deleted, subscriptions: [])
                #expect(try transaction.keptChange(second.id)?.entry == changed)
                let matches = try transaction.notifiedMatches(notificationID: "n", limit: 9)
                #expect(matches.map(\.change) == [second.id])
                try transaction.markNotified(
                    upTo: outboxes[1][2].position, in: databases[1], keeping: true)
                #expect(
                    try databases.map { try transaction.outbox(of: $0).map(\.zoneName).joined() }
                        == ["abcd", "d", "abcd"])
            }
        },
        Check("A shortened change keeps its position") { store in
            let database = try await store.write(.everything) {
                try $0.makeDatabase(.privateNotes()).id
            }
            let long = OutboxEntry.Event.records([
                RecordChange(
                    recordName: "n", recordType: "Note", event: .created, fields: .text("long")
                )
            ])
            let short = OutboxEntry.Event.records([
                RecordChange(recordName: "n", recordType: "Note", event: .created)
            ])
            try await store.write(.everything) { transaction throws in
                try transaction.appendOutbox([.change(of: "a", long, in: database)])
                let entry = try #require(try transaction.outbox(limit: 1).first)
                try transaction.shorten(short, of: entry.id)
                var expected = entry
                expected.event = short
                #expect(try transaction.outbox(limit: 9) == [expected])
            }
        },
        Check("Deliveries are found by notification, with what acknowledges it") { store in
            let later = Instant.noon.advanced(by: .seconds(1))
            let saved: [Delivery] = [
                .attempt(7, "phone", "sent"), .attempt(7, nil, "200", route: .webhook),
                .attempt(8, "phone", "sent"),
                .attempt(6, "pad", Delivery.acknowledged),
                .attempt(8, "phone", Delivery.acknowledged, at: later),
                .attempt(9, "phone", Delivery.acknowledged, at: later.advanced(by: .seconds(1))),
                .attempt(7, "phone", "sent", to: .ben),
            ]
            try await store.write(.everything) { try $0.appendDeliveries(saved) }
            try await store.read { reader throws in
                func found(_ sequence: Int64, _ user: UserID = .anna) throws -> [Delivery] {
                    try reader.deliveries(
                        of: NotificationSequence(rawValue: sequence), to: user, limit: 9
                    )
                }
                #expect(try found(7) == [saved[0], saved[1], saved[4]])
                #expect(try found(8) == [saved[2], saved[4]])
                #expect(try found(7, .ben) == [saved[6]])
                #expect(try found(10) == [])
            }
        },
        Check("PUSH-2: what replaced a notification in the log is known") { store in
            try await store.write(.everything) { transaction throws in
                let stored = try transaction.appendNotifications([
                    .push("1", collapse: "c"), .push("2", collapse: "c"),
                    .push("3", collapse: "c"), .push("other", from: "pad"),
                ])
                func replacement(_ index: Int, from client: String?) throws -> String? {
                    let change = OutboxEntryID(
                        database: stored[index].database, position: OutboxPosition(rawValue: 1))
                    var match = NotifiedMatch.notified(change, stored[index].notificationID)
                    match.sequence = stored[index].sequence
                    match.collapseID = stored[index].collapseID
                    return try transaction.replacement(
                        of: match, in: stored[index].database, origin: client
                    )
                }
                #expect(try replacement(0, from: "phone") == "3")
                #expect(try replacement(2, from: "phone") == nil)
                #expect(try replacement(0, from: "pad") == nil)
                #expect(try replacement(3, from: "pad") == nil)
            }
        },
        Check("Devices, subscribers, containers and names are there for explanations") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                let gone = AccountID(rawValue: account.rawValue + 1)
                #expect(try transaction.accountNames([account, gone]) == [account: "anna"])
                #expect(try transaction.accountNames([]) == [:])
                let later = Instant.noon.advanced(by: .seconds(1))
                let phone = try transaction.registerDevice(
                    clientID: "phone", user: .anna, container: .notes, at: later
                )
                #expect(
                    try transaction.registeredDevices(of: .anna)
                        == [RegisteredDevice(device: phone, registeredAt: later)]
                )
                let database = try transaction.makeDatabase(.publicNotes).id
                _ = try transaction.makeDatabase(
                    DatabaseKey(container: .chess, scope: .public, owner: nil)
                )
                #expect(try transaction.containers(limit: 9) == [.chess, .notes])
                #expect(try transaction.containers(limit: 1) == [.chess])
                try transaction.subscribe(
                    .ben, in: database, .watching(.query, "b", type: "Note"),
                    .watching(.query, "c", type: "Task")
                )
                try transaction.subscribe(.anna, in: database, .watching(.query, "a", type: "Note"))
                #expect(try transaction.subscribers(in: database, limit: 9) == [.anna, .ben])
                #expect(try transaction.subscribers(in: database, limit: 1) == [.anna])
            }
        },
    ]
}

extension NotifiedMatch {
    /// A match of which anna's devices were notified.
    static func notified(
        _ change: OutboxEntryID, _ notification: String, to user: UserID = .anna,
        record: String? = nil, merged: Bool = false, pruned: [String] = []
    ) -> NotifiedMatch {
        NotifiedMatch(
            change: change, user: user, subscriptionID: "all", recordName: record,
            notificationID: notification,
            sequence: NotificationSequence(rawValue: change.position.rawValue * 10),
            isMerged: merged,
            collapseID: merged ? .background : nil, isBackground: record == nil,
            payloadSize: 214, pruned: pruned, isLast: record != nil
        )
    }
}

extension Delivery {
    /// What a route did about a notification.
    static func attempt(
        _ notification: Int64, _ client: String?, _ answer: String, route: Route = .stream,
        to user: UserID = .anna, at moment: Instant = .noon
    ) -> Delivery {
        Delivery(
            notification: NotificationSequence(rawValue: notification), user: user,
            clientID: client, route: route, at: moment, answer: answer
        )
    }
}
