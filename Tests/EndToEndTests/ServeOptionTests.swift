// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses
import TidebellSQLite

/// What an operator tells `tidebell serve`.
@Suite(.hangs)
struct ServeOptionTests {
    private let program: TidebellProgram

    init() throws { program = try Built.tidebell() }

    @Test("The story that the log tells has no line that nobody can read")
    func debugLines() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve(arguments: ["--log-level", "debug"])
        server.signal(SIGTERM)
        var longest = ""
        for await line in server.lines where line.utf8.count > longest.utf8.count {
            longest = line
        }
        #expect(await server.waitUntilExit() == 0)
        #expect((1...1000).contains(longest.utf8.count), "\(longest)")
    }

    @Test("M4: a start names the SQLite in use if it has the WAL-reset defect, once")
    func walResetDefect() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve(arguments: ["--log-level", "info"])
        server.signal(SIGTERM)
        var lines: [String] = []
        for await line in server.lines where line.contains("has the WAL-reset defect") {
            lines.append(line)
        }
        #expect(await server.waitUntilExit() == 0)
        let version = SQLiteVersion.current
        #expect(lines.count == (version.hasWALResetDefect ? 1 : 0))
        #expect(lines.allSatisfy { $0.contains("sqlite=\(version)") })
    }

    @Test(
        "Fewer bytes than one request or answer needs are refused, with the least",
        arguments: [("--body-megabytes", 96), ("--body-megabytes-per-caller", 4)]
    )
    func tooFewBytes(option: String, least: Int) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let error = try await #require(throws: ProcessFailure.self) {
            _ = try await program.run(["serve", option, String(least - 1)])
        }
        #expect(
            error.description.contains("\(option) must be \(least) to 1000000, not \(least - 1).")
        )
    }
}
