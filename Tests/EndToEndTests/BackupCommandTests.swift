// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellProcesses
import TidebellScheduling
import TidebellServer

@testable import TidebellSQL
@testable import TidebellSQLite

/// What an operator does about a cloud that may be lost, or does by mistake.
@Suite("Backups and mistakes on the command line", .hangs)
struct BackupCommandTests {
    private let program: TidebellProgram
    private let backup: URL

    init() throws {
        program = try Built.tidebell()
        backup = program.dataFolder.appendingPathExtension("backup")
    }

    private func clean() {
        for folder in [program.dataFolder, backup] {
            // Not every test makes both.
            try? FileManager.default.removeItem(at: folder)
        }
    }

    private func failure(_ arguments: [String]) async throws -> String {
        try await #require(throws: ProcessFailure.self) { _ = try await program.run(arguments) }
            .description
    }

    @Test("tidebell backup, check and restore: a device ends equal to what was restored")
    func roundTrip() async throws {
        defer { clean() }
        var server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        let (_, device) = try home.database()
        func save(_ name: String, _ value: Int) async throws {
            let record = CKRecord(
                recordType: "Entry",
                recordID: CKRecord.ID(recordName: name, zoneID: FetchedState.zoneID)
            )
            record["value"] = value
            _ = try await device.modifyRecords(
                saving: [record], deleting: [], savePolicy: .allKeys)
        }
        for number in 0..<10 { try await save("r\(number)", number) }
        let made = try await program.run(["backup", backup.path]).joined(separator: "\n")
        #expect(made.contains("10 records"))
        let checked = try await program.run(["check"]).joined(separator: "\n")
        #expect(checked.hasPrefix("No problem in"))
        for number in 5..<20 { try await save("r\(number)", 100 + number) }
        var state = FetchedState()
        try await state.fetch(from: device)
        #expect(state.values.count == 20)

        #expect(
            try await failure(["restore", backup.path, "--replace"]).contains("is in use by"))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        #expect(try await failure(["restore", backup.path]).contains("is not empty"))
        let restored = try await program.run(["restore", backup.path, "--replace"])
            .joined(separator: "\n")
        #expect(restored.contains("users who were disabled, removed or erased"))
        #expect(restored.contains("   rm -r \(program.dataFolder.path)/before-restore-"))
        #expect(restored.hasSuffix("   tidebell serve --data \(program.dataFolder.path)"))
        server = try await program.serve()

