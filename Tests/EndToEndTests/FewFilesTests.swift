// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// A server as an operator runs it where the system is short of something.
@Suite(.hangs)
struct FewFilesTests {
    private let program: TidebellProgram

    init() throws { program = try Built.tidebell() }

    /// Starts the server by a line of the shell; `$0` and what follows are the command.
    private func serve(_ line: String) throws -> ChildProcess {
        try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c", line, program.executable.path, "serve", "--port", String(program.port),
                "--data", program.dataFolder.path,
            ],
            mergesErrors: true
        )
    }

    private func waitUntilItAnswers() async throws {
        for _ in 0..<1500 where !LoopbackPort.answers(program.port) {
            // NB: another process starts; nothing here tells when it has.
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test(
        "H1: with few open files no acknowledged file has other bytes, and the server lives on",
        arguments: [64, 128]
    )
    func fewFiles(limit: Int) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try serve("ulimit -n \(limit); exec \"$0\" \"$@\"")
        try await waitUntilItAnswers()
        var uploads: [SilentConnection] = []
        for name in ["anna", "ben"] {
            let home = try await Household(program: program, user: "slow-\(name)")
            // Uploads that have begun and never end, and connections that ask for nothing.
            for _ in 0..<6 {
                // Some are told that there is no place.
                if let upload = try? await home.beginUpload() { uploads.append(upload) }
            }
            for _ in 0..<40 { uploads.append(try SilentConnection(port: program.port)) }
        }
        var names: [String] = []
        for name in ["anna", "ben"] {
            let home = try await Household(program: program, user: name)
            for index in 0..<10 {
                let text = "\(name) \(index)"
                let saved = try await Self.eventually { try await home.saveUnnamed(text) }
                names.append(saved)
                let kept = try await Self.eventually { try await home.text(of: saved) }
                #expect(kept == text)
            }
        }
        #expect(names.count == 20)
        #expect(Set(names).count == names.count)
        #expect(kill(server.processID, 0) == 0)
        withExtendedLifetime(uploads) {}
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
    }

    /// Tries until it works, as clients do that are told to come again.
    private static func eventually<Value>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<600 {
            if let value = try? await body() { return value }
            // NB: places become free by the time of another process.
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await body()
    }

    @Test(
        "W-5: output that is closed or full neither ends nor hangs the server",
        arguments: ["| head -n 1", "> /dev/full", ">&-"]
    )
    func output(redirection: String) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let pidFile = program.dataFolder.path + ".pid"
        defer { try? FileManager.default.removeItem(atPath: pidFile) }
        let shell = try serve(
            "{ echo $$ > \(pidFile).sh; sh -c 'echo $$ > \(pidFile); exec \"$0\" \"$@\"' "
                + "\"$0\" \"$@\"; echo \"status $?\" >&2; } \(redirection)"
        )
        try await waitUntilItAnswers()
        #expect(LoopbackPort.answers(program.port))
        _ = try await Household(program: program, user: "anna")
        let text = try String(contentsOfFile: pidFile, encoding: .utf8)
        let pid = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(pid, SIGTERM) == 0)
        var lines: [String] = []
        for await line in shell.lines { lines.append(line) }
        #expect(lines.last == "status 0")
        try? FileManager.default.removeItem(atPath: pidFile + ".sh")
    }

    @Test("SIGTERM ends the server in its drain time, whatever is connected")
    func termination() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        let upload = try await home.beginUpload()
        let reader = try await home.beginDownloadAndStop(bytes: 32 << 20)
        let idle = try SilentConnection(port: program.port)
        let stream = try await home.openStream()
        let begin = ContinuousClock.now
        server.signal(SIGTERM)
        #expect(await server.waitUntilExit() == 0)
        #expect(ContinuousClock.now - begin < .seconds(12))
        withExtendedLifetime([upload, reader, idle, stream]) {}
    }
}
