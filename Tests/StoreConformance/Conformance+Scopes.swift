// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let scopes: [Check] = [
        Check("Steps are taken in order, and each sees those before it") { store in
            let seen = try await store.writeInSteps(for: nil) { steps in
                let user = try steps.write(.account(nil)) { transaction in
                    let account = try transaction.createAccount(named: "anna", at: .noon)
                    return try transaction.makeUser(
                        of: account, in: .notes, recordName: "_anna", at: .noon
                    )
                }
                try steps.write(.user(user.id)) { try $0.putBadges([user.id: 3]) }
                return try steps.write(.database(.privateNotes(user.id))) { transaction in
                    _ = try transaction.makeZone("diary", in: .privateNotes(user.id))
                    return try transaction.badges(of: [user.id]).values.map(\.self)
                }
            }
            #expect(seen == [3])
        },
        Check("A step writes what its scope has, be it new") { store in
            let people = try await People(in: store)
            try await store.write(.account(people.anna.account)) { transaction in
                try transaction.setPassword("hash", of: people.anna.account)
                try transaction.setDisabled(false, people.anna.account)
            }
            let zone = try await store.write(.database(.privateNotes(people.anna.id))) {
                try $0.makeZone("diary", in: .privateNotes(people.anna.id))
            }
            try await store.write(.databaseWithID(zone.database)) { transaction in
                try transaction.putRecords([.note("a", at: 2)], in: zone.key)
                try transaction.putReferences(
                    [StoredReference(source: "a", target: "b", kind: .parent)], from: ["a"],
                    in: zone.key
                )
                try transaction.subscribe(
                    people.anna.id, in: zone.database, .watching(.database, "all"))
                try transaction.appendOutbox([.change(of: "diary", in: zone.database)])
                try transaction.delete(zone)
            }
            try await store.write(.user(people.anna.id)) { transaction in
                let device = try transaction.registerDevice(
                    clientID: "phone", user: people.anna.id, container: .notes, at: .noon
                )
                try transaction.putPushToken(
                    StoredPushToken(
                        token: "t", apnsEnvironment: .development, courier: "c"),
                    notifying: device.key
                )
                _ = try transaction.appendNotifications([.push("a", to: people.anna.id)])
                try transaction.removeDevice(clientID: "phone", of: people.anna.id)
            }
            try await store.write(.catalogue(.notes)) { transaction in
                try transaction.addRecordTypes(["Note": StoredRecordType()], in: .notes)
                _ = try transaction.createWebhook(
                    for: .notes, url: "https://receiver.example", secret: [1], at: .noon)
            }
            try await store.write(.store) { transaction in
                _ = try transaction.moveRetention(to: .noon, byAtMost: .zero)
            }
        },
        // An engine looks only in debug builds, as those of tests are.
        Check(
            reopening: "A step that writes outside of its scope fails, and nothing of it is stored"
        ) { store, engine in
            guard engine.checksScopes else { return }
            let people = try await People(in: store)
            let (own, other) = (DatabaseKey.privateNotes(people.anna.id), people.ben)
            let zone = try await store.write(.database(own)) { try $0.makeZone("diary", in: own) }
            let device = try await store.write(.user(other.id)) {
                try $0.registerDevice(
                    clientID: "pad", user: other.id, container: .notes, at: .noon)
            }
            let trespasses: [(StoreScope, @Sendable (any StoreTransaction) throws -> Void)] = [
                (.database(.privateNotes(other.id)), { _ = try $0.makeZone("x", in: own) }),
                (.database(own), { _ = try $0.makeDatabase(.publicNotes) }),
                (
                    .databaseWithID(DatabaseID(rawValue: zone.database.rawValue + 1)),
                    {
                        try $0.putRecords([.note("a", at: 2)], in: zone.key)
                    }
                ),
                (
                    .database(own),
                    { try $0.addRecordTypes(["Note": StoredRecordType()], in: .notes) }
                ),
                (
                    .database(own),
                    { _ = try $0.appendNotifications([.push("a", to: people.anna.id)]) }
                ),
                (.database(own), { try $0.putBadges([people.anna.id: 1]) }),
                (
                    .catalogue(.chess),
                    { try $0.addRecordTypes(["Note": StoredRecordType()], in: .notes) }
                ),
                (.catalogue(.notes), { try $0.putRecords([.note("a", at: 2)], in: zone.key) }),
                (.account(people.anna.account), { try $0.setPassword("x", of: other.account) }),
                (.account(people.anna.account), { try $0.putBadges([people.anna.id: 1]) }),
                (
                    .account(nil),
                    {
                        try $0.setPassword("x", of: other.account)
                        _ = try $0.createAccount(named: "carl", at: .noon)
                    }
                ),
                (.user(people.anna.id), { try $0.putBadges([people.ben.id: 1]) }),
                (
                    .user(people.anna.id),
                    { try $0.acknowledge(device.key, upTo: .init(rawValue: 1)) }
                ),
                (
                    .user(people.anna.id),
                    { try $0.giveUp(clientID: "pad", pushToken: nil, of: other.id) }
                ),
                (
                    .user(people.anna.id),
                    { try $0.appendOutbox([.change(of: "diary", in: zone.database)]) }
                ),
                (.store, { try $0.putBadges([people.anna.id: 1]) }),
                (.user(people.anna.id), { try $0.putStoreSecret(.ones) }),
            ]
            for (index, trespass) in trespasses.enumerated() {
                await #expect(throws: (any Error).self, "\(index): \(trespass.0)") {
                    try await store.write(trespass.0, trespass.1)
                }
            }
            try await store.read { reader throws in
                #expect(try reader.badges(of: [people.anna.id, other.id]) == [:])
                #expect(try reader.history(of: zone.key) == [])
                #expect(try reader.database(.publicNotes) == nil)
                #expect(try reader.recordTypeNames(in: .notes, limit: 9) == [])
                #expect(try reader.devices(of: other.id) == [device])
            }
        },
        Check("What spans scopes on purpose is a batch, or everything") { store in
            let people = try await People(in: store)
            for scope in [StoreScope.batch, .everything] {
                try await store.write(scope) {
                    try $0.putBadges([people.anna.id: 1, people.ben.id: 2])
                }
            }
            let badges = try await store.read {
                try $0.badges(of: [people.anna.id, people.ben.id])
            }
            #expect(badges == [people.anna.id: 1, people.ben.id: 2])
        },
        Check("SUB-51: the holders of a client ID or a push token are found, and give it up") {
            store in
            let people = try await People(in: store)
            try await store.write(.user(people.ben.id)) { transaction in
                let device = try transaction.registerDevice(
                    clientID: "phone", user: people.ben.id, container: .notes, at: .noon)
                try transaction.putPushToken(
                    StoredPushToken(token: "t", apnsEnvironment: .development, courier: "c"),
                    notifying: device.key
                )
            }
            func holders(_ clientID: String, _ token: String?) async throws -> Set<UserID> {
                try await store.read {
                    try $0.holders(
                        ofClientID: clientID, pushToken: token, besides: people.anna)
                }
            }
            #expect(try await holders("phone", nil) == [people.ben.id])
            #expect(try await holders("pad", nil) == [])
            #expect(try await holders("pad", "t") == [people.ben.id])
            for _ in 0..<2 {
                try await store.write(.user(people.ben.id)) {
                    try $0.giveUp(clientID: "pad", pushToken: "t", of: people.ben.id)
                }
                #expect(try await holders("pad", "t") == [])
                #expect(try await holders("phone", "t") == [people.ben.id])
            }
            for _ in 0..<2 {
                try await store.write(.user(people.ben.id)) {
                    try $0.giveUp(clientID: "phone", pushToken: nil, of: people.ben.id)
                }
                #expect(try await holders("phone", "t") == [])
            }
        },
    ]
}

/// Two people who use one container.
private struct People: Sendable {
    var anna: StoredUser
    var ben: StoredUser

    init(in store: any Store) async throws {
        func user(_ name: String) async throws -> StoredUser {
            try await store.write(.account(nil)) { transaction in
                let account = try transaction.createAccount(named: name, at: .noon)
                return try transaction.makeUser(
                    of: account, in: .notes, recordName: "_\(name)", at: .noon)
            }
        }
        (anna, ben) = (try await user("anna"), try await user("ben"))
    }
}

extension StoreSecret {
    fileprivate static let ones = StoreSecret(root: Array(repeating: 1, count: length))
}
