// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellProcesses

/// A PostgreSQL of this test process alone, in a temporary folder, on a unix socket there; it
/// ends and its folder goes when the process ends, however that happens
/// (`Scripts/postgres-for-tests`).
package final class PostgresTestServer: @unchecked Sendable {
    // Sendable: the process is only talked to under the lock.

    /// There is no server.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// What a server is told.
    package enum Command: String, Sendable {
        /// SIGKILL to the server and its children.
        case kill
        /// Stop, after ending all connections.
        case stop
        /// Start again.
        case start
        /// Stop, start as a standby of nobody, and promote it: the same database, on a later timeline.
        case promote
    }

    /// The server that tests share which do not stop it; started when first asked for.
    package static let shared = Result { try PostgresTestServer() }

    /// The folder of the socket.
    package let folder: String
    private let lock = NSLock()
    private let processID: Int32
    private var hasEnded = false
    private let input: Pipe
    private let output: Pipe
    private var lastDatabase = 0

    /// Starts a server, which takes a second or two.
    package init(script: String = #filePath) throws {
        input = Pipe()
        output = Pipe()
        let executable = URL(filePath: script).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Scripts/postgres-for-tests")
        processID = try Spawn(
            executable: executable.path, arguments: [],
            environment: ProcessInfo.processInfo.environment,
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, mergesErrors: false
        ).start()
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        folder = try Self.readLine(output.fileHandleForReading)
    }

    deinit { end() }

    /// Stops the server and removes its folder; returns once that is done.
    package func end() {
        lock.withLock {
            guard !hasEnded else { return }
            hasEnded = true
            try? input.fileHandleForWriting.close()
            while waitpid(processID, nil, 0) == -1, errno == EINTR {}
        }
    }

    /// Does something to the server; returns once it is done.
    package func tell(_ command: Command) throws {
        try lock.withLock {
            try input.fileHandleForWriting.write(contentsOf: Data("\(command.rawValue)\n".utf8))
            _ = try Self.readLine(output.fileHandleForReading)
        }
    }

    /// The address of a database.
    package func address(database: String = "postgres") -> String {
        "host=\(folder) user=tidebell dbname=\(database)"
    }

    /// Returns a name that no database of the server has.
    package func makeDatabaseName() -> String {
        lock.withLock {
            lastDatabase += 1
            return "test\(lastDatabase)"
        }
    }

    private static func readLine(_ handle: FileHandle) throws -> String {
        var line: [UInt8] = []
        while let byte = try handle.read(upToCount: 1)?.first {
            guard byte != UInt8(ascii: "\n") else { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw Failure(description: "PostgreSQL did not start: see the script's complaint above")
    }
}
