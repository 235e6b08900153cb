// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellScheduling
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer
import HTTPTypes
import TidebellPush
import Logging

@Suite("Encrypted fields at rest")
struct EncryptedAtRestTests {
    /// What only encrypted fields hold, in one of each kind.
    private static let secrets = [
        "wordOfTheSecret", "firstOfSecretList", "secretBytesOfAll", "7260358149926035814",
        "1753951826430", "48.137154236", "wordOfTheConflict",
    ]
    private static let plain = "wordInPlainText"

    private static let fields = """
        "title":{"value":"\(plain)"},\
        "secret":{"value":"wordOfTheSecret","isEncrypted":true},\
        "list":{"value":["firstOfSecretList","x"],"type":"STRING_LIST","isEncrypted":true},\
        "bytes":{"value":"\(Data("secretBytesOfAll".utf8).base64EncodedString())",\
        "type":"BYTES","isEncrypted":true},\
        "number":{"value":7260358149926035814,"type":"INT64","isEncrypted":true},\
        "time":{"value":1753951826430,"type":"TIMESTAMP","isEncrypted":true},\
        "place":{"value":{"latitude":48.137154236,"longitude":11.5},"type":"LOCATION",\
        "isEncrypted":true}
        """

    private func modify(
        _ api: TestAPI, _ operations: String, zone: String = "Notes", request: String = ""
    ) async throws -> TestAPI.Answer {
        try await api.post(
            "private/records/modify",
            #"{"zoneID":{"zoneName":"\#(zone)"},"atomic":false,"operations":[\#(operations)]}"#,
            query: "&clientId=writer",
            headers: ["X-Tidebell-Extensions": "1", "X-Tidebell-Request-ID": request]
        )
    }

    private func save(
        _ api: TestAPI, _ name: String, _ fields: String, as type: String = "forceUpdate",
        request: String = ""
    ) async throws -> TestAPI.Answer {
        try await modify(
            api,
            """
            {"operationType":"\(type)","record":{"recordName":"\(name)","recordType":"Note",\
            "fields":{\(fields)}}}
            """,
            request: request
        )
    }

