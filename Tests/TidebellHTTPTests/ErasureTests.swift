// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellSQLite
import TidebellServer
import TidebellWire

@Suite("Removing a person")
struct ErasureTests {
    private let api: TestAPI
    /// What is looked for in the store after the person is gone.
    private static let secret = "the secret of the one who left"

    init() async throws {
        api = try await TestAPI()
    }

    /// Calls as another user.
    private func post(_ path: String, as token: String, _ json: String, query: String = "")
        async throws -> TestAPI.Answer
    {
        try await api.send(
            "POST", api.target(path).replacing(api.webToken, with: token) + query, json,
            headers: ["X-Tidebell-Extensions": "1", "X-Tidebell-Request-ID": UUID().uuidString]
        )
    }

    /// Saves records of a type in a database as a user.
    private func save(
        _ names: [String], in database: String, as token: String, fields: String = ""
    ) async throws {
        let operations = names.map {
            """
            {"operationType":"forceUpdate","record":{"recordName":"\($0)","recordType":"Note",\
            "fields":{"text":{"value":"\(Self.secret)"}\(fields)}}}
            """
        }
        let answer = try await post(
            "\(database)/records/modify", as: token,
            #"{"operations":[\#(operations.joined(separator: ","))]}"#, query: "&clientId=phone"
        )
        #expect(answer.status == 200 && answer.error == nil)
    }

    /// Fills a user's databases with some of everything; returns the user's record name.
    private func fill(as token: String) async throws -> String {
        _ = try await post(
            "private/zones/modify", as: token,
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Mine"}}}]}"#
        )
        _ = try await post(
            "private/subscriptions/modify", as: token,
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
            "subscriptionType":"database","notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """
        )
        _ = try await api.send(
            "POST",
            api.target(under: "device", "tokens/create")
                .replacing(api.webToken, with: token) + "&clientId=phone",
            #"{"apnsEnvironment":"development"}"#
        )
        try await save((1...30).map { "note\($0)" }, in: "private", as: token)
        try await save(["post", "needed"], in: "public", as: token)
        let caller = try await api.send(
            "GET", api.target("public/users/caller").replacing(api.webToken, with: token)
        )
        return try JSONReader.read(Array(caller.text.utf8), CallerResponse.init(from:))
            .userRecordName
    }

    private func publicNames() async throws -> Set<String> {
        let answer = try await api.post(
            "public/records/lookup",
            #"{"records":[{"recordName":"post"},{"recordName":"needed"},{"recordName":"mine"}]}"#
        )
        return Set(
            ["post", "needed", "mine"].filter { answer.text.contains(#""\#($0)","recordType"#) })
    }

    /// What the public records take, counted anew.
    private func countedUse() async throws -> StorageUse {
        let database = try DatabaseQueue(
            path: api.folder.appendingPathComponent(SQLiteFactory.fileName).path)
        return try await database.read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT ifnull(sum(size), 0), count(*) FROM record WHERE deleted = 0"
            )
            return StorageUse(bytes: row?[0] ?? 0, records: row?[1] ?? 0)
        }
    }

    /// What they take, as the store counts it.
    private func publicUse() async throws -> StorageUse {
        let uses = try await api.cloud.store.read { try $0.storageUses() }
        return uses.first { if case .container = $0.owner { true } else { false } }?.use ?? .zero
    }

    /// Whether any file of the store holds the bytes.
    private func storeHolds(_ text: String) async throws -> Bool {
        let database = try DatabaseQueue(
            path: api.folder.appendingPathComponent(SQLiteFactory.fileName).path)
        return try await database.read { database in
            let tables = try String.fetchAll(
                database,
                sql:
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            for table in tables {
                for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table)") {
                    for value in row.databaseValues {
                        let bytes = Data.fromDatabaseValue(value) ?? Data("\(value)".utf8)
                        if bytes.range(of: Data(text.utf8)) != nil { return true }
                    }
                }
            }
            return false
        }
    }