        try await save("later", 7)
        let expired = await #expect(throws: CKError.self) { try await state.fetch(from: device) }
        #expect(expired?.code == .changeTokenExpired)
        state = FetchedState()
        try await state.fetch(from: device)
        var expected = Dictionary(uniqueKeysWithValues: (0..<10).map { ("r\($0)", $0) })
        expected["later"] = 7
        #expect(state.values == expected)
        #expect(try await home.everything() == expected)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test(
        "W-18: where the log is removed under a server nothing acknowledged is lost, no command fooled",
        arguments: [["-wal"], ["-shm"], ["-wal", "-shm"]]
    )
    func removedLog(suffixes: [String]) async throws {
        defer { clean() }
        var server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        let (_, device) = try home.database()
        func save(_ name: String) async throws {
            let record = CKRecord(
                recordType: "Entry",
                recordID: CKRecord.ID(recordName: name, zoneID: FetchedState.zoneID)
            )
            record["value"] = 1
            _ = try await device.modifyRecords(
                saving: [record], deleting: [], savePolicy: .allKeys)
        }
        for number in 0..<20 { try await save("r\(number)") }
        let database = program.dataFolder.appendingPathComponent(SQLiteFactory.fileName).path
        for suffix in suffixes {
            try FileManager.default.removeItem(atPath: database + suffix)
        }
        // Not before the next write or look of the server.
        let refused = await #expect(throws: CKError.self) { try await save("late") }
        #expect(refused?.code == .serviceUnavailable || refused?.code == .requestRateLimited)
        for command in [["user", "add", "ben"], ["check"], ["backup", backup.path]] {
            let error = try await failure(command)
            #expect(error.contains("' was removed while the server, process "), "\(error)")
        }
        // What was acknowledged is there, however the server ends.
        server.signal(SIGKILL)
        _ = await server.waitUntilExit()
        server = try await program.serve()
        let expected = Dictionary(uniqueKeysWithValues: (0..<20).map { ("r\($0)", 1) })
        #expect(try await home.everything() == expected)
        try await save("after")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        #expect(try await program.run(["check"]).joined().hasPrefix("No problem in"))
    }

    @Test("H6: a log that is lost while no server runs is reported by the next start, and no other")
    func lostLog() async throws {
        defer { clean() }
        var server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        // Its end empties the log into the database, which is there without the log then.
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        server = try await program.serve()
        try await home.save()
        let (_, device) = try home.database()
        var state = FetchedState()
        try await state.fetch(from: device)
        server.signal(SIGKILL)
        _ = await server.waitUntilExit()
        let database = program.dataFolder.appendingPathComponent(SQLiteFactory.fileName).path
        try FileManager.default.removeItem(atPath: database + "-wal")
        var reports: [Int] = []
        for _ in 0..<2 {
            server = try await program.serve()
            if reports.isEmpty {
                let expired = await #expect(throws: CKError.self) {
                    try await state.fetch(from: device)
                }
                #expect(expired?.code == .changeTokenExpired)
                state = FetchedState()
            }
            try await state.fetch(from: device)
            server.signal(SIGTERM)
            let sentence =
                "the store lacks changes that it had before; devices fetch everything again"
            var count = 0
            for await line in server.lines where line.contains(sentence) { count += 1 }
            reports.append(count)
            #expect(await server.waitUntilExit() == 0)
        }
        #expect(reports == [1, 0])
    }

    @Test(
        "W-10: a command on a folder without a cloud makes nothing and names the folder",
        arguments: [
            ["user", "list"], ["user", "add", "me"], ["user", "token", "me"],
            ["api-token", "create"],
            ["admin-token", "create"], ["webhook", "list"], ["check"], ["backup", "/nowhere"],
        ]
    )
    func mistypedFolder(command: [String]) async throws {
        defer { clean() }
        let sentence = try await failure(command)
        #expect(sentence.contains("There is no cloud in \(program.dataFolder.path)"))
        #expect(!FileManager.default.fileExists(atPath: program.dataFolder.path))
    }

    @Test(
        "W-10: user add begins a cloud where told to, and prints that; serve then prints that an API token is missing"
    )
    func userFirst() async throws {
        defer { clean() }
        let added = try await program.run(["user", "add", "anna", "--new-cloud"]).joined(
            separator: "\n")
        #expect(
            added.contains("There was no cloud in \(program.dataFolder.path); a new one was begun.")
        )
        let again = try await program.run(["user", "add", "otto", "--new-cloud"]).joined(
            separator: "\n")
        #expect(!again.contains("a new one was begun"))
        #expect(try await program.run(["user", "list"]) == ["anna", "otto"])
        let server = try await program.serve()
        let line = await server.lines.first {
            $0.contains("no API token yet, which every program needs: tidebell api-token create")
        }
        #expect(line != nil)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("W-10: a command names the folder that its own words do not")
    func unnamedFolder() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        let folder = program.dataFolder.path
        for (options, expected) in [
            ([], ["In \(folder):", "anna"]), (["--data", folder], ["anna"]),
        ] {
            let child = try ChildProcess(
                program.executable, ["user", "list"] + options,
                environment: ["TIDEBELL_DATA": folder], mergesErrors: true
            )
            var lines: [String] = []
            for await line in child.lines { lines.append(line) }
            #expect(await child.waitUntilExit() == 0)
            #expect(lines == expected)
        }
    }

    /// How an operator names a root key that is not in the data folder.
    enum RootKeyPlace: CaseIterable { case file, command, variable }

    @Test(
        "The root key elsewhere: none is made, backup, restore and check report what they lack",
        arguments: RootKeyPlace.allCases)
    func rootKeyElsewhere(place: RootKeyPlace) async throws {
        let key = program.dataFolder.appendingPathExtension("key")
        defer {
            clean()
            try? FileManager.default.removeItem(at: key)
        }
        let digits = String(repeating: "0a", count: 32)
        try Data(digits.utf8).write(to: key)
        var keyed = program
        let option =
            switch place {
            case .file: ["--root-key-file", key.path]
            case .command: ["--root-key-command", "cat '\(key.path)'"]
            case .variable: [String]()
            }
        if place == .variable { keyed.environment["TIDEBELL_ROOT_KEY"] = digits }
        let server = try await keyed.serve(arguments: option)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        func hasOwnKey() -> Bool {
            let path = program.dataFolder.appendingPathComponent("root-key").path
            return FileManager.default.fileExists(atPath: path)
        }
        #expect(!hasOwnKey())
        // Without the key there is no start, and none is made.
        #expect(try await failure(["serve"]).contains("root-key is missing"))
        let made = try await program.run(["backup", backup.path]).joined(separator: "\n")
        #expect(made.contains("The root key is NOT in it"))
        let restored = try await program.run(["restore", backup.path, "--replace"])
        #expect(
            restored.last
                == "   tidebell serve --data \(program.dataFolder.path) --root-key-file FILE"
        )
        #expect(!hasOwnKey())
        for (program, option) in [(keyed, option), (program, ["--root-key-file", key.path])] {
            let checked = try await program.run(["check"] + option)
            #expect(checked.first?.hasPrefix("No problem in") == true, "\(checked)")
        }
    }

    @Test("A root key file that others may read is warned of at the start, with what to do")
    func openRootKeyFile() async throws {
        let key = program.dataFolder.appendingPathExtension("key")
        defer {
            clean()
            try? FileManager.default.removeItem(at: key)
        }
        try Data(String(repeating: "0a", count: 32).utf8).write(to: key)
        chmod(key.path, 0o644)
        let server = try await program.serve(arguments: ["--root-key-file", key.path])
        let warning = await server.lines.first { $0.contains("(mode 644)") }
        #expect(warning?.contains("chmod 600 \(key.path)") == true)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("A backup that finds no room names its own disk, not the cloud's")
    func noRoom() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        let child = try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", #"ulimit -f 64; trap "" XFSZ; exec "$0" backup "$1" --data "$2""#,
                program.executable.path, backup.path, program.dataFolder.path,
            ],
            mergesErrors: true
        )
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.waitUntilExit() == 1)
        #expect(lines.first?.hasPrefix("Error: The backup was not made: ") == true)
        #expect(lines.first?.contains(backup.path) == true)
        #expect(lines.first?.contains(program.dataFolder.path + "/") == false)
        #expect(!FileManager.default.fileExists(atPath: backup.path + ".unfinished"))
    }

    @Test("tidebell check --json prints JSON of a database that cannot be read")
    func unreadableDatabase() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        let file = try FileHandle(
            forUpdating: program.dataFolder.appendingPathComponent("tidebell.sqlite"))
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
        try file.close()
        let found = try await failure(["check", "--json"])
        let json = try #require(found.firstRange(of: "{")).lowerBound
        let report = try JSONSerialization.jsonObject(with: Data(found[json...].utf8))
        let problems = (report as? [String: Any])?["problems"] as? [[String: Any]]
        #expect(problems?.count == 1)
    }

    @Test("What a command proposes names the same data folder")
    func proposals() async throws {
        defer { clean() }
        _ = try await program.run(["user", "add", "anna", "--new-cloud"])
        let option = " --data \(program.dataFolder.path)"
        for (command, proposal) in [
            (["user", "sign-out", "anna", "--session", "abcdef"], "tidebell user sessions anna"),
            (["user", "erase", "otto"], "tidebell user list --removed"),
            (["webhook", "remove", "7"], "tidebell webhook list"),
        ] {
            #expect(try await failure(command).hasSuffix("see: " + proposal + option))
        }
    }

    @Test("tidebell --version prints one line")
    func version() async throws {
        let child = try ChildProcess(program.executable, ["--version"], mergesErrors: true)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.waitUntilExit() == 0)
        #expect(lines.count == 1)
        #expect(lines.first?.wholeMatch(of: /\d+\.\d+\.\d+.*/) != nil)
    }

    @Test("M6: tidebell check ends with 1 where there is damage, and names it, as JSON too")
    func damage() async throws {
        defer { clean() }
        let server = try await program.serve()
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        let orphan = program.dataFolder.appendingPathComponent("assets/kept/ab/abc")
        try FileManager.default.createDirectory(
            at: orphan.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data([1]).write(to: orphan)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: orphan.path)
        let warning = "the file assets/kept/ab/abc belongs to no record"
        let warned = try await program.run(["check"])
        #expect(warned.first?.hasPrefix("Warning: \(warning)") == true)
        #expect(warned.last?.hasPrefix("No damage and 1 warning in ") == true)
        try Data("no key".utf8).write(
            to: program.dataFolder.appendingPathComponent("root-key"))
        for arguments in [["check"], ["check", "--json"]] {
            let found = try await failure(arguments)
            #expect(found.contains("ended with 1"))
            #expect(found.contains(warning))
            #expect(found.contains("is not the root key of this cloud"))
        }
    }

    @Test("M6: tidebell check ends with 1 where a record is damaged, and names the record")
    func damagedRecord() async throws {
        defer { clean() }
        let server = try await program.serve()
        let name = try await Household(program: program, user: "anna").saveUnnamed("platypus")
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        #expect(try await program.run(["check"]).last?.hasPrefix("No problem in ") == true)
        let store = try DataFolder(program.dataFolder).openStore(
            for: .administering, time: .system, randomness: .system)
        try await store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run(
                "UPDATE record SET fields = x'7b7d' WHERE name = ?", name)
        }
        try await store.close()
        let found = try await failure(["check"])
        #expect(found.contains("ended with 1"))
        #expect(found.contains("/\(name): the fields are damaged"), "\(found)")
    }
}
