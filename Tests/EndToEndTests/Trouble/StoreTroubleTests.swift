// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// A server whose store another process holds, or whose disk fails, as its clients and its operator see it.
@Suite(.hangs)
struct StoreTroubleTests {
    private static let isHeld = TroubleClient.Refusal(
        reason: "another program is using the server's store; nothing was stored, try again"
    )
    private static let fails = TroubleClient.Refusal(
        reason: "the server's disk fails; nothing was stored, try again later"
    )

    private let program: TidebellProgram

    init() throws { program = try Built.tidebell() }

    /// A server with a user who has a record.
    private func start() async throws -> (ChildProcess, TroubleClient) {
        let server = try await program.serve()
        let client = try await TroubleClient(program: program)
        try #require(try await client.save("old") == 200)
        return (server, client)
    }

    /// Ends a server; returns what its log has of the store, without the line about the SQLite in use,
    /// which not every machine has.
    private func log(of server: ChildProcess) async -> [String] {
        server.signal(SIGTERM)
        var lines: [String] = []
        for await line in server.lines
        where [" notice ", " warning ", " error ", " critical "].contains(where: line.contains)
            && !line.contains("WAL-reset defect")
        {
            lines.append(line)
        }
        #expect(await server.waitUntilExit() == 0)
        return lines
    }

    /// Expects one line of the trouble, and at most one that it is over, of the store and of the
    /// pipeline, which is held up as well.
    private func expectOneTrouble(_ log: [String]) {
        let begun = ["the store does not work", "push pipeline failed"].map { text in
            log.count { $0.contains(text) }
        }
        #expect(begun[0] == 1 && begun[1] <= 1, "\(log)")
        let over = log.count { $0.contains("works again") }
        #expect(over <= 2 && log.count == begun[0] + begun[1] + over, "\(log)")
    }

    @Test("M3: while another process holds the store writers are asked to try again, readers go on")
    func writersAreHeldUp() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let (server, client) = try await start()
        let lock = try await StoreLock(program.dataFolder)
        try await client.expectRefusals(Self.isHeld)
        #expect(try await client.status("/health") == 200)
        #expect(try await client.records(["old", "new"]) == ["old"])
        try await lock.release()
        try await eventually { try await client.status("/ready") == 200 }
        try await client.expectSuccess()
        #expect(try await client.records(["old", "new"]) == ["old", "new"])
        let log = await log(of: server)
        expectOneTrouble(log)
        #expect(log.first?.contains("cause=isLocked") == true)
    }

    @Test(
        "M3: while another process keeps all from reading, /health fails and readers get that error"
    )
    func readersAreHeldUp() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let (server, client) = try await start()
        do {
            let lock = try ReadLock(program.dataFolder)
            async let health: Void = client.expectSoon(Self.isHeld, "/health")
            async let list: Void = client.expect(Self.isHeld, "/database/C/private/zones/list")
            _ = try await (health, list)
            withExtendedLifetime(lock) {}
        }
        // What was found out last answers for a moment.
        try await eventually { try await client.status("/health") == 200 }
        try await client.expectSuccess()
        let log = await log(of: server)
        expectOneTrouble(log)
        #expect(log.first?.contains("cause=isLocked") == true)
    }

    @Test("M3: while the disk fails writers are asked to try again, and the log has when it ends")
    func diskFails() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let (server, client) = try await start()
        let walFile = program.dataFolder.appendingPathComponent("tidebell.sqlite-wal").path
        let size = try Data(contentsOf: URL(fileURLWithPath: walFile)).count
        try await FileSizeLimit.set(size, of: server)
        for _ in 0..<3 { try await client.expectRefusals(Self.fails) }
        #expect(try await client.status("/health") == 200)
        #expect(try await client.records(["old", "new"]) == ["old"])
        try await FileSizeLimit.set(nil, of: server)
        try await client.expectSuccess()
        #expect(try await client.records(["old", "new"]) == ["old", "new"])
        // It is over when nothing failed for a while, in which it is looked at again.
        try await eventually { try await client.status("/ready") == 200 }
        let log = await log(of: server)
        #expect(log.count == 2, "\(log)")
        #expect(log.first?.contains("cause=diskFails") == true)
        #expect(log.last?.contains("the store works again") == true)
    }
}
