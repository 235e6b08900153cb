// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer

/// Checks of a cloud in a data folder.
extension BackupTests {
    /// A change of a sound store, and what the check is to find.
    struct Damage: Sendable, CustomTestStringConvertible {
        var sql: String
        var finding: String
        var testDescription: String { sql }
    }

    private static let zone = "iCloud.org.example.notes/development/public/_defaultZone"

    private static let damages = [
        Damage(
            sql: "UPDATE record SET fields = x'7b7d' WHERE name = 'a'",
            finding: "\(zone)/a: the fields are damaged"),
        Damage(
            sql: "UPDATE record SET fields = x'7b7d7d', checksum = NULL WHERE name = 'a'",
            finding: "\(zone)/a: the fields are damaged"),
        Damage(
            sql: "UPDATE zone SET position = position - 1",
            finding: "\(zone)/b: the record's position is ahead of its zone"),
        Damage(
            sql: "UPDATE database SET head = 0",
            finding: "\(zone): the zone's position is ahead of its database"),
        Damage(
            sql: "UPDATE zone SET bytes = bytes + 1",
            finding: "\(zone): the zone's records do not take what is counted"),
        Damage(
            sql: "UPDATE database SET records = records + 1",
            finding: "the database's zones do not take what is counted"),
        Damage(
            sql: "DELETE FROM database", finding: "_defaultZone: the zone belongs to no database"),
        Damage(sql: "DELETE FROM zone", finding: "zone 1/a: records belong to a zone that is gone"),
        Damage(
            sql: "INSERT INTO reference VALUES (1, 'x', 'a', 1)",
            finding: "\(zone)/x: a reference goes out from a record that is not there (to a)"),
        Damage(
            sql: """
                INSERT INTO asset (content, file, size, checksum) VALUES ('x', 'xx', 1, 'x')
                """,
            finding: "a file is in no record and would never be removed"),
        Damage(
            sql: "UPDATE asset_use SET record = 'x' WHERE record = 'a'",
            finding: "\(zone)/x: a file is kept for a record that is not there"),
        Damage(
            sql: "UPDATE asset_use SET content = 'x' WHERE record = 'a'",
            finding: "\(zone)/a: the record's file is not known (x)"),
        Damage(
            sql:
                "INSERT OR REPLACE INTO outbox_queue (database, done, turn) VALUES (1, 1 << 62, 1)",
            finding: "more of the outbox is done than there ever was"),
        Damage(
            sql: "INSERT INTO outbox_queue (database, done, turn) VALUES (99, 0, 1)",
            finding: "the database waits for the push pipeline, and is gone"),
        Damage(sql: "DELETE FROM store", finding: "the identity is missing"),
        Damage(sql: "DROP TABLE reference", finding: "cannot be looked at"),
    ]

