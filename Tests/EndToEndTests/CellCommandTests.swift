// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import PostgresTestServer
import TestSupport
import Testing
import TidebellProcesses

/// `tidebell cell`, and a server in cells.
@Suite("Commands for cells", .hangs)
struct CellCommandTests {
    /// The cloud of a new database.
    private func cloud() async throws -> TidebellProgram {
        var program = try Built.tidebell()
        program.environment["TIDEBELL_STORE"] = try await database()
        return program
    }

    /// The address of a new database, or of a copy of one.
    private func database(copying template: String = "template0") async throws -> String {
        let server = try PostgresTestServer.shared.get()
        let name = server.makeDatabaseName()
        let psql = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "psql", "-qAt", server.address(), "-c",
                "CREATE DATABASE \(name) TEMPLATE \(template)",
            ],
            mergesErrors: true)
        try #require(await psql.waitUntilExit() == 0)
        return server.address(database: name)
    }

    /// What a command says that fails.
    private func refusal(_ arguments: [String], by cloud: TidebellProgram) async throws -> String {
        do {
            return try await cloud.run(arguments).joined(separator: "\n")
        } catch let failure as ProcessFailure {
            return "\(failure)"
        }
    }

    private func places(_ cloud: TidebellProgram) async throws -> [String: String] {
        var places: [String: String] = [:]
        for line in try await cloud.run(["cell", "list"]) {
            let parts = line.split(separator: "\t").map(String.init)
            if parts.count > 3 { places[parts[1]] = parts[3].components(separatedBy: ",")[0] }
        }
        return places
    }

    @Test("A cloud gets a cell, keeps what is new there, and moves it while a server runs")
    func spread() async throws {
        let cloud = try await cloud()
        defer { try? FileManager.default.removeItem(at: cloud.dataFolder) }
        #expect(try await cloud.run(["cell", "list"]).joined().contains("is in one database"))
        let east = try await database()
        let added = try await cloud.run(["cell", "add", "east", east])
        #expect(added.joined().hasPrefix("Added cell 'east'."))
        _ = try await cloud.run(["cell", "change", "directory", "--no-takes-new"])
        let server = try await cloud.serve()
        #expect(
            try await refusal(["cell", "add", "west", try await database()], by: cloud).contains(
                "A server is running"))
        let database = try await Household(program: cloud, user: "anna").database().1
        func save(_ name: String) async throws {
            try await database.save(
                CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name)))
        }
        try await save("a")
        #expect(try await places(cloud) == ["directory": "0 databases", "east": "1 database"])
        let moved = try await cloud.run(["cell", "move", "directory", "--user", "anna"])
        #expect(moved.joined().contains("to cell 'directory'"), "\(moved)")
        #expect(try await places(cloud) == ["directory": "1 database", "east": "0 databases"])
        try await save("b")
        for name in ["a", "b"] {
            _ = try await database.record(for: CKRecord.ID(recordName: name))
        }
        #expect(
            try await cloud.run(["cell", "move", "directory", "--user", "anna"]).joined()
                .contains("in cell 'directory' already"))
        #expect(
            try await refusal(["cell", "move", "north", "--user", "anna"], by: cloud)
                .contains("Error: There is no cell named 'north'."))
        #expect(
            try await cloud.run(["cell", "move", "--cancel", "--user", "anna"]).joined()
                .contains("no move of it has begun"))
        #expect(
            try await refusal(["cell", "move", "--cancel", "east", "--user", "anna"], by: cloud)
                .contains("A move that is given up needs no cell"))
        #expect(
            try await refusal(["cell", "move", "--user", "anna"], by: cloud)
                .contains("Name the cell"))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test("A cell that is somewhere else is found there, once no server runs")
    func address() async throws {
        let cloud = try await cloud()
        defer { try? FileManager.default.removeItem(at: cloud.dataFolder) }
        let east = try await database()
        _ = try await cloud.run(["cell", "add", "east", east])
        _ = try await cloud.run(["cell", "change", "directory", "--no-takes-new"])
        var server = try await cloud.serve()
        let household = try await Household(program: cloud, user: "anna")
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "a"))
        try await household.database().1.save(note)
        #expect(
            try await refusal(["cell", "change", "east", "--address", east], by: cloud)
                .contains("A server is running"))
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        let name = try #require(east.firstMatch(of: /dbname=(\w+)/)?.1)
        let copy = try await database(copying: String(name))
        let changed = try await cloud.run(["cell", "change", "east", "--address", copy])
        #expect(changed.joined().contains("is at its new address"))
        // Nothing is looked for in the old place any more.
        let psql = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["psql", "-qAt", copy, "-c", "DROP DATABASE \(name)"], mergesErrors: true)
        try #require(await psql.waitUntilExit() == 0)
        server = try await cloud.serve()
        _ = try await household.database().1.record(for: note.recordID)
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    @Test(
        "A cell is refused with a password, a name that is taken, and a database that is not empty")
    func refusals() async throws {
        let cloud = try await cloud()
        defer { try? FileManager.default.removeItem(at: cloud.dataFolder) }
        let east = try await database()
        _ = try await cloud.run(["cell", "add", "east", east])
        #expect(
            try await refusal(["cell", "add", "east", try await database()], by: cloud)
                .contains("There is a cell named 'east' already"))
        #expect(
            try await refusal(["cell", "add", "west", east], by: cloud).contains("is not empty"))
        let secret = try await refusal(
            ["cell", "add", "west", "postgres://app:s3cret@db/cloud"], by: cloud)
        #expect(secret.contains("leave the password out"))
        #expect(
            try await refusal(["cell", "move", "north", "--user", "anna"], by: cloud)
                .contains("There is nothing to move"))
        #expect(
            try await refusal(["cell", "change", "north", "--takes-new"], by: cloud)
                .contains("There is no cell named 'north'"))
        _ = try await cloud.run(["cell", "change", "directory", "--no-takes-new"])
        #expect(
            try await refusal(["cell", "change", "east", "--no-takes-new"], by: cloud)
                .contains(
                    "Cell 'east' is the only one to which new accounts, users and containers come"))
        #expect(
            try await refusal(["cell", "change", "east"], by: cloud)
                .contains("Say --takes-new, --no-takes-new or --address"))
        #expect(
            try await refusal(
                ["cell", "change", "directory", "--address", east], by: cloud
            ).contains("start them with another one"))
        #expect(
            try await refusal(
                ["cell", "change", "east", "--address", try await database()], by: cloud
            ).contains("is not cell 'east' of this cloud"))
        // A server is started with the directory's address.
        var other = cloud
        other.environment["TIDEBELL_STORE"] = east
        #expect(try await refusal(["usage"], by: other).contains("is cell 1 of a cloud"))
    }
}
