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

    /// Waits until the server answers, or has ended.
    private func waitUntilItAnswers(_ server: ChildProcess) async {
        await eventually { LoopbackPort.answers(program.port) || kill(server.processID, 0) != 0 }
    }

    @Test(
        "H1: with few open files no acknowledged file has other bytes, and the server lives on",
        arguments: [64, 128]
    )
    func fewFiles(limit: Int) async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try serve("ulimit -n \(limit); exec \"$0\" \"$@\"")
        await waitUntilItAnswers(server)
        var uploads: [SilentConnection] = []
        for name in ["anna", "ben"] {
            let home = try await Household(program: program, user: "slow-\(name)")
            // Uploads that have begun and never end, and connections that ask for nothing.
            for _ in 0..<6 {
                // Some are refused, since there is no slot.
                if let upload = try? await home.beginUpload() { uploads.append(upload) }
            }
            for _ in 0..<40 { uploads.append(try SilentConnection(port: program.port)) }
        }
        var names: [String] = []
        var kept: [(home: Household, name: String, text: String)] = []
        for name in ["anna", "ben"] {
            let home = try await Household(program: program, user: name)
            for index in 0..<10 {
                let text = "\(name) \(index)"
                let saved = try await untilItWorks(server) { try await home.saveUnnamed(text) }
                names.append(saved)
                kept.append((home, saved, text))
                let read = try await untilItWorks(server) { try await home.text(of: saved) }
                #expect(read == text)
            }
        }
        // What came later did not replace any.
        for (home, name, text) in kept {
            let read = try await untilItWorks(server) { try await home.text(of: name) }
            #expect(read == text)
        }
        #expect(names.count == 20)
        #expect(Set(names).count == names.count)
        #expect(kill(server.processID, 0) == 0)
        withExtendedLifetime(uploads) {}
        server.signal(SIGTERM)
        let status = await server.waitUntilExit()
        #expect(status == 0)
    }

    /// Tries until it works, as clients do that are asked to come again, or until the server
    /// has ended.
    private func untilItWorks<Value>(
        _ server: ChildProcess, _ body: () async throws -> Value
    ) async throws -> Value {
        var value: Value?
        await eventually {
            value = try? await body()
            return value != nil || kill(server.processID, 0) != 0
        }
        return try #require(value)
    }

    @Test("W-5: a log that nobody reads any more holds up neither requests nor SIGTERM")
    func unreadLog() async throws {
        let pipe = program.dataFolder.path + ".pipe"
        defer {
            for path in [program.dataFolder.path, pipe] {
                try? FileManager.default.removeItem(atPath: path)
            }
        }
        #expect(mkfifo(pipe, 0o600) == 0)
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        // One page, the least that Linux gives.
        #expect(fcntl(reader, 1031 /* F_SETPIPE_SZ */, 4096) == 4096)
        let server = try serve("exec \"$0\" \"$@\" --log-level debug > '\(pipe)' 2>&1")
        await waitUntilItAnswers(server)
        let home = try await Household(program: program, user: "anna")
        try await home.prepare(zone: "Feed")
        for _ in 0..<100 { _ = try await home.everything() }
        server.signal(SIGTERM)
        let status = await server.waitUntilExit()
        #expect(status == 0)
        // It is full: the server wrote as much as fits.
        var unread: Int32 = 0
        #expect(ioctl(reader, UInt(FIONREAD), &unread) == 0 && unread > 2048)
    }

    @Test("W-5: closed standard files are nobody else's: what is printed goes nowhere")
    func closedFiles() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try serve("exec \"$0\" \"$@\" <&- >&- 2>&-")
        await waitUntilItAnswers(server)
        let files = try (0...2).map { number in
            try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(server.processID)/fd/\(number)")
        }
        #expect(files == ["/dev/null", "/dev/null", "/dev/null"])
        server.signal(SIGTERM)
        let status = await server.waitUntilExit()
        #expect(status == 0)
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
        await waitUntilItAnswers(shell)
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

    @Test("SIGTERM ends the server, whatever is connected")
    func termination() async throws {
        defer { try? FileManager.default.removeItem(at: program.dataFolder) }
        let server = try await program.serve()
        let home = try await Household(program: program, user: "anna")
        let upload = try await home.beginUpload()
        let reader = try await home.beginDownloadAndStop(bytes: 16 << 20)
        let idle = try SilentConnection(port: program.port)
        let stream = try await home.openStream()
        server.signal(SIGTERM)
        let status = await server.waitUntilExit()
        #expect(status == 0)
        withExtendedLifetime([upload, reader, idle, stream]) {}
    }
}
