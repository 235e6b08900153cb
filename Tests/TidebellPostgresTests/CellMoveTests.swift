// SPDX-License-Identifier: Apache-2.0
import Foundation

import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellPostgresClient
import TidebellScheduling
import TidebellWire

@testable import StoreConformance
@testable import TidebellPostgres

@Suite("Users and databases move between cells", .hangs)
struct CellMoveTests {
    /// Ends a move where it is thrown.
    private struct Interrupted: Error {}

    /// A cloud in three cells, with a user who has a zone of some records.
    private struct Cloud {
        let address: String
        let store: any OpenedStore
        var user: StoredUser
        var database: StoredDatabase
        var zone: StoredZone

        init(records: Int = 20) async throws {
            address = try PostgresEngine.addressOfNewDatabase()
            try PostgresEngine.addCells(to: address)
            store = try CellMoveTests.open(address)
            (user, database, zone) = try await Self.begin(in: store)
            try await save((0..<records).map { "r\($0)" })
        }

        static func begin(
            in store: any OpenedStore
        ) async throws -> (StoredUser, StoredDatabase, StoredZone) {
            let user = try await store.write(.account(nil)) { transaction throws in
                let account = try transaction.createAccount(named: "anna", at: .noon)
                return try transaction.makeUser(
                    of: account, in: .notes, recordName: "_anna", at: .noon)
            }
            let key = DatabaseKey(container: .notes, scope: .private, owner: user.id)
            return try await store.write(.database(key)) { transaction throws in
                let database = try transaction.makeDatabase(key)
                let position = try transaction.advance(
                    database.id, by: 1, at: .noon, adding: .zero)
                let zone = try transaction.createZones(
                    [(name: "Lists", position: position)], in: database.id)[0]
                return (user, database, zone)
            }
        }

        /// Saves records under names, and has the outbox say so.
        func save(_ names: [String]) async throws {
            let (database, zone) = (database, zone)
            try await store.write(.database(database.key)) { transaction throws in
                for name in names {
                    let position = try transaction.advance(
                        database.id, by: 1, at: .noon, adding: .zero)
                    try transaction.putRecords([.note(name, at: position)], in: zone.key)
                    try transaction.touchZone(
                        zone.key, position: position, clientChangeToken: nil, adding: .zero)
                }
            }
        }

        /// The names of the zone's records, in the order of their changes.
        func names() async throws -> [String] {
            let zone = zone
            return try await store.read { reader throws in
                try reader.recordChanges(
                    in: zone.key, after: .start, limit: 10_000, byteLimit: .max, reverse: false
                ).records.map(\.name)
            }
        }

        /// The numbers of the user's databases in each cell.
        func places() throws -> [String: Int] {
            try Dictionary(
                uniqueKeysWithValues: CellDirectory.list(at: PostgresAddress(address)).map {
                    ($0.name, $0.databases ?? -1)
                })
        }

        @discardableResult
        func move(
            to cell: String, reached: @escaping @Sendable (CellMove.Stage) throws -> Void = { _ in }
        ) async throws -> CellMove.Outcome {
            try await CellMoveTests.move(user, to: cell, of: address, reached: reached)
        }

        /// Moves to the last cell, with these records and one that is written there.
        func endInWest(with names: [String]) async throws {
            try await move(to: "west")
            #expect(try places() == ["directory": 0, "east": 0, "west": 1])
            try await save(["after"])
            #expect(try await self.names() == names + ["after"])
            try await store.close()
        }
    }

