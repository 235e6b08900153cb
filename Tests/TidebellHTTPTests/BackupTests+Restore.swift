// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import TestSupport
import Testing
import TidebellCore

@testable import TidebellSQLite
@testable import TidebellServer

/// Restoring that fails, that is stopped in the middle, or whose backup somebody changed.
extension BackupTests {
    /// What a data folder holds, by path, without what changes with every start.
    private func contents(_ folder: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for file in try files(folder) where !file.hasPrefix("tidebell.sqlite-") {
            contents[file] = try Data(contentsOf: folder.appendingPathComponent(file))
        }
        return contents
    }

    /// Restores the backup instead of what is in the data folder.
    private func replace() async throws {
        _ = try await Restoring.run(backup, to: data, replacing: true, at: Self.moment)
    }

    @Test("A restore that fails leaves the folder as it was, at whatever point it fails")
    func failedRestore() async throws {
        try await makeCloud()
        // Of what is moved in, this name is taken already.
        try Data([1]).write(to: data.url.appendingPathComponent("lost+found"))
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        try FileManager.default.removeItem(at: data.url.appendingPathComponent("lost+found"))
        let taken = data.url.appendingPathComponent("lost+found/x")
        try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: true)
        let home = try await Home(data)
        try await home.save("c")
        try await home.store.close()
        let before = try contents(data.url)
        let isInTheWay =
            "The backup was not restored: \(data.url.path)/lost+found is in the way; move it."
        #expect(await sentence(replace) == isInTheWay)
        #expect(try contents(data.url) == before)
        #expect(FileManager.default.fileExists(atPath: taken.path))

        let aside = data.url.appendingPathComponent("before-restore-\(Self.moment.rawValue)")
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        #expect(await sentence(replace).hasPrefix("The backup was not restored: "))
        #expect(try contents(data.url) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: aside.path) == [])
        #expect(!FileManager.default.fileExists(atPath: "\(data.url.path)/.restoring"))

        // The plan cannot be written.
        try FileManager.default.removeItem(at: aside)
        let plan = data.url.appendingPathComponent(FolderExchange.newPlanName)
        try FileManager.default.createDirectory(at: plan, withIntermediateDirectories: false)
        #expect(await sentence(replace).hasPrefix("The backup was not restored: "))
        #expect(try contents(data.url) == before)
        #expect(!FileManager.default.fileExists(atPath: aside.path))
        #expect(!FolderExchange.isUnderWay(in: data.url))
        try FileManager.default.removeItem(at: plan)