    @Test("A check names what is wrong and where", arguments: damages)
    func findings(damage: Damage) async throws {
        try await makeCloud()
        #expect(try check(data) == [])
        let store = try data.openStore(for: .administering)
        try await store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run(damage.sql)
        }
        try await store.close()
        let found = try check(data)
        #expect(found.contains { $0.contains(damage.finding) }, "\(found)")
    }

    @Test("A check finds files that are missing, damaged, cut or nobody's")
    func fileFindings() async throws {
        let home = try await Home(data)
        for name in ["a", "b", "c", "d"] { try await home.save(name) }
        try await home.store.close()
        let kept = try files(data.url).filter { $0.hasPrefix("assets/kept/") }.sorted()
        let urls = kept.map { data.url.appendingPathComponent($0) }
        try FileManager.default.removeItem(at: urls[0])
        var damaged = try Data(contentsOf: urls[1])
        damaged[3] ^= 1
        try damaged.write(to: urls[1])
        try Data().write(to: urls[2])
        let orphan = data.url.appendingPathComponent("assets/kept/ab/abc")
        try FileManager.default.createDirectory(
            at: orphan.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data([1]).write(to: orphan)
        let found = try CloudCheck.run(data, at: Self.moment).problems
        #expect(found.filter { $0.zone == "_defaultZone" }.compactMap(\.record).count == 3)
        #expect(
            Set(found.map(\.problem))
                == [
                    "the file \(kept[0]) is missing",
                    "the file \(kept[1]) is damaged: its digest is another one",
                    "the file \(kept[2]) has 0 bytes and not 12",
                    "the file assets/kept/ab/abc belongs to no record; a server that runs "
                        + "removes it within the hour",
                ]
        )
        // A file that just came may belong to an upload on its way.
        let now = Instant(rawValue: Int64(Date().timeIntervalSince1970 * 1000))
        #expect(try CloudCheck.run(data, at: now).problems.count == 3)
    }

    @Test(
        "A check names the file whose size in the database is none", arguments: [-1, Int64.max]
    )
    func impossibleSize(size: Int64) async throws {
        _ = try await makeSealedCloud()
        let store = try data.openStore(for: .administering)
        try await store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run("UPDATE asset SET size = ?", size)
        }
        try await store.close()
        let found = try check(data)
        #expect(found.contains { $0.contains("has a size in the database that no file has") })
    }

    @Test("A check names the records that hold a file")
    func holders() async throws {
        let home = try await Home(data)
        for name in ["a", "b", "c", "d", "e"] { try await home.save(name, "the same") }
        try await home.store.close()
        let kept = try #require(try files(data.url).first { $0.hasPrefix("assets/kept/") })
        try FileManager.default.removeItem(at: data.url.appendingPathComponent(kept))
        #expect(
            try check(data) == [
                "\(Self.zone)/a: the file \(kept) is missing; also of \(Self.zone)/b, "
                    + "\(Self.zone)/c and 2 more records"
            ]
        )
    }

    static let rootKey = RootKey(Array(repeating: 7, count: RootKey.length))
    static let digits = String(repeating: "07", count: RootKey.length)

    /// Makes a cloud whose root key is elsewhere, with an encrypted file of four frames;
    /// returns its path.
    func makeSealedCloud() async throws -> String {
        let home = try await Home(data, rootKey: Self.rootKey)
        try await home.save("a", String(repeating: "0123456789", count: 20_000))
        try await home.store.close()
        return try #require(try files(data.url).first { $0.hasPrefix("assets/kept/") })
    }

    @Test("Damage inside an encrypted file is found by check and backup that have the root key")
    func sealedContents() async throws {
        let kept = try await makeSealedCloud()
        let source = RootKeySource.text(Self.digits)
        #expect(try CloudCheck.run(data, rootKey: source, at: Self.moment).problems == [])
        let url = data.url.appendingPathComponent(kept)
        var stored = try Data(contentsOf: url)
        stored.replaceSubrange(120_000..<120_004, with: [1, 2, 3, 4])
        try stored.write(to: url)
        let finding =
            "\(Self.zone)/a: the file \(kept) is damaged at byte 65536 of its content: what is in "
            + "it is not what was written"

        // Without the key nothing is known of it, and that is reported.
        let blind = try CloudCheck.run(data, at: Self.moment)
        #expect(blind.problems == [])
        #expect(blind.unreadFiles == 1)
        let found = try CloudCheck.run(data, rootKey: source, at: Self.moment)
        #expect(found.problems.map(\.description) == [finding])
        #expect(found.unreadFiles == 0)

        let refusal = await sentence {
            var options = Backup.Options()
            options.rootKey = source
            _ = try Backup.make(of: data, to: backup, at: Self.moment, options)
        }
        #expect(refusal.contains("The cloud is damaged") && refusal.contains(finding))
        #expect(try Backup.make(of: data, to: backup, at: Self.moment).unreadFiles == 1)

        let other = String(repeating: "08", count: RootKey.length)
        let named = root.appendingPathComponent("other-key")
        try Data(other.utf8).write(to: named)
        let wrong = await sentence {
            _ = try CloudCheck.run(data, rootKey: .file(named), at: Self.moment)
        }
        #expect(wrong.contains("This is not the root key"))
        // In the data folder it is at hand by itself.
        try Data(Self.digits.utf8).write(to: data.url.appendingPathComponent("root-key"))
        #expect(try check(data) == [finding])
    }

    @Test("A database that cannot be read is a finding, and no backup of it is promised")
    func unreadableDatabase() async throws {
        try await makeCloud()
        let file = try FileHandle(forUpdating: data.database)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let found = try check(data)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("the database cannot be read, bring the cloud back") == true)
        #expect(found.first?.contains("--replace --data \(data.url.path)") == true)
        var options = Backup.Options()
        options.despiteDamage = true
        let wanted = options
        let refusal = await sentence {
            _ = try Backup.make(of: data, to: backup, at: Self.moment, wanted)
        }
        #expect(
            refusal.hasPrefix(
                "The backup was not made: the database cannot be read to its end, also not with "
                    + "--despite-damage."))
    }

    @Test("A check finds a damaged page")
    func damagedPage() async throws {
        try await makeCloud()
        let file = try FileHandle(forUpdating: data.database)
        // The last page, whichever table it belongs to.
        let size = try file.seekToEnd()
        try file.seek(toOffset: size - 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 64))
        try file.close()
        #expect(try !check(data).isEmpty)
    }
}