    @Test(
        "M8: what a removed person had in private is erased, and what was public stays", .onSQLite)
    func personal() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        let user = try await fill(as: ben)
        let account = try await api.cloud.accounts.remove(named: "ben", erasing: .personal)
        let counts = try await api.cloud.accounts.erase(account)
        #expect(counts[.records] == 30)
        #expect(counts[.zones] == 2)
        #expect(counts[.subscriptions] == 1)
        #expect(counts[.devices] == 1)
        #expect(counts[.answers] == 4)
        #expect(counts[.users] == 1)
        #expect(counts[.publicRecords] == nil)
        #expect(try await publicNames() == ["post", "needed"])
        #expect(try await !storeHolds("note7"))
        #expect(try await !storeHolds("ben"))
        #expect(try await storeHolds(user), "public records have their creator, by a number")
        #expect(try await api.cloud.accounts.removed().isEmpty)
    }

    @Test("M8: public records go too where that is asked for, whoever refers to them", .onSQLite)
    func everything() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await fill(as: ben)
        // Two records of another user, more than may go with one of ben's.
        let reference = #","up":{"value":{"recordName":"needed","action":"DELETE_SELF"}}"#
        try await save(["mine", "mine2"], in: "public", as: api.webToken, fields: reference)
        let account = try await api.cloud.accounts.remove(named: "ben", erasing: .everything)
        var limits = Limits()
        limits.cascadedDeletions = 1
        let counts = try await api.cloud.accounts.erase(account, limits: limits)
        #expect(counts[.publicRecords] == 2)
        #expect(counts[.keptPublicRecords] == nil)
        let left = try await publicNames()
        #expect(!left.contains("post") && !left.contains("needed"), "\(left)")
        #expect(try await countedUse() == publicUse(), "ACCT-9: they count no more")
        #expect(try await countedUse().records == left.count + 1)
    }

    @Test("M8: erasing goes on where it was stopped, also in the server's maintenance")
    func resumed() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await fill(as: ben)
        try await save((1...120).map { "p\($0)" }, in: "public", as: ben)
        let account = try await api.cloud.accounts.remove(named: "ben", erasing: .everything)
        let eraser = EraseAccount(limits: Limits(), storeIdentity: api.cloud.store.identity)
        let now = TestAPI.start
        let isComplete = try await api.cloud.store.writeInSteps(for: nil) {
            try eraser.step(account, at: now, as: $0)
        }
        #expect(!isComplete)
        #expect(try await api.cloud.accounts.removed().map(\.erasure) == [.everything])
        try await api.cloud.maintenance.eraseRemoved()
        #expect(try await api.cloud.accounts.removed().isEmpty)
        let counts = try await api.cloud.store.read { try $0.erased(of: account) }
        #expect(counts[.publicRecords] == 122)
        #expect(counts[.records] == 30)
        #expect(try await !storeHolds(Self.secret))
    }

    @Test("M8: what was kept is erased later, by the name or the number of the account", .onSQLite)
    func later() async throws {
        for _ in 0..<2 {
            let ben = try await api.cloud.accounts.add(named: "ben")
            try await save(["a"], in: "private", as: ben)
            try await api.cloud.accounts.remove(named: "ben")
        }
        let accounts = api.cloud.accounts
        let kept = try await accounts.removed()
        #expect(kept.map(\.name) == ["ben", "ben"])
        #expect(try await storeHolds(Self.secret))
        await #expect(throws: OperatorError.self) {
            try await accounts.beginErasing("ben", .personal)
        }
        await #expect(throws: OperatorError.self) {
            try await accounts.beginErasing("nobody", .personal)
        }
        let first = try await accounts.beginErasing("\(kept[0].account.rawValue)", .personal)
        #expect(try await accounts.erase(first)[.records] == 1)
        let second = try await accounts.beginErasing("ben", .personal)
        #expect(try await accounts.erase(second)[.records] == 1)
        #expect(try await !storeHolds(Self.secret))
    }

    /// Calls that write, each with a body that would write something.
    private static let writes: [(root: String, path: String, body: String)] = [
        (
            "database", "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"New"}}}]}"#
        ),
        ("database", "private/records/modify", record),
        ("database", "public/records/modify", record),
        (
            "database", "private/assets/upload",
            #"{"tokens":[{"recordType":"Note","recordName":"f","fieldName":"file"}]}"#
        ),
        (
            "database", "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"new",\
            "subscriptionType":"database","notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """
        ),
        ("device", "tokens/create", #"{"apnsEnvironment":"development"}"#),
        ("device", "tokens/register", #"{"apnsEnvironment":"development","apnsToken":"ab"}"#),
        ("ext", "account/permission", #"{"permission":"userDiscoverability","action":"grant"}"#),
        ("ext", "account/signIn", "{}"),
        ("ext", "notifications/ack", #"{"cursor":"0"}"#),
        ("ext", "notifications/badge", #"{"value":3}"#),
        ("ext", "notifications/stream", ""),
    ]
    private static let record = """
        {"operations":[{"operationType":"forceUpdate","record":{"recordName":"late",\
        "recordType":"Note","fields":{}}}]}
        """

    /// What ends a user.
    enum Ending: CaseIterable {
        case erased, removed, disabled, signedOut
    }

    private func end(_ name: String, by ending: Ending) async throws {
        let accounts = api.cloud.accounts
        switch ending {
        case .erased:
            _ = try await accounts.erase(
                try await accounts.remove(named: name, erasing: .everything))
        case .removed: try await accounts.remove(named: name)
        case .disabled: try await accounts.setDisabled(true, name)
        case .signedOut: _ = try await accounts.signOut(name)
        }
    }

    /// All rows of all tables.
    private func allRows() async throws -> Set<String> {
        let database = try DatabaseQueue(
            path: api.folder.appendingPathComponent(SQLiteFactory.fileName).path)
        return try await database.read { database in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'"
            )
            return try tables.reduce(into: Set<String>()) { rows, table in
                for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table)") {
                    rows.insert("\(table) \(row)")
                }
            }
        }
    }

    @Test(
        "M8: nothing is written for a person after they ended, though they are remembered",
        arguments: Ending.allCases
    )
    func remembered(ending: Ending) async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await fill(as: ben)
        try await end("ben", by: ending)
        let before = try await allRows()
        for (root, path, body) in Self.writes {
            let target = root == "database" ? api.target(path) : api.target(under: root, path)
            let answer = try await api.send(
                path == "notifications/stream" ? "GET" : "POST",
                target.replacing(api.webToken, with: ben) + "&clientId=tablet", body,
                headers: [
                    "X-Tidebell-Extensions": "1", "X-Tidebell-Request-ID": UUID().uuidString,
                ]
            )
            #expect(answer.status == 421, "\(path): \(answer.text)")
        }
        #expect(try await allRows().subtracting(before) == [])
    }

    @Test("M8: an upload that was asked for before is not taken for a user who is gone")
    func upload() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        let hash = [UInt8](repeating: 1, count: 32)
        try await save(["a"], in: "private", as: ben)
        try await api.cloud.store.write(.everything) { transaction in
            let account = try #require(try transaction.account(calledBy: "ben"))
            let user = try #require(try transaction.users(of: account, limit: 1).first)
            let database = DatabaseKey(
                container: user.container, scope: .private, owner: user.id
            )
            try transaction.putAwaitedUploads([
                AwaitedUpload(
                    tokenHash: hash, user: user.id,
                    field: AssetField(
                        database: database, zoneName: "_defaultZone", recordName: "f",
                        fieldName: "file"
                    ),
                    byteLimit: 9, expiresAt: TestAPI.start.advanced(by: .seconds(60))
                )
            ])
        }
        try await api.cloud.accounts.remove(named: "ben")
        #expect(try await api.cloud.store.read { try $0.awaitedUpload(tokenHash: hash) } == nil)
    }

    @Test("M8: what an older version saved for an erased person is found and erased", .onSQLite)
    func leftBehind() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        _ = try await fill(as: ben)
        let accounts = api.cloud.accounts
        let user = try await api.cloud.store.read { reader in
            let account = try #require(try reader.account(calledBy: "ben"))
            return try #require(try reader.users(of: account, limit: 1).first)
        }
        _ = try await accounts.erase(try await accounts.remove(named: "ben", erasing: .everything))
        #expect(try await accounts.removed() == [])
        // What the requests of a remembered caller did.
        for scope in [DatabaseScope.private, .public] {
            let call = Call(
                container: user.container, scope: scope, user: user, now: TestAPI.start,
                storeIdentity: 1, uuids: .unneeded
            )
            let late = ModifyRecords.Request(
                zoneID: ZoneID(zoneName: ZoneID.defaultName),
                operations: [.init(.forceUpdate, recordName: "late", recordType: "Note")]
            )
            _ = try await api.cloud.store.write(.everything) {
                try ModifyRecords.run(late, for: call, in: $0)
            }
        }
        let path = api.folder.appendingPathComponent(SQLiteFactory.fileName).path
        #expect(
            try StoreCheck.run(at: path).problems.map(\.problem).filter {
                $0.contains("a user who was erased")
            }.count == 1
        )
        // Listing them changes nothing.
        for _ in 0..<2 {
            #expect(try await accounts.removed() == [])
            #expect(try await accounts.lostUsers() == ["lost-\(user.id.rawValue)"])
        }
        #expect(try StoreCheck.run(at: path).isDamaged == false)
        let account = try await accounts.beginErasing(
            "lost-\(user.id.rawValue)", .everything)
        #expect(try await accounts.lostUsers() == [])
        #expect(try await accounts.removed().map(\.account) == [account])
        let counts = try await accounts.erase(account)
        #expect(counts == [.records: 1, .zones: 1, .publicRecords: 1, .users: 1])
        #expect(try await accounts.removed() == [])
        #expect(try StoreCheck.run(at: path).problems == [])
    }

    @Test("M8: a user made anew under the name sees nothing of the one before")
    func sameName() async throws {
        let ben = try await api.cloud.accounts.add(named: "ben")
        let before = try await fill(as: ben)
        try await api.cloud.accounts.remove(named: "ben")
        let again = try await api.cloud.accounts.add(named: "ben")
        let zones = try await api.send(
            "GET", api.target("private/zones/list").replacing(api.webToken, with: again)
        )
        #expect(!zones.text.contains("Mine"))
        let lookup = try await post(
            "private/records/lookup", as: again, #"{"records":[{"recordName":"note1"}]}"#
        )
        #expect(lookup.text.contains("NOT_FOUND"))
        #expect(!lookup.text.contains(before))
    }

    @Test("M8: a file that only the removed person's records held is unused from then on")
    func files() async throws {
        let account = try await api.cloud.store.write(.everything) { transaction in
            let ben = try transaction.createAccount(named: "ben", at: TestAPI.start)
            let container = ContainerKey(
                container: TestAPI.container, environment: .development
            )
            let user = try transaction.makeUser(
                of: ben, in: container, recordName: "_ben", at: TestAPI.start
            )
            let database = try transaction.makeDatabase(
                DatabaseKey(container: container, scope: .private, owner: user.id)
            )
            let content = AssetContent(rawValue: "c")
            _ = try transaction.putAsset(
                StoredAsset(content: content, file: "f", size: 1, checksum: ""),
                at: TestAPI.start
            )
            let zones = try transaction.zones(nil, in: database.id)
            for zone in zones {
                try transaction.putAssetUses(["r": [content]], in: zone.key, at: TestAPI.start)
            }
            return ben
        }
        #expect(try await api.cloud.accounts.remove(named: "ben", erasing: .personal) == account)
        #expect(try await api.cloud.accounts.erase(account)[.files] == 1)
        let unused = try await api.cloud.store.write(.everything) {
            try $0.removeUnusedAssets(
                since: TestAPI.start.advanced(by: .seconds(1)), limit: 9
            ).files
        }
        #expect(unused == ["f"])
    }
}
