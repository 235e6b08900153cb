// SPDX-License-Identifier: Apache-2.0
package import Foundation
import Synchronization

/// The built `tidebell` program as an operator would run it.
package struct TidebellProgram: Sendable {
    /// The program.
    package var executable: URL
    /// The data folder of all commands.
    package var dataFolder: URL
    /// The port `serve` listens on.
    package var port: Int
    /// Variables that commands have beside those of this process.
    package var environment: [String: String] = [:]

    /// Creates a description; nothing runs yet.
    package init(executable: URL, dataFolder: URL, port: Int) {
        self.executable = executable
        self.dataFolder = dataFolder
        self.port = port
    }

    /// Where the server answers.
    package var address: String { "http://127.0.0.1:\(port)" }

    /// Starts the server; returns once it answers.
    ///
    /// Its clients may be as slow as the machine is busy, unless the arguments bound their time.
    package func serve(arguments: [String] = []) async throws -> ChildProcess {
        let times = Self.timeLimits.filter { limit in
            !arguments.contains { $0.hasPrefix("\(limit)=") }
        }
        let server = try ChildProcess(
            executable,
            ["serve", "--port", String(port), "--data", dataFolder.path]
                + times.flatMap { ["--limit", "\($0)=1h"] } + arguments,
            environment: environment, mergesErrors: true
        )
        try await waitUntilHealthy(server)
        return server
    }

    /// Runs a command to its end and returns its output.
    package func run(_ arguments: [String]) async throws -> [String] {
        let child = try ChildProcess(
            executable, arguments + ["--data", dataFolder.path], environment: environment,
            mergesErrors: true
        )
        var output: [String] = []
        for await line in child.lines { output.append(line) }
        let status = await child.waitUntilExit()
        guard status == 0 else {
            throw ProcessFailure(
                description: "tidebell \(arguments.joined(separator: " ")) ended with \(status): "
                    + output.joined(separator: "\n")
            )
        }
        return output
    }

    private func waitUntilHealthy(_ server: ChildProcess) async throws {
        for _ in 0..<Self.healthChecks {
            if LoopbackPort.answers(port) { return }
            if kill(server.processID, 0) != 0 { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ProcessFailure(description: "the server at \(address) did not start")
    }

    /// The limits that close the connections of slow clients.
    private static let timeLimits = ["idleTime", "strangersIdleTime", "bodyTime", "answerTime"]

    /// Ten milliseconds each: how long a start may take where the machine is busy. A server that ends is
    /// noticed at once.
    private static let healthChecks = 60_000
}

/// Why a program did not do what it was started for.
package struct ProcessFailure: Error, CustomStringConvertible {
    /// One sentence.
    package var description: String

    /// Creates a failure.
    package init(description: String) {
        self.description = description
    }
}

/// TCP ports on 127.0.0.1.
package enum LoopbackPort {
    /// Below the ports that the system gives to clients, which would take one between two starts of a
    /// server, and above those of services.
    private static let ports = 12_000..<32_000
    private static let tries = 1000
    /// What this process gave out: whoever got a port may not have bound it yet.
    private static let given = Mutex<Set<Int>>([])

    /// Returns a port that was free a moment ago, and that this process gave to nobody else.
    package static func free() throws -> Int {
        for _ in 0..<tries {
            let port = Int.random(in: ports)
            guard given.withLock({ $0.insert(port).inserted }) else { continue }
            let isFree = try withSocket { descriptor in
                var address = loopback(port: port)
                return withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    }
                }
            }
            if isFree { return port }
        }
        throw ProcessFailure(description: "no free port on 127.0.0.1")
    }

    /// Whether something accepts connections on the port.
    package static func answers(_ port: Int) -> Bool {
        let connected = try? withSocket { descriptor in
            var address = loopback(port: port)
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        return connected ?? false
    }

    private static func withSocket<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw ProcessFailure(description: "no socket to be had") }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        return address
    }
}

extension TidebellProgram {
    /// Runs a command that makes a token and returns the token: the value of the
    /// `export TIDEBELL_…_TOKEN=` line it prints.
    package func token(_ arguments: [String]) async throws -> String {
        let output = try await run(arguments)
        if let token = Self.token(in: output) { return token }
        throw ProcessFailure(
            description: "tidebell \(arguments.joined(separator: " ")) printed no token: "
                + output.joined(separator: "\n")
        )
    }

    /// Returns the token that a command has printed; nil for none.
    package static func token(in output: [String]) -> String? {
        for line in output {
            if let range = line.range(
                of: #"TIDEBELL_(API|WEB_AUTH|ADMIN)_TOKEN="#, options: .regularExpression)
            {
                return line[range.upperBound...].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }
}
