// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellTestStores
import TidebellWire

@testable import TidebellServer
import Logging

@Suite("The root key")
final class RootKeyTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidebell-rootkey-\(UUID().uuidString)")
    private static let digits = String(repeating: "0123456789abcdef", count: 4)

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func open(
        _ source: RootKeySource = .dataFolder, acceptsLoss: Bool = false
    ) async throws -> String? {
        var configuration = ServerConfiguration(dataFolder: folder)
        configuration.stores = TestStores.factory
        configuration.logLevel = .critical
        configuration.rootKey = source
        configuration.acceptsLostKeys = acceptsLoss
        let server = try await TidebellServer(configuration)
        try await server.cloud.store.close()
        return server.cloud.webServices.cloud.rootKey?.rootKeyID
    }

    private var file: URL { folder.appendingPathComponent("root-key") }

    @Test("is made at the first start, for its owner only, and is the same at the next")
    func made() async throws {
        let first = try #require(try await open())
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        #expect(!first.contains(text.prefix(16)))
        #expect(try await open() == first)
    }

    @Test("that is missing or another one stops the start, unless what it opens is given up")
    func wrong() async throws {
        let first = try await open()
        let wrong = await #expect(throws: OperatorError.self) {
            try await self.open(.text(Self.digits))
        }
        #expect(wrong?.description.contains("not the root key") == true)
        try FileManager.default.removeItem(at: file)
        let missing = await #expect(throws: OperatorError.self) { try await self.open() }
        #expect(missing?.description.contains("is missing") == true)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let second = try await open(acceptsLoss: true)
        #expect(second != first)
        #expect(try await open() == second)
    }

    @Test("comes from a file, a variable or a command, as bytes, digits or Base64")
    func sources() async throws {
        let expected = try await open(.text(Self.digits))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let bytes = Data(try #require(Hex.bytes(Self.digits[...])))
        let other = folder.appendingPathComponent("elsewhere")
        for content in [bytes, Data((Self.digits + "\n").utf8), bytes.base64EncodedData()] {
            try content.write(to: other)
            #expect(try await open(.file(other)) == expected)
        }
        #expect(try await open(.command("echo \(Self.digits)")) == expected)
    }

    @Test("that is typed is none: as many characters as a key has bytes are refused")
    func typed() async throws {
        let text = "correct horse battery staples 42"
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let other = folder.appendingPathComponent("elsewhere")
        try Data(text.utf8).write(to: other)
        for source in [RootKeySource.text(text), .file(other), .command("printf '\(text)'")] {
            let error = await #expect(throws: OperatorError.self) { try await self.open(source) }
            let sentence = error?.description ?? ""
            #expect(sentence.contains("32 characters of text"), "\(sentence)")
            #expect(sentence.contains("openssl rand -hex 32"))
            #expect(!sentence.contains("horse"))
        }
    }

    @Test(
        "command that does not end, or prints without end, is ended and reported",
        arguments: [
            ("exec sleep 600", "did not end within 0 seconds"),
            ("echo \(digits); exec >&- sleep 600", "did not end within 0 seconds"),
            ("while :; do echo \(digits); done", "printed 4096 bytes or more"),
        ]
    )
    func hanging(command: String, sentence: String) {
        let limit: Duration = sentence.contains("more") ? .seconds(600) : .milliseconds(10)
        let error = #expect(throws: OperatorError.self) {
            try RootKeySource.output(of: command, within: limit)
        }
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    @Test("command may leave a process behind that keeps its output open: what it printed is read")
    func processLeftBehind() throws {
        let printed = try RootKeySource.output(of: "sleep 600 & echo $!", within: .seconds(30))
        let process = try #require(
            pid_t(String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .newlines)))
        #expect(kill(process, SIGKILL) == 0)
    }

    /// A thread that reads a command's output, and gets signals meanwhile.
    private enum Reader {
        case starting, reading(pthread_t), done
    }

    @Test("command's output is read as it is, though signals interrupt its reader")
    func interrupted() async throws {
        // Without SA_RESTART.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        #expect(sigaction(SIGUSR2, &action, nil) == 0)
        let reader = Mutex(Reader.starting)
        let outputs = AsyncStream.makeStream(of: Result<[[UInt8]], any Error>.self)
        Thread.detachNewThread {
            // Threads that run tasks block it, and so do those they make.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGUSR2)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            reader.withLock { $0 = .reading(pthread_self()) }
            // Often, since a signal has to come while it waits.
            let output = Result {
                try (0..<50).map { _ in
                    try RootKeySource.output(of: "echo key", within: .patience)
                }
            }
            reader.withLock { $0 = .done }
            outputs.continuation.yield(output)
        }
        Thread.detachNewThread {
            var isDone = false
            while !isDone {
                usleep(50)
                isDone = reader.withLock {
                    // Under the lock, so that the thread still is there.
                    if case .reading(let thread) = $0 { pthread_kill(thread, SIGUSR2) }
                    if case .done = $0 { return true }
                    return false
                }
            }
        }
        for await output in outputs.stream {
            #expect(try output.get() == Array(repeating: Array("key\n".utf8), count: 50))
            break
        }
    }

    @Test("opens the key of a zone for that zone only, also one it has opened before")
    func otherZone() throws {
        let key = TestAPI.rootKey
        let (first, second) = (ZoneKey(rawValue: 1), ZoneKey(rawValue: 2))
        let wrapped = try #require(try key.makeKey(of: first))
        let sealed = try key.seal([1, 2], ofRecord: "r", in: first, under: wrapped)
        #expect(try key.open(sealed, ofRecord: "r", in: first, under: wrapped) == [1, 2])
        #expect(throws: UnreadableZoneKey.self) {
            try key.seal([1, 2], ofRecord: "r", in: second, under: wrapped)
        }
        #expect(throws: UnreadableZoneKey.self) {
            try key.open(sealed, ofRecord: "r", in: second, under: wrapped)
        }
    }

    @Test(
        "that cannot be read is reported in one sentence, without the key",
        arguments: [
            RootKeySource.text("0123"), .command("exit 3"), .command("echo 0123"),
            .file(URL(fileURLWithPath: "/nonexistent/key")),
        ]
    )
    func unreadable(_ source: RootKeySource) async throws {
        let error = await #expect(throws: OperatorError.self) { try await self.open(source) }
        #expect(error?.description.contains("0123") == false)
        if case .file = source {
            #expect(
                error?.description
                    == "The root key file /nonexistent/key cannot be read: No such file or directory."
            )
        }
        // The folder is free again.
        _ = try await open(.text(Self.digits))
    }
}
