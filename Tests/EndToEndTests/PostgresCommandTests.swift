// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// What commands say of a cloud whose records are in PostgreSQL.
@Suite("Commands on PostgreSQL", .hangs)
struct PostgresCommandTests {
    /// Of a database that is not there: which one it is, is printed before it is asked.
    private static let address = "host=/nowhere dbname=cloud user=app password=s3cret"
    private static let place = "In PostgreSQL (host /nowhere, database cloud, user app):"

    private func lines(
        _ arguments: [String], environment: [String: String]
    ) async throws -> [String] {
        let child = try ChildProcess(
            try Built.tidebell().executable, arguments, environment: environment,
            mergesErrors: true)
        var lines: [String] = []
        for await line in child.lines { lines.append(line) }
        #expect(await child.waitUntilExit() == 1)
        return lines
    }

    @Test(
        "A command names the database that its own words do not, without its password",
        arguments: [
            ["usage"], ["user", "list"], ["user", "add", "anna"],
            ["push", "explain"],
        ])
    func unnamed(command: [String]) async throws {
        let lines = try await lines(command, environment: ["TIDEBELL_STORE": Self.address])
        #expect(lines.first == Self.place)
        #expect(lines.count == 2 && !lines.joined().contains("s3cret"), "\(lines)")
    }

    @Test("A command does not name the database that its own words do")
    func named() async throws {
        let lines = try await lines(["user", "list", "--store", Self.address], environment: [:])
        #expect(lines.count == 1 && lines.first?.hasPrefix("Error: ") == true, "\(lines)")
        #expect(!lines.joined().contains("s3cret"))
    }
}