    /// Moves what a user owns.
    private static func move(
        _ user: StoredUser, to cell: String, of address: String,
        reached: @escaping @Sendable (CellMove.Stage) throws -> Void = { _ in }
    ) async throws -> CellMove.Outcome {
        // Nobody notifies of changes here, so that they are not waited for long.
        let elapsed = Time.system.elapsed
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try CellMove.run(
                            CellMove.Subject(owner: user.id, container: .notes), to: cell,
                            in: PostgresAddress(address),
                            now: { .noon }, elapsed: { elapsed() * 20 },
                            wait: { Thread.sleep(forTimeInterval: $0 / .seconds(1)) },
                            reached: reached)
                    })
            }
        }
    }

    private static func open(_ address: String) throws -> any OpenedStore {
        try PostgresFactory(address).open(
            in: FileManager.default.temporaryDirectory, for: .serving, bounds: StoreBounds(),
            time: .system, randomness: .system)
    }

    @Test("A database that is written to all the time moves there and back, and nothing is lost")
    func inUse() async throws {
        let cloud = try await Cloud()
        let isDone = Atomic(false)
        async let written = {
            var names: [String] = []
            var number = 0
            while !isDone.load(ordering: .relaxed) || number == 0 {
                // A name comes again now and then.
                let name = "w\(number % 50)"
                do {
                    try await cloud.save([name])
                } catch is IsMoving {
                    // On a busy machine a move holds it for longer than the server itself waits.
                    continue
                }
                names.append(name)
                number += 1
            }
            return names
        }()
        #expect(try cloud.places() == ["directory": 0, "east": 1, "west": 0])
        let there = try await cloud.move(to: "west")
        #expect(there.followed >= 20)
        #expect(try cloud.places() == ["directory": 0, "east": 0, "west": 1])
        let back = try await cloud.move(to: "east")
        #expect(back.followed >= 20)
        try await cloud.move(to: "directory")
        #expect(try cloud.places() == ["directory": 1, "east": 0, "west": 0])
        isDone.store(true, ordering: .relaxed)
        var latest: [String] = []
        for name in (0..<20).map({ "r\($0)" }) + (try await written) {
            latest.removeAll { $0 == name }
            latest.append(name)
        }
        #expect(try await cloud.names() == latest)
        try await cloud.store.close()
    }

    @Test(
        "A move that ends anywhere goes on when it is run again", arguments: CellMove.Stage.allCases
    )
    func interrupted(stage: CellMove.Stage) async throws {
        let cloud = try await Cloud()
        let before = try await cloud.names()
        await #expect(throws: Interrupted.self) {
            try await cloud.move(to: "west") { if $0 == stage { throw Interrupted() } }
        }
        // It can be read all the time.
        #expect(try await cloud.names() == before)
        await #expect(throws: CellMove.Refusal.onItsWay(to: "west")) {
            try await cloud.move(to: "directory")
        }
        try await cloud.endInWest(with: before)
    }

    @Test(
        "A move that ended before the switch is given up: all is where it was, and is written to",
        arguments: CellMove.Stage.allCases
    )
    func givenUp(stage: CellMove.Stage) async throws {
        let cloud = try await Cloud()
        let before = try await cloud.names()
        let subject = CellMove.Subject(owner: cloud.user.id, container: .notes)
        let address = try PostgresAddress(cloud.address)
        #expect(throws: CellMove.Refusal.notBegun) { try CellMove.cancel(subject, in: address) }
        await #expect(throws: Interrupted.self) {
            try await cloud.move(to: "west") { if $0 == stage { throw Interrupted() } }
        }
        guard [.copied, .held, .fenced].contains(stage) else {
            #expect(throws: CellMove.Refusal.hasMoved(to: "west")) {
                try CellMove.cancel(subject, in: address)
            }
            return try await cloud.store.close()
        }
        #expect(try CellMove.cancel(subject, in: address) == nil)
        #expect(try cloud.places() == ["directory": 0, "east": 1, "west": 0])
        try await cloud.save(["after"])
        #expect(try await cloud.names() == before + ["after"])
        try await cloud.move(to: "west")
        #expect(try await cloud.names() == before + ["after"])
        try await cloud.store.close()
    }

    @Test("A move that was given up meanwhile keeps nobody out of the old cell")
    func givenUpMeanwhile() async throws {
        let cloud = try await Cloud()
        try await cloud.move(to: "directory")
        let before = try await cloud.names()
        let subject = CellMove.Subject(owner: cloud.user.id, container: .notes)
        let (address, database) = (try PostgresAddress(cloud.address), cloud.database.id.rawValue)
        await #expect(throws: CellMove.Refusal.givenUp) {
            try await cloud.move(to: "west") { stage in
                guard stage == .held else { return }
                let directory = try PostgresConnection(address)
                defer { directory.close() }
                try MovePlan.giveUp(subject, databases: [database], in: directory)
            }
        }
        // It is written to where it was, and goes on when it is run again.
        try await cloud.save(["between"])
        try await cloud.endInWest(with: before + ["between"])
    }

    @Test("A move that goes on, though it lost the directory, is not given up under its hands")
    func goesOn() async throws {
        let cloud = try await Cloud()
        try await cloud.move(to: "directory")
        let before = try await cloud.names()
        let subject = CellMove.Subject(owner: cloud.user.id, container: .notes)
        let address = try PostgresAddress(cloud.address)
        await #expect(throws: PostgresError.self) {
            try await cloud.move(to: "west") { stage in
                guard stage == .held else { return }
                let directory = try PostgresConnection(address)
                defer { directory.close() }
                try directory.execute(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_locks
                    WHERE locktype = 'advisory' AND (classid::bigint << 32) | objid::bigint = $1
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """, [.int64(PostgresSchema.movingLock)])
                #expect(throws: CellMove.Refusal.isMoving) {
                    try CellMove.cancel(subject, in: address)
                }
            }
        }
        try await cloud.endInWest(with: before)
    }

    @Test(
        "A move of a user whose account is gone is listed as that, and not as one of a public database"
    )
    func gone() async throws {
        let cloud = try await Cloud(records: 1)
        let address = try PostgresAddress(cloud.address)
        let directory = try PostgresConnection(address)
        try directory.execute(
            """
            INSERT INTO cell_move (owner, container, environment, source, target)
            VALUES (77, $1, $2, 0, 1)
            """, Array(CellMove.Subject(owner: nil, container: .notes).values.dropFirst()))
        directory.close()
        #expect(
            try CellDirectory.list(at: address).flatMap(\.movesTo) == [
                CellDirectory.Move(options: nil, owner: 77, isSwitched: false, isGivenUp: false)
            ])
        try await cloud.store.close()
    }

    @Test("A move to a cell that is away is given up")
    func givenUpWithoutTarget() async throws {
        let cloud = try await Cloud()
        await #expect(throws: Interrupted.self) {
            try await cloud.move(to: "west") { if $0 == .held { throw Interrupted() } }
        }
        try PostgresEngine.drop(cell: "west", of: cloud.address)
        let subject = CellMove.Subject(owner: cloud.user.id, container: .notes)
        let address = try PostgresAddress(cloud.address)
        let failure = try CellMove.cancel(subject, in: address)
        #expect(failure?.contains("does not exist") == true, "\(failure ?? "")")
        // It is known until what was copied is gone.
        #expect(try CellMove.cancel(subject, in: address) == failure)
        try await cloud.save(["after"])
        #expect(try await cloud.names().contains("after"))
        try await cloud.store.close()
    }

    @Test(
        "A cloud that has records gets cells; positions in an outbox ascend wherever its database is"
    )
    func added() async throws {
        let address = try PostgresEngine.addressOfNewDatabase()
        let before = try Self.open(address)
        let (user, database, _) = try await Cloud.begin(in: before)
        func append(to store: any OpenedStore) async throws {
            try await store.write(.databaseWithID(database.id)) {
                try $0.appendOutbox([.change(of: "Lists", in: database.id)])
            }
        }
        func positions(in store: any OpenedStore) async throws -> [OutboxPosition] {
            try await store.read {
                try $0.outboxes(of: [database.id], limit: 100, byteLimit: .max)
                    .flatMap(\.entries).map(\.position)
            }
        }
        // More than the gap that a move leaves for what is given meanwhile.
        let connection = try PostgresConnection(PostgresAddress(address))
        try connection.rows("SELECT setval('outbox_id_seq', 3000000)") { _ in }
        connection.close()
        for _ in 0..<3 { try await append(to: before) }
        let first = try await positions(in: before)
        #expect(first.count == 3)
        try await before.close()
        try PostgresEngine.addCells(to: address)
        let store = try Self.open(address)
        // The first move is before the first cell has given a number since.
        for cell in ["east", "west", "directory", "west"] {
            _ = try await Self.move(user, to: cell, of: address)
            try await append(to: store)
        }
        let all = try await positions(in: store)
        #expect(all.count == 7 && Array(all.prefix(3)) == first)
        #expect(all == Array(Set(all)).sorted())
        try await store.close()
    }

    /// What a user has besides databases, as everybody reads it.
    private struct Belongings: Sendable, Hashable {
        var devices: [RegisteredDevice]
        var log: [StoredNotification]
        var floor: NotificationSequence
        var badge: Int?
        var tokens: [StoredPushToken]
        var listening: Set<Listener>
        var target: PushTarget?
        var courier: [DeviceKey]
        var queue: [DeliveryPointer]
        var webhookCursor: NotificationSequence?
        var deliveries: [Delivery]
        var roles: Set<String>
        var permission: PermissionAnswer?

        init(of user: UserID, hook: WebhookID, _ reader: any StoreReader) throws {
            devices = try reader.registeredDevices(of: user)
            log = try reader.notifications(
                for: user, after: .start, excludingOrigin: nil, limit: 100)
            floor = try reader.notificationFloor(of: user)
            badge = try reader.badges(of: [user])[user]
            tokens = try reader.devicesWithTokens(of: [user], at: .noon).flatMap(\.tokens)
            listening = try reader.listening(
                among: Set(
                    devices.map { .stream($0.device.key, SessionID(rawValue: "s")) }
                        + [.courier(token: "page")]), at: .noon)
            target = try reader.pushTarget(
                PushTargetKey(token: "aa", device: devices[0].device.key), at: .noon)
            courier = try reader.pushToken(courier: "c", at: .noon)?.devices.map(\.key) ?? []
            queue =
                try reader.queuedDeliveries(in: .webhook(hook), limit: 9)
                + reader.queuedDeliveries(in: .pushTargets(.notes), limit: 9)
            webhookCursor = try reader.webhookCursor(hook, of: user)
            deliveries =
                try log.last.map {
                    try reader.deliveries(of: $0.sequence, to: user, limit: 9)
                } ?? []
            roles = try reader.roles(of: user)
            permission = try reader.permission(.userDiscoverability, of: user)
        }
    }

    @Test(
        "A user's log, devices, push tokens, badge and roles move along; positions in the log ascend"
    )
    func belongings() async throws {
        let cloud = try await Cloud(records: 1)
        let user = cloud.user.id
        let hook = try await cloud.store.write(.catalogue(.notes)) {
            try $0.createWebhook(for: .notes, url: "https://a.example", secret: [1], at: .noon).id
        }
        try await cloud.store.write(.account(cloud.user.account)) {
            try $0.putWebToken(
                StoredWebToken(
                    account: cloud.user.account, expiresAt: .noon.advanced(by: .seconds(60)),
                    session: SessionID(rawValue: "s")), hash: [1])
        }
        func append(_ text: String) async throws -> NotificationSequence {
            try await cloud.store.write(.user(user)) {
                try $0.appendNotifications([.push(text, to: user, from: nil)])[0].sequence
            }
        }
        try await cloud.store.write(.user(user)) { transaction throws in
            let phone = try transaction.registerDevice(
                clientID: "phone", user: user, container: .notes, at: .noon)
            let page = try transaction.registerDevice(
                clientID: "page", user: user, container: .notes, at: .noon)
            try transaction.putPushToken(
                StoredPushToken(token: "aa", apnsEnvironment: .development, courier: nil),
                notifying: phone.key, in: SessionID(rawValue: "s"))
            try transaction.putPushToken(
                StoredPushToken(token: "page", apnsEnvironment: .development, courier: "c"),
                notifying: page.key)
            try transaction.putBadges([user: 7])
            try transaction.setRole("editor", of: user, isGiven: true)
            try transaction.setPermission(.userDiscoverability, of: user, to: .granted)
        }
        for text in ["1", "2", "3"] { _ = try await append(text) }
        try await cloud.store.write(.user(user)) { transaction throws in
            _ = try transaction.trimNotifications(of: user, to: 2, limit: 9)
            let last = try transaction.newestNotifications(of: [user])[user]
            try transaction.appendDeliveries([
                Delivery(
                    notification: try #require(last), user: user, clientID: "phone",
                    route: .stream, at: .noon, answer: "sent")
            ])
        }
        func belongings() async throws -> Belongings {
            try await cloud.store.read { try Belongings(of: user, hook: hook, $0) }
        }
        var before = try await belongings()
        #expect(before.log.count == 2 && before.floor < before.log[0].sequence)
        #expect(before.listening.count == 3 && before.target != nil && before.courier.count == 1)
        #expect(before.queue.count == 2 && before.roles == ["editor"] && before.badge == 7)
        for (number, cell) in ["west", "directory", "east"].enumerated() {
            let late = Delivery(
                notification: try #require(before.log.last?.sequence), user: user,
                clientID: "phone", route: .stream, at: .noon.advanced(by: .seconds(number + 1)),
                answer: "sent again")
            try await cloud.move(to: cell) { [store = cloud.store] stage in
                // Comes behind the copy of what was there before.
                guard stage == .copied else { return }
                let isDone = DispatchSemaphore(value: 0)
                Task {
                    defer { isDone.signal() }
                    try await store.write(.user(user)) { try $0.appendDeliveries([late]) }
                }
                isDone.wait()
            }
            before.deliveries.append(late)
            #expect(try await belongings() == before)
        }
        // What was moved is written to where it is now, wherever a step comes from.
        let target = try #require(before.target)
        let last = try await append("4")
        #expect(last > before.log[1].sequence)
        try await cloud.store.write(.batch) { transaction throws in
            try transaction.movePushTargets([target.key: last])
            #expect(try transaction.advanceWebhook(hook, to: [user: last]) == [])
        }
        let after = try await belongings()
        #expect(after.queue == [] && after.target?.delivered == last)
        #expect(after.log.map(\.sequence) == (before.log.map(\.sequence) + [last]))
        _ = try await append("5")
        #expect(try await belongings().queue.count == 2)
        #expect(
            try await cloud.store.write(.catalogue(.notes)) { try $0.removeWebhook(hook) })
        #expect(try await belongings().webhookCursor == nil)
        try await cloud.store.close()
    }

    @Test("While a cell is away, what is in it fails as that, and the others go on")
    func away() async throws {
        let cloud = try await Cloud(records: 1)
        let other = try await cloud.store.write(.account(nil)) { transaction throws in
            let account = try transaction.createAccount(named: "ben", at: .noon)
            return try transaction.makeUser(
                of: account, in: .notes, recordName: "_ben", at: .noon)
        }
        let key = DatabaseKey(container: .notes, scope: .private, owner: other.id)
        _ = try await cloud.store.write(.database(key)) { try $0.makeDatabase(key) }
        #expect(try cloud.places() == ["directory": 0, "east": 1, "west": 1])
        let (anna, ben) = (cloud.user.id, other.id)
        let lasting = SessionID(rawValue: "lasting")
        try await cloud.store.write(.account(cloud.user.account)) {
            try $0.putWebToken(
                StoredWebToken(
                    account: cloud.user.account, expiresAt: .noon.advanced(by: .seconds(60)),
                    session: lasting), hash: [1])
        }
        let device = try await cloud.store.write(.user(anna)) {
            try $0.registerDevice(clientID: "phone", user: anna, container: .notes, at: .noon).key
        }
        try PostgresEngine.drop(cell: "east", of: cloud.address)
        await #expect(throws: StoreUnavailable.self) { try await cloud.names() }
        await #expect(throws: StoreUnavailable.self) { try await cloud.save(["lost"]) }
        // What a log and metrics say.
        #expect(
            cloud.store.troublesOfCells.mapValues { $0.present != nil }
                == ["directory": false, "east": true, "west": false])
        let database = try await cloud.store.write(.database(key)) { try $0.database(key) }
        #expect(try await cloud.store.read { try $0.database(key) } == database)
        #expect(try await cloud.store.read { try $0.accountNames() } == ["anna", "ben"])
        // What sessions say of streams counts, though their devices cannot be asked for.
        let streams: Set<Listener> = [
            .stream(device, lasting), .stream(device, SessionID(rawValue: "ended")),
        ]
        #expect(
            try await cloud.store.read { try $0.listening(among: streams, at: .noon) }
                == [.stream(device, lasting)])
        let written = await cloud.store.write(ofEach: [anna, ben]) { users, transaction in
            try transaction.putBadges(Dictionary(uniqueKeysWithValues: users.map { ($0, 1) }))
        }
        #expect(Set(written.failed.keys) == [anna] && written.done.count == 1)
        #expect(try await cloud.store.read { try $0.badges(of: [ben]) } == [ben: 1])
        try await cloud.store.close()
    }
}