        let fresh = DataFolder(root.appendingPathComponent("fresh"))
        try FileManager.default.createDirectory(
            at: fresh.url.appendingPathComponent("lost+found/x"), withIntermediateDirectories: true)
        let refusal = await sentence {
            _ = try await Restoring.run(backup, to: fresh, replacing: false, at: Self.moment)
        }
        #expect(refusal.hasPrefix("The backup was not restored: "))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fresh.url.path) == ["lost+found"])
    }

    @Test("A restore that fails between two names that it changes takes all of it back")
    func failedExchange() async throws {
        try await makeCloud()
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        let home = try await Home(data)
        try await home.save("c")
        try await home.store.close()
        let before = try contents(data.url)
        struct Failure: Error {}
        var steps = 0
        while true {
            steps += 1
            var left = steps
            do {
                _ = try await Restoring.run(
                    backup, to: data, replacing: true, at: Self.moment,
                    moved: {
                        left -= 1
                        guard left == 0, FolderExchange.isUnderWay(in: self.data.url) else {
                            return
                        }
                        throw Failure()
                    })
                break
            } catch is Failure {
                #expect(try contents(data.url) == before, "step \(steps)")
                #expect(try check(data) == [], "step \(steps)")
            }
        }
        #expect(steps > 8)
        #expect(try await names(in: data) == ["a", "b"])
    }

    @Test(
        "A restore that is stopped at any point is taken back by the next; nothing half is served")
    func stoppedRestore() async throws {
        try await makeCloud()
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        let home = try await Home(data)
        try await home.save("c")
        try await home.store.close()
        // What a kill leaves after each step.
        var stops: [DataFolder] = []
        _ = try await Restoring.run(
            backup, to: data, replacing: true, at: Self.moment,
            moved: { [data, root] in
                let stop = root.appendingPathComponent("stop\(stops.count)")
                try FileManager.default.copyItem(at: data.url, to: stop)
                stops.append(DataFolder(stop))
            }
        )
        #expect(stops.count > 8)
        let later = Self.moment.advanced(by: .seconds(1))
        for (number, stop) in stops.enumerated() {
            if number == stops.count - 1 {
                // The last step is done: it is the restored cloud.
                #expect(try await names(in: stop) == ["a", "b"])
                #expect(try check(stop) == [])
                continue
            }
            for use in [
                { _ = try stop.openStore(for: .serving) },
                { _ = try stop.openStore(for: .administering) },
                { _ = try Backup.make(of: stop, to: stop.url, at: later) },
                { _ = try CloudCheck.run(stop, at: later) },
            ] {
                let refusal = await sentence { try use() }
                #expect(refusal.contains("tidebell restore BACKUP --replace"), "stop \(number)")
            }
            // Even where the backup is gone.
            var reports: [String] = []
            _ = await sentence {
                _ = try await Restoring.run(
                    root.appendingPathComponent("nowhere"), to: stop, replacing: false, at: later,
                    reporting: { reports.append($0) })
            }
            #expect(reports.count == 1)
            #expect(try await names(in: stop) == ["a", "b", "c"], "stop \(number)")
            #expect(try check(stop) == [], "stop \(number)")
            reports = []
            let outcome = try await Restoring.run(
                backup, to: stop, replacing: true, at: later, reporting: { reports.append($0) })
            #expect(
                reports == [
                    "What a restore that was stopped had left in \(stop.url.path)/.restoring was removed."
                ])
            #expect(try await names(in: stop) == ["a", "b"])
            #expect(try check(stop) == [])
            let aside = DataFolder(try #require(outcome.movedAside))
            #expect(try await names(in: aside) == ["a", "b", "c"])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: stop.url.path)
                    .filter { $0.hasPrefix(".") || $0.hasPrefix("before-") }
                    == [aside.url.lastPathComponent]
            )
        }
    }

    /// A change of a backup's database, and what a restore and a check report of it.
    struct Forgery: Sendable, CustomTestStringConvertible {
        var sql: String
        var finding: String
        var testDescription: String { sql }
    }

    static let forgeries = [
        Forgery(
            sql: "UPDATE store SET incarnation = 9223372036854775807",
            finding: "store.incarnation is 9223372036854775807"),
        Forgery(
            sql: "UPDATE database SET head = 9223372036854775807",
            finding: "database.head is 9223372036854775807"),
        Forgery(
            sql: "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'zone'",
            finding: "sqlite_sequence.seq is 9223372036854775807"),
        Forgery(
            sql: "UPDATE record SET size = -9223372036854775808 WHERE name = 'a'",
            finding: "record.size is -9223372036854775808"),
        Forgery(
            sql: "UPDATE zone SET position = -5", finding: "zone.position is -5"),
        Forgery(
            sql: "UPDATE record SET position = -7", finding: "record.position is -7"),
        Forgery(
            sql: "UPDATE zone SET bytes = -1", finding: "zone.bytes is -1"),
        Forgery(
            sql: "UPDATE sqlite_sequence SET seq = -1 WHERE name = 'zone'",
            finding: "sqlite_sequence.seq is -1"),
        Forgery(
            sql: "UPDATE account SET created_at = 9223372036854775807",
            finding: "account.created_at is 9223372036854775807"),
        Forgery(
            sql: """
                CREATE TRIGGER "back door" AFTER INSERT ON account BEGIN
                    UPDATE account SET disabled = 0; END
                """,
            finding: "the trigger 'back door' is not Tidebell's"),
        Forgery(
            sql: "CREATE VIEW all_tokens AS SELECT hash FROM web_token",
            finding: "the view 'all_tokens' is not Tidebell's"),
        Forgery(
            sql: "CREATE TABLE more (x)", finding: "the table 'more' is not Tidebell's"),
        Forgery(
            sql: "CREATE INDEX mine ON account (created_at)",
            finding: "the index 'mine' is not Tidebell's"),
        Forgery(
            sql: "DROP INDEX record_name", finding: "the index 'record_name' is missing"),
        Forgery(
            sql: "ALTER TABLE account ADD COLUMN more TEXT",
            finding: "the table 'account' is not as this Tidebell makes it"),
        Forgery(
            sql: "UPDATE asset SET file = '../../../x'",
            finding: "the file '../../../x' has no plain name"),
        Forgery(
            sql: "UPDATE asset SET file = 'ab/cd'",
            finding: "the file 'ab/cd' has no plain name"),
        Forgery(
            sql: "UPDATE asset SET file = '..'", finding: "the file '..' has no plain name"),
    ]

    /// Changes the database of a folder as a stranger does.
    private func forge(_ sql: String, in folder: URL) async throws {
        let path = folder.appendingPathComponent("tidebell.sqlite").path
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(
        "A backup that was changed with its manifest is refused, and what is named",
        arguments: forgeries)
    func forgedBackup(_ forgery: Forgery) async throws {
        let home = try await Home(data)
        try await home.save("a")
        try await home.store.close()
        var manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        try await forge(forgery.sql, in: backup)
        let digest = try #require(
            try DurableFile.digest(of: backup.appendingPathComponent("tidebell.sqlite")))
        let index = try #require(
            manifest.files.firstIndex { $0.path == "tidebell.sqlite" })
        manifest.files[index].bytes = digest.bytes
        manifest.files[index].sha256 = digest.sha256
        try JSONEncoder().encode(manifest).write(to: backup.appendingPathComponent("manifest.json"))
        let target = DataFolder(root.appendingPathComponent("restored"))
        let refusal = await sentence {
            _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
        }
        #expect(refusal.contains(forgery.finding), "\(refusal)")
        #expect(!FileManager.default.fileExists(atPath: target.url.path))
    }

    @Test("What a restore refuses a check reports", arguments: forgeries)
    func forgedStore(_ forgery: Forgery) async throws {
        let home = try await Home(data)
        try await home.save("a")
        try await home.store.close()
        #expect(try check(data) == [])
        try await forge(forgery.sql, in: data.url)
        let found = try check(data)
        #expect(found.contains { $0.contains(forgery.finding) }, "\(found)")
    }

    @Test("A store whose numbers nobody gave out is not served, and the number is named")
    func forgedNumbers() async throws {
        for forgery in Self.forgeries.prefix(3) {
            let home = try await Home(data)
            try await home.save("a")
            try await home.store.close()
            try await forge(forgery.sql, in: data.url)
            let refusal = await sentence { _ = try data.openStore(for: .serving) }
            #expect(refusal.contains(forgery.finding), "\(refusal)")
            try FileManager.default.removeItem(at: data.url)
        }
    }

    @Test(
        "A backup in which a name is a link is refused: it would lead out of the backup",
        arguments: ["tidebell.json", "assets", "manifest.json"])
    func links(name: String) async throws {
        try await makeCloud()
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        let location = backup.appendingPathComponent(name)
        let elsewhere = root.appendingPathComponent("elsewhere")
        try FileManager.default.moveItem(at: location, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: location, withDestinationURL: elsewhere)
        let target = DataFolder(root.appendingPathComponent("restored"))
        let refusal = await sentence {
            _ = try await Restoring.run(backup, to: target, replacing: false, at: Self.moment)
        }
        #expect(refusal.contains("\(name) is a link"), "\(refusal)")
        #expect(!FileManager.default.fileExists(atPath: target.url.path))
        // The backup itself may stand wherever a link leads to.
        try FileManager.default.removeItem(at: location)
        try FileManager.default.moveItem(at: elsewhere, to: location)
        let link = root.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: backup)
        _ = try await Restoring.run(link, to: target, replacing: false, at: Self.moment)
        #expect(try await names(in: target) == ["a", "b"])
    }

    @Test(
        "A manifest that names what no backup holds is refused",
        arguments: [
            "tidebell.sqlite-wal", "tidebell.sqlite-server", ".restoring.json",
            "before-restore-1/x",
        ])
    func namesOfManifest(_ path: String) async throws {
        try await makeCloud()
        var manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        manifest.files.append(.init(path: path, bytes: 1, sha256: ""))
        try JSONEncoder().encode(manifest).write(to: backup.appendingPathComponent("manifest.json"))
        #expect(await restoreRefusal().hasSuffix("is damaged: its manifest.json names '\(path)'."))
    }

    @Test("A manifest of another format is refused, and nothing of it steers the terminal")
    func formatOfManifest() async throws {
        try await makeCloud()
        var manifest = try Backup.make(of: data, to: backup, at: Self.moment)
        for (format, words) in [(2, "knows only up to 1"), (0, "its manifest.json is")] {
            manifest.format = format
            try JSONEncoder().encode(manifest)
                .write(to: backup.appendingPathComponent("manifest.json"))
            #expect(await restoreRefusal().contains(words))
        }
        manifest.format = 1
        manifest.files.append(.init(path: "x\u{1B}[2J", bytes: 1, sha256: ""))
        try JSONEncoder().encode(manifest).write(to: backup.appendingPathComponent("manifest.json"))
        #expect(await restoreRefusal().contains("\u{1B}") == false)
    }

    @Test("A pipe, or a link to a device, instead of a file of a backup is refused")
    func noFile() async throws {
        try await makeCloud()
        _ = try Backup.make(of: data, to: backup, at: Self.moment)
        for name in ["tidebell.sqlite", "manifest.json"] {
            let location = backup.appendingPathComponent(name)
            let aside = backup.appendingPathComponent("aside")
            try FileManager.default.moveItem(at: location, to: aside)
            #expect(mkfifo(location.path, 0o600) == 0)
            #expect(await restoreRefusal().contains("backup"))
            try FileManager.default.removeItem(at: location)
            try FileManager.default.createSymbolicLink(
                atPath: location.path, withDestinationPath: "/dev/zero")
            #expect(await restoreRefusal().contains("backup"))
            try FileManager.default.removeItem(at: location)
            try FileManager.default.moveItem(at: aside, to: location)
        }
    }

    private func restoreRefusal() async -> String {
        await sentence {
            _ = try await Restoring.run(
                backup, to: DataFolder(root.appendingPathComponent("x")), replacing: false,
                at: Self.moment)
        }
    }
}
