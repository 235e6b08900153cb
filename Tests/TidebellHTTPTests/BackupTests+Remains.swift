// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer

/// What is no damage, and what is but keeps nobody from the rest.
extension BackupTests {
    private func run(_ sql: String) async throws {
        let store = try data.openStore(for: .administering)
        try await store.write(.everything) { transaction in
            try #require(transaction as? SQLTransaction).connection.run(sql)
        }
        try await store.close()
    }

    private func despiteDamage(_ rootKey: RootKeySource = .dataFolder) -> Backup.Options {
        var options = Backup.Options()
        options.despiteDamage = true
        options.rootKey = rootKey
        return options
    }

    @Test("What is left to do is a warning, and keeps nobody from a backup")
    func warnings() async throws {
        try await makeCloud()
        try await run("UPDATE database SET owner = 99")
        let found = try CloudCheck.run(data, at: Self.moment)
        #expect(!found.isDamaged)
        #expect(found.problems.map(\.severity) == [.warning])
        #expect(found.problems.first?.problem.contains("tidebell user list --removed") == true)
        let made = try Backup.make(of: data, to: backup, at: Self.moment)
        #expect(made.problems == found.problems)
        #expect(try BackupManifest.read(from: backup).problems == found.problems)
        try await run("UPDATE zone SET bytes = bytes + 1")
        #expect(try CloudCheck.run(data, at: Self.moment).isDamaged)
    }

    @Test("M6: while pages are damaged, no check advises to erase a database without its owner")
    func noAdviceAmongDamage() async throws {
        try await makeCloud()
        try await run("UPDATE database SET owner = 99")
        var pages = try await StorePages(closing: try data.openStore(for: .administering))
        let index = try #require(try pages.pages(of: "record_tombstones").first)
        pages.overwrite(index, with: Array(repeating: 0, count: StorePages.size))
        try Data(pages.bytes).write(to: data.database)
        let found = try check(data)
        #expect(found.contains { $0.contains("remove nothing") }, "\(found)")
        #expect(!found.contains { $0.contains("erase") }, "\(found)")
    }

    @Test("A problem that an older version wrote down is damage")
    func olderProblem() throws {
        let json = Data(#"{"problem":"x","record":"r"}"#.utf8)
        var problem = StoreProblem("x")
        problem.record = "r"
        #expect(try JSONDecoder().decode(StoreProblem.self, from: json) == problem)
    }

    @Test("However many warnings there are, damage is listed")
    func damageAmongWarnings() {
        var findings = StoreFindings()
        for number in 0..<StoreCheck.mostProblems {
            findings.add(StoreProblem("\(number)", .warning))
        }
        #expect(!findings.isDamaged)
        findings.add(StoreProblem("damage"))
        #expect(findings.isDamaged && findings.hasMore)
        #expect(findings.problems.count == StoreCheck.mostProblems)
    }

    @Test("Files that were given up with a lost root key are no damage, until they come back")
    func lostKeys() async throws {
        _ = try await makeSealedCloud()
        var home = try await Home(data)
        let other = RootKey(Array(repeating: 8, count: RootKey.length))
        try await home.store.write(.everything) { try $0.adoptRootKey(other.rootKeyID) }
        try await home.store.close()
        let found = try CloudCheck.run(data, at: Self.moment)
        #expect(!found.isDamaged)
        #expect(found.problems.count { $0.problem.contains("was given up") } == 1)
        #expect(try Backup.make(of: data, to: backup, at: Self.moment).problems.count == 1)

        home = try await Home(data, rootKey: other)
        try await home.save("b", String(repeating: "0123456789", count: 20_000))
        try await home.store.close()
        let again = try CloudCheck.run(data, at: Self.moment)
        #expect(again.problems.count { $0.problem.contains("was given up") } == 0)
        try await run("DELETE FROM asset")
        #expect(try CloudCheck.run(data, at: Self.moment).isDamaged)
    }

    /// Puts records with one file and references into a zone.
    private static func fill(
        _ zone: StoredZone, _ count: Int, in transaction: any StoreTransaction
    ) throws {
        let transaction = try #require(transaction as? SQLTransaction)
        let content: AssetContent = try #require(
            try transaction.connection.first("SELECT content FROM asset") { try $0.value(0) })
        let first = try transaction.advance(zone.database, by: count, at: moment)
        let stamp = RecordStamp(timestamp: 1, userRecordName: "_x", deviceID: "")
        let records = (0..<count).map { number in
            StoredRecord(
                name: "n\(number)", type: "Note",
                position: first.advanced(by: number), created: stamp, modified: stamp,
                fields: RecordFields(["title": Field(.string("platypus"))])
            )
        }
        try transaction.putRecords(records, in: zone.key)
        for record in records {
            try transaction.putAssetUses([record.name: [content]], in: zone.key, at: moment)
            try transaction.connection.run(
                "INSERT INTO reference VALUES (?, ?, 'n0', 1)", zone.key, record.name)
        }
        try transaction.touchZone(
            zone.key, position: first.advanced(by: count - 1), clientChangeToken: nil)
    }