    private func lookup(_ api: TestAPI, _ name: String) async throws -> TestAPI.Answer {
        try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"\#(name)"}]}"#
        )
    }

    private func subscribe(_ api: TestAPI) async throws {
        let answer = try await api.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",\
            "subscriptionType":"query","query":{"recordType":"Note"},\
            "firesOn":["create","update","delete"],\
            "notificationInfo":{"alertBody":"changed","additionalFields":["title"]}}}]}
            """
        )
        #expect(answer.status == 200)
    }

    /// Those of the words that stand in a file of the folder.
    private func words(_ words: [String], in folder: URL) throws -> Set<String> {
        let names = try #require(FileManager.default.enumerator(atPath: folder.path))
        var files: [Data] = []
        while let name = names.nextObject() as? String {
            let file = folder.appendingPathComponent(name)
            if let data = try? Data(contentsOf: file) { files.append(data) }  // else a folder
        }
        return SecretWords(words).found(in: files)
    }

    @Test(
        "REC-11: what apps encrypt stands in no file of the data folder, whatever was done",
        .onSQLite)
    func plainText() async throws {
        let api = try await TestAPI(logLevel: .trace)
        try await api.makeZone("Notes")
        try await subscribe(api)
        // Saved, changed in part, repeated under the same name, in conflict, deleted.
        let saved = try await save(api, "n1", Self.fields, request: "r1")
        #expect(saved.text.contains("wordOfTheSecret"))
        #expect(try await save(api, "n1", Self.fields, request: "r1").text == saved.text)
        _ = try await save(api, "n1", #""title":{"value":"\#(Self.plain)2"}"#)
        let conflict = try await save(
            api, "n1", #""secret":{"value":"wordOfTheConflict","isEncrypted":true}"#,
            as: "create", request: "r2"
        )
        #expect(conflict.text.contains("serverRecord"))
        #expect(conflict.text.contains("firstOfSecretList"))
        _ = try await save(api, "n2", Self.fields)
        _ = try await modify(
            api, #"{"operationType":"forceDelete","record":{"recordName":"n2"}}"#
        )
        _ = try await api.cloud.pipeline.drain()
        #expect(try words(Self.secrets + [Self.plain], in: api.folder) == [Self.plain])
        #expect(api.log.detailedLines.contains { $0.hasPrefix("request answered") })
        expectNoSecret(in: api.log.detailedLines.joined(separator: "\n"), "the log")
    }

    private func expectNoSecret(in text: String, _ what: Comment) {
        #expect(SecretWords(Self.secrets).found(in: text) == [], what)
    }

    @Test("REC-11: what apps encrypt stands in no push and in no explanation of one")
    func pushes() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await subscribe(api)
        let created = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#
        )
        let address = try #require(
            created.text.firstMatch(of: /\/courier\/[0-9a-f]{64}/)?.output)
        _ = try await api.cloud.pipeline.drain()
        _ = try await save(api, "n1", Self.fields)
        _ = try await save(api, "n1", #""title":{"value":"\#(Self.plain)2"}"#)
        _ = try await api.cloud.pipeline.drain()
        for _ in 1...2 {
            let push = try await api.send("GET", String(address))
            #expect(push.status == 200)
            #expect(push.text.contains(Self.plain), "\(push.text)")
            expectNoSecret(in: push.text, "\(push.text)")
        }
        let token = try await api.cloud.accounts.makeAdminToken(named: "test")
        let explained = try await api.send(
            "GET",
            "/admin/1/\(TestAPI.container)/development/push/explain?record=n1&zone=Notes", "",
            headers: ["Authorization": "Bearer \(token)"]
        )
        #expect(explained.status == 200 && explained.text.contains("n1"))
        expectNoSecret(in: explained.text, "\(explained.text)")
    }

    @Test("Without a root key the same words are found: the search can fail", .onSQLite)
    func control() async throws {
        let api = try await TestAPI(rootKey: nil)
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        #expect(try words(Self.secrets, in: api.folder) == Set(Self.secrets.dropLast()))
    }

    @Test("REC-11: encrypted fields come back in every answer that has the record")
    func answers() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let saved = try await save(api, "n1", Self.fields)
        let fields = try #require(saved.text.firstMatch(of: /"fields":\{.*\}\}/)).output
        #expect(
            fields.contains(
                #""secret":{"value":"wordOfTheSecret","type":"STRING","isEncrypted":true}"#))
        #expect(
            fields.contains(
                #""number":{"value":7260358149926035814,"type":"INT64","isEncrypted":true}"#))
        #expect(!fields.contains(#""":"#))
        #expect(try await lookup(api, "n1").text.contains(fields.dropLast(2)))
        let changes = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        )
        #expect(changes.text.contains("wordOfTheSecret"))
        let query = try await api.post(
            "private/records/query",
            #"{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note"}}"#
        )
        #expect(query.text.contains("wordOfTheSecret"))
        let some = try await api.post(
            "private/records/lookup",
            """
            {"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"}],\
            "desiredKeys":["secret"]}
            """
        )
        #expect(some.text.contains(#""fields":{"secret":{"value":"wordOfTheSecret""#))
        #expect(!some.text.contains("firstOfSecretList"))
    }

    @Test("REC-11: a change of one field keeps the encrypted ones, null removes one")
    func merges() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        _ = try await save(api, "n1", #""title":{"value":"other"},"list":{"value":null}"#)
        let text = try await lookup(api, "n1").text
        #expect(text.contains("wordOfTheSecret"))
        #expect(text.contains("other"))
        #expect(!text.contains("firstOfSecretList"))
    }

    @Test("What is encrypted for one record cannot be read as another's, and damage is named")
    func damage() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        _ = try await save(api, "n2", Self.fields)
        try await api.cloud.store.write(.everything) { transaction in
            let zone = try #require(
                try transaction.zones(["Notes"], in: Self.database(transaction)).first)
            let records = try transaction.records(["n1", "n2"], in: zone.key)
            var record = try #require(records["n2"])
            record.fields = try #require(records["n1"]).fields
            try transaction.putSealed([record], in: zone.key)
        }
        let sentence = "the encrypted fields of record 'n2' in zone 'Notes' cannot be decrypted"
        #expect(try await lookup(api, "n2").text.contains(sentence))
        #expect(try await lookup(api, "n1").text.contains("wordOfTheSecret"))
        // It fails alone.
        let changes = try await api.post(
            "private/changes/zone", #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
        #expect(changes.text.contains(sentence))
        #expect(changes.text.contains("wordOfTheSecret"))
        let lines = api.log.detailedLines.filter { $0.contains("a record is damaged") }
        #expect(lines.count == 1)
    }

    @Test(
        "A zone whose key cannot be opened is named, in answers, in the log once, by a check",
        .onSQLite)
    func unreadableKey() async throws {
        let api = try await TestAPI()
        try await api.cloud.store.write(.everything) {
            try $0.adoptRootKey(TestAPI.rootKey.rootKeyID)
        }
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run("UPDATE zone_key SET wrapped = zeroblob(60)")
        }
        let sentence = "the key of the encrypted fields of zone 'Notes' cannot be opened"
        for _ in 1...2 {
            #expect(try await lookup(api, "n1").error?.reason.contains(sentence) == true)
            let saved = try await save(api, "n2", Self.fields)
            #expect(saved.text.contains(sentence), "\(saved.text)")
        }
        let lines = api.log.detailedLines.filter {
            $0.contains("encrypted fields cannot be opened")
        }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("Notes") == true)
        let key = api.folder.appendingPathExtension("key")
        defer { try? FileManager.default.removeItem(at: key) }
        try Data(repeating: 7, count: RootKey.length).write(to: key)
        let found = try CloudCheck.run(
            DataFolder(api.folder), rootKey: .file(key), at: TestAPI.start)
        #expect(
            found.problems.contains {
                $0.zone == "Notes" && $0.problem.contains("encrypted fields cannot be opened")
            }
        )
    }

    @Test(
        "A backup without keys has no zone's key, and nobody reads its encrypted fields", .onSQLite)
    func backupWithoutKeys() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        let folder = api.folder.appendingPathExtension("backups")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for isWithoutKeys in [false, true] {
            let backup = folder.appendingPathComponent("backup-\(isWithoutKeys)")
            var options = Backup.Options()
            options.withoutKeys = isWithoutKeys
            _ = try Backup.make(of: DataFolder(api.folder), to: backup, at: TestAPI.start, options)
            let data = DataFolder(folder.appendingPathComponent("restored-\(isWithoutKeys)"))
            _ = try await Restoring.run(backup, to: data, replacing: false, at: TestAPI.start)
            let store = try data.openStore(for: .serving)
            let log = TestLog(level: .error)
            let cloud = CloudServices(
                store: store, secret: .test, rootKey: TestAPI.rootKey,
                time: Time(now: { TestAPI.start }, clock: api.clock), randomness: .system,
                logger: log.logger
            )
            let key = try await store.read {
                try $0.zones(["Notes"], in: Self.database($0)).first?.fieldKey
            }
            let answer = await cloud.respond(
                .post, api.target("private/records/lookup"),
                body: Array(
                    #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"}]}"#.utf8))
            let text = String(decoding: try await answer.body.collect(), as: UTF8.self)
            #expect((key == .lost) == isWithoutKeys)
            #expect(text.contains("wordOfTheSecret") == !isWithoutKeys, "\(text)")
            #expect((answer.status == 200) == !isWithoutKeys, "\(text)")
            #expect(Self.secrets.allSatisfy { !text.contains($0) } == isWithoutKeys)
            try await store.close()
        }
    }

    @Test("REC-11: a deleted zone forgets its key, a new one of the name has another")
    func deletedZone() async throws {
        let api = try await TestAPI()
        var keys: [StoredZoneKey] = []
        for _ in 1...2 {
            try await api.makeZone("Notes")
            #expect(try await key(of: "Notes", api) == StoredZoneKey.none)
            _ = try await save(api, "n1", Self.fields)
            keys.append(try #require(try await key(of: "Notes", api)))
            _ = try await api.post(
                "private/zones/modify",
                #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
            )
            #expect(try await key(of: "Notes", api) == StoredZoneKey.none)
        }
        #expect(Set(keys).count == 2)
        #expect(!keys.contains(.none))
    }

    @Test("REC-11: of a deleted zone's key nothing is left in the database and its log", .onSQLite)
    func forgottenKey() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        _ = try await save(api, "n1", Self.fields)
        guard case .wrapped(let key) = try await key(of: "Notes", api) else {
            Issue.record("the zone has no key")
            return
        }
        func filesWithKey() throws -> [String] {
            let names = FileManager.default.enumerator(atPath: api.folder.path)?.allObjects
            return (names as? [String] ?? []).filter { name in
                let file = api.folder.appendingPathComponent(name)
                return (try? Data(contentsOf: file))?.range(of: Data(key.bytes)) != nil
            }
        }
        #expect(try !filesWithKey().isEmpty)
        _ = try await api.post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        )
        // Its log goes with a server, and before that once it has grown.
        try await api.cloud.store.close()
        #expect(try filesWithKey() == [])
    }

    @Test("TOK-7, TOK-23: zones whose key is lost report that the user reset encrypted data")
    func lostKey() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        try await api.makeZone("Plain")
        _ = try await save(api, "n1", Self.fields)
        let token = try await databaseToken(api)
        let other = RootKey(Array(repeating: 8, count: RootKey.length)).rootKeyID
        let count = try await api.cloud.store.write(.everything) {
            try ResetLostZones.run(limit: 10, rootKeyID: other, at: TestAPI.start, in: $0)
        }
        #expect(count == 1)
        let extended = ["X-Tidebell-Extensions": "1"]
        let refused = try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"n1"}]}"#,
            headers: extended
        )
        #expect(refused.error?.code == .zoneNotFound)
        #expect(refused.error?.detail?.zoneDeletion == .encryptedDataReset)
        let changes = try await api.post(
            "private/changes/database", #"{"syncToken":"\#(token)"}"#, headers: extended
        )
        #expect(changes.text.contains("encryptedDataReset"))
        #expect(!changes.text.contains("Plain"))
    }

    @Test("What --accept-lost-keys deletes is counted before and after")
    func givenUp() async throws {
        let api = try await TestAPI()
        let store = api.cloud.store
        try await store.write(.everything) { try $0.adoptRootKey(TestAPI.rootKey.rootKeyID) }
        try await api.makeZone("Notes")
        try await api.makeZone("Plain")
        _ = try await save(api, "n1", Self.fields)
        _ = try await save(api, "n2", #""title":{"value":"not encrypted"}"#)
        try await api.save("p", in: "Plain")
        _ = try await api.save(
            try await api.upload(Array("file".utf8), to: "f", of: "r"), as: "f", of: "r")
        #expect(
            try await store.read { try $0.lossWithout(TestAPI.rootKey.rootKeyID) } == KeyLoss())
        let loss = KeyLoss(zones: 1, records: 2, files: 1)
        let folder = DataFolder(api.folder)
        let other = RootKeySource.text(String(repeating: "08", count: RootKey.length))
        func open(acceptsLoss: Bool) async throws -> KeyLoss {
            try await folder.openRootKey(
                from: other, for: store, acceptsLoss: acceptsLoss, at: TestAPI.start
            ).loss
        }
        let refusal = await #expect(throws: OperatorError.self) {
            try await open(acceptsLoss: false)
        }
        #expect(
            refusal?.description.contains(
                "permanently deletes 1 zone with all fields of 2 records, encrypted or not, and 1 file"
            ) == true
        )
        #expect(try await open(acceptsLoss: true) == loss)
        #expect(try await open(acceptsLoss: true) == KeyLoss())
        #expect(try await lookup(api, "n2").text.contains("not encrypted") == false)
    }

    private static func database(_ reader: any StoreReader) throws -> DatabaseID {
        let key = ContainerKey(container: TestAPI.container, environment: .development)
        let account = try #require(try reader.account(named: "me"))
        let user = try #require(try reader.user(of: account, in: key))
        let database = try reader.database(
            DatabaseKey(container: key, scope: .private, owner: user.id)
        )
        return try #require(database).id
    }

    private func key(of zone: String, _ api: TestAPI) async throws -> StoredZoneKey? {
        try await api.cloud.store.read {
            try $0.zones([zone], in: Self.database($0)).first?.fieldKey
        }
    }

    private func databaseToken(_ api: TestAPI) async throws -> String {
        let answer = try await api.post("private/changes/database", "{}")
        let tokens = answer.text.matches(of: /"syncToken":"([^"]*)"/).map(\.output.1)
        return String(try #require(tokens.last))
    }
}
