// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import TidebellPostgresClient
import TidebellProcesses

/// What processes took of the machine so far, as the system counts it.
struct ResourceUse {
    /// Of the server.
    var server = 0.0
    /// Of PostgreSQL and all its processes.
    var postgres = 0.0
    /// Bytes of the log that is written ahead, in PostgreSQL; bytes that the server wrote to its disk otherwise.
    var writtenBytes = 0.0
    /// The server's memory that is in use.
    var residentBytes = 0.0

    static func - (later: ResourceUse, earlier: ResourceUse) -> ResourceUse {
        ResourceUse(
            server: later.server - earlier.server, postgres: later.postgres - earlier.postgres,
            writtenBytes: later.writtenBytes - earlier.writtenBytes,
            residentBytes: later.residentBytes - earlier.residentBytes)
    }
}

/// A server whose use of the machine is measured, and its PostgreSQL where it has one.
struct MeasuredServer {
    /// A PostgreSQL that waits for its disk, which the one of tests does not.
    final class Database {
        let server: PostgresTestServer
        private let connection: PostgresConnection
        private let process: Int32

        init() throws {
            // It finds its script from a source file of a test's target, one folder deeper than this one.
            let source = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "ResourceUse/Database.swift")
            server = try PostgresTestServer(script: source.path)
            connection = try PostgresConnection(PostgresAddress(server.address()))
            for setting in [
                "fsync = on", "full_page_writes = on", "autovacuum = on", "max_wal_size = '4GB'",
            ] {
                try connection.execute("ALTER SYSTEM SET \(setting)")
            }
            try connection.rows("SELECT pg_reload_conf()") { _ in }
            let file = "\(server.folder)/data/postmaster.pid"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            process = text.split(separator: "\n").first.flatMap { Int32($0) } ?? 0
        }

        deinit { connection.close() }

        /// Bytes of the log so far.
        func logBytes() throws -> Double {
            var bytes: Int64 = 0
            try connection.rows("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint") {
                bytes = $0.int(0)
            }
            return Double(bytes)
        }

        /// Seconds of processors that it took.
        var seconds: Double {
            let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return all.compactMap { Int32($0) }.compactMap(ProcessStatus.init)
                .filter { $0.parent == process || $0.process == process }
                .map(\.seconds).reduce(0, +)
        }
    }

    let bench: BenchServer
    let database: Database?

    func use() throws -> ResourceUse {
        var use = ResourceUse()
        let process = bench.process.processID
        use.server = ProcessStatus(process)?.seconds ?? 0
        use.residentBytes = Double(bench.residentBytes)
        if let database {
            use.postgres = database.seconds
            use.writtenBytes = try database.logBytes()
        } else {
            let io = try String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)
            let line = io.split(separator: "\n").first { $0.hasPrefix("write_bytes: ") }
            use.writtenBytes = line.flatMap { Double($0.dropFirst(13)) } ?? 0
        }
        return use
    }
}

/// A line of `/proc/PID/stat`.
private struct ProcessStatus {
    var process: Int32
    var parent: Int32
    var seconds: Double

    init?(_ process: Int32) {
        guard
            let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        // The state is the first of these, which the manual counts as the third.
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let parent = Int32(fields[1]),
            let user = Double(fields[11]), let system = Double(fields[12])
        else { return nil }
        self.process = process
        self.parent = parent
        seconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