    /// Makes an open cloud with one record, and rows of a deleted zone.
    private func makeCloudWithDeletedZone() async throws -> Home {
        let home = try await Home(data)
        try await home.save("a")
        let database = home.zone.database
        try await home.store.write(.everything) { transaction in
            let position = try transaction.advance(database, by: 1, at: Self.moment)
            let zone = try #require(
                try transaction.createZones([("Big", position)], in: database).first)
            try Self.fill(zone, 500, in: transaction)
            let end = try transaction.advance(database, by: 1, at: Self.moment)
            try transaction.deleteZones(
                [(zone.key, end)], reason: .deleted, at: Self.moment)
        }
        return home
    }

    @Test("Rows of deleted zones that the server has not come to are no damage, and in no backup")
    func deletedZone() async throws {
        let home = try await makeCloudWithDeletedZone()
        #expect(try check(data) == [])
        #expect(try Backup.make(of: data, to: backup, at: Self.moment).problems == [])
        let copy = try Data(contentsOf: backup.appendingPathComponent("tidebell.sqlite"))
        #expect(copy.firstRange(of: Data("platypus".utf8)) == nil)
        try await home.store.close()
        let left = try Data(contentsOf: data.database)
        #expect(left.firstRange(of: Data("platypus".utf8)) != nil)
    }

    /// Makes a closed cloud with one record and rows of a deleted zone as version 6 left it,
    /// which has the frozen tables and no others.
    private func makeFrozenCloud() async throws {
        let home = try await makeCloudWithDeletedZone()
        try await home.store.close()
        let queue = try DatabaseQueue(path: data.database.path)
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    DROP TABLE schema_revision;
                    DROP TABLE store_secret;
                    DROP INDEX webhook_container;
                    DROP TABLE webhook_queue;
                    DROP TABLE push_queue;
                    ALTER TABLE database DROP COLUMN zones;
                    DROP TABLE account_address;
                    DROP TABLE account_identity;
                    DROP TABLE device_sign_in;
                    DROP TABLE finished_visit;
                    DROP TABLE share;
                    DROP TABLE share_grant;
                    DROP TABLE shared_record;
                    DROP TABLE share_outsider;
                    DROP TABLE shared_zone;
                    DROP TABLE unsettled_record;
                    DROP TABLE ended_hierarchy;
                    DROP TABLE earlier_departure;
                    DROP TABLE subscription_term;
                    DROP TABLE field_index;
                    DROP TABLE field_index_entry;
                    ALTER TABLE zone DROP COLUMN indexed;
                    DROP TABLE server_key;
                    DROP TABLE schema_trait;
                    DROP TABLE schema_deployment;
                    DROP TABLE query_use;
                    DROP TABLE user_role;
                    DROP TABLE private_field;
                    ALTER TABLE field_type DROP COLUMN fixed_by;
                    ALTER TABLE field_type DROP COLUMN indexes;
                    ALTER TABLE api_token DROP COLUMN origins;
                    ALTER TABLE api_token DROP COLUMN methods;
                    ALTER TABLE admin_token DROP COLUMN task;
                    ALTER TABLE api_token DROP COLUMN callback;
                    DROP INDEX zone_unsettled;
                    ALTER TABLE zone DROP COLUMN unsettled;
                    ALTER TABLE zone DROP COLUMN sharing;
                    ALTER TABLE outbox DROP COLUMN sharing;
                    ALTER TABLE store DROP COLUMN next_root_key;
                    ALTER TABLE asset DROP COLUMN root_key;
                    DROP TABLE grdb_migrations;
                    PRAGMA user_version = \(Schema.frozenVersion);
                    """
            )
        }
        try queue.close()
        let key = Data(repeating: 1, count: StoreSecret.length)
        try key.write(to: data.url.appendingPathComponent(DataFolder.olderKeyName))
    }

    @Test("A cloud of version 6 is checked, and its backup has nothing of deleted zones")
    func frozenVersion() async throws {
        try await makeFrozenCloud()
        #expect(try check(data) == [])
        let made = try Backup.make(of: data, to: backup, at: Self.moment)
        #expect(made.schemaVersion == Schema.frozenVersion)
        #expect(made.problems == [])
        #expect(made.records == 1)
        let copy = backup.appendingPathComponent("tidebell.sqlite")
        #expect(try Data(contentsOf: copy).firstRange(of: Data("platypus".utf8)) == nil)
        #expect(try StoreCheck.refusals(ofStoreAt: copy.path) == [])
        let target = DataFolder(root.appendingPathComponent("restored"))
        _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
        #expect(try await names(in: target) == ["a"])
    }

    @Test("A damaged cloud of version 6 is not backed up silently, and one with more tables")
    func damagedFrozenVersion() async throws {
        try await makeFrozenCloud()
        for (sql, finding) in [
            ("UPDATE record SET fields = x'7b7d'", "/a: the fields are damaged"),
            ("CREATE TABLE schema_revision (a)", "'schema_revision' is not Tidebell's"),
        ] {
            let queue = try DatabaseQueue(path: data.database.path)
            try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
            let refusal = await sentence {
                _ = try Backup.make(of: data, to: backup, at: Self.moment)
            }
            #expect(refusal.contains(finding), "\(refusal)")
        }
        let refusals = try StoreCheck.refusals(ofStoreAt: data.database.path)
        #expect(refusals.map(\.problem).contains { $0.contains("'schema_revision'") })
    }

    @Test("A person who is being erased is no damage")
    func erasedPerson() async throws {
        let home = try await Home(data)
        try await home.save("a")
        try await home.store.write(.everything) { transaction in
            let account = try #require(try transaction.account(named: "anna"))
            let user = try transaction.makeUser(
                of: account, in: Self.container, recordName: "_anna", at: Self.moment)
            let database = try transaction.makeDatabase(
                DatabaseKey(container: Self.container, scope: .private, owner: user.id))
            let zone = try #require(try transaction.zones(nil, in: database.id).first)
            try Self.fill(zone, 10, in: transaction)
            try transaction.removeAccount(account, at: Self.moment)
            try transaction.beginErasing(account, .personal)
            #expect(try !transaction.eraseRows(of: user, at: Self.moment, limit: 5))
        }
        #expect(try check(data) == [])
        try await home.store.close()
    }

    @Test("A file that cannot be read is damage; what else there is comes into a backup")
    func unreadableFile() async throws {
        try await makeCloud()
        let kept = try #require(
            try files(data.url).filter { $0.hasPrefix("assets/kept/") }.sorted().first)
        let url = data.url.appendingPathComponent(kept)
        try FileManager.default.removeItem(at: url)
        // Reading it fails for every user.
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let finding = "the file \(kept) cannot be read: Is a directory"
        #expect(try check(data).map { $0.hasSuffix(finding) } == [true])
        let refusal = await sentence {
            _ = try Backup.make(of: data, to: backup, at: Self.moment)
        }
        #expect(refusal.contains("The cloud is damaged") && refusal.contains(finding))
        let made = try Backup.make(of: data, to: backup, at: Self.moment, despiteDamage())
        #expect(made.problems.map(\.problem) == [finding])
        #expect(made.recordFiles == 1)
        #expect(try !files(backup).contains(kept))
        let restored = DataFolder(root.appendingPathComponent("restored"))
        _ = try await Restoring.run(backup, to: restored, replacing: false, at: Self.moment)
        #expect(try check(restored).map { $0.hasSuffix("the file \(kept) is missing") } == [true])
    }

    @Test("A root key that cannot be used is a problem beside the others, unless it was named")
    func unusableRootKey() async throws {
        _ = try await makeSealedCloud()
        try await run("UPDATE zone SET bytes = bytes + 1")
        let key = data.url.appendingPathComponent("root-key")
        try Data("no key".utf8).write(to: key)
        let found = try CloudCheck.run(data, at: Self.moment)
        #expect(found.problems.map(\.severity) == [.damage, .damage, .damage])
        #expect(found.problems.last?.problem.contains("it cannot be read, or is none") == true)
        #expect(found.unreadFiles == 1)
        let made = try Backup.make(of: data, to: backup, at: Self.moment, despiteDamage())
        #expect(made.problems == found.problems)
        #expect(made.lacksRootKey)
        _ = await sentence {
            _ = try CloudCheck.run(data, rootKey: .file(key), at: Self.moment)
        }
        try FileManager.default.removeItem(at: key)
        try await run("UPDATE zone SET bytes = bytes - 1")
        for text in ["no key", String(repeating: "08", count: RootKey.length)] {
            let found = try CloudCheck.run(data, rootKey: .text(text), at: Self.moment)
            #expect(found.problems.map(\.severity) == [.warning])
            #expect(found.problems.first?.problem.contains("TIDEBELL_ROOT_KEY") == true)
            #expect(found.unreadFiles == 1)
        }
    }

    @Test("Another root key in the data folder does not stand for the one that is missing")
    func staleRootKey() async throws {
        _ = try await makeSealedCloud()
        let other = String(repeating: "08", count: RootKey.length)
        try Data(other.utf8).write(to: data.url.appendingPathComponent("root-key"))
        let found = try CloudCheck.run(data, at: Self.moment)
        #expect(found.problems.map(\.severity) == [.warning])
        #expect(try Backup.make(of: data, to: backup, at: Self.moment).lacksRootKey)
        #expect(try BackupManifest.read(from: backup).lacksRootKey)
        let outcome = try await Restoring.run(
            backup, to: DataFolder(root.appendingPathComponent("restored")), replacing: false,
            at: Self.moment)
        #expect(outcome.lacksRootKey)
    }
}
