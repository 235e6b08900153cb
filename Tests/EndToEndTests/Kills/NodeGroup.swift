// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// Three nodes on one PostgreSQL database, behind HAProxy with the configuration that operators are shown.
struct NodeGroup: Sendable {
    /// What happens to a node.
    enum Fault: CaseIterable {
        /// It is killed, and started again.
        case kill
        /// It is stopped as an operator stops it, and started again.
        case stop
        /// It stands still for a while, and goes on.
        case freeze
        /// All connections to the database are cut, of all nodes.
        case cut
        /// The primary of the database is killed, and a standby takes its place.
        case failover
    }

    /// The faults that can happen here: the database has standbys where `Scripts/with-patroni` gave it.
    static var faults: [Fault] { Fault.allCases.filter { hasStandbys || $0 != .failover } }
    private static let hasStandbys =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_CLUSTER"] != nil

    /// The address of the database; nil where the tests have none (`Scripts/with-postgres`).
    static let store = ProcessInfo.processInfo.environment["TIDEBELL_STORE"]
    /// The names of the nodes, with their addresses in the example.
    private static let nodes = [
        "a": "192.0.2.11:8642", "b": "192.0.2.12:8642", "c": "192.0.2.13:8642",
    ]
    static let names = nodes.keys.sorted()

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    /// The cloud as its clients and commands see it: the port is HAProxy's.
    let cloud: TidebellProgram
    private let programs: [String: TidebellProgram]
    private var servers: [String: ChildProcess]
    private let proxy: ChildProcess

    private init(
        _ cloud: TidebellProgram, _ programs: [String: TidebellProgram],
        _ servers: [String: ChildProcess], _ proxy: ChildProcess
    ) {
        self.cloud = cloud
        self.programs = programs
        self.servers = servers
        self.proxy = proxy
    }

    /// Starts all of them.
    static func start() async throws -> NodeGroup {
        let cloud = try Built.tidebell()
        var programs: [String: TidebellProgram] = [:]
        var servers: [String: ChildProcess] = [:]
        for name in names {
            var program = cloud
            program.port = try LoopbackPort.free()
            programs[name] = program
            servers[name] = try await serve(program, as: name)
        }
        let proxy = try await startProxy(cloud, for: programs.mapValues(\.port))
        return NodeGroup(cloud, programs, servers, proxy)
    }

    /// Starts HAProxy as operators are shown; its port and its folder are those of `cloud`.
    ///
    /// - Parameter ports: Those of the nodes, by name.
    static func startProxy(
        _ cloud: TidebellProgram, for ports: [String: Int]
    ) async throws -> ChildProcess {
        var configuration = try String(
            contentsOf: root.appendingPathComponent("Examples/Proxies/haproxy.cfg"),
            encoding: .utf8)
        func replace(_ text: String, by other: String) throws {
            try #require(configuration.contains(text))
            configuration = configuration.replacingOccurrences(of: text, with: other)
        }
        try replace(
            "bind :443 ssl crt /etc/ssl/cloud.example.pem", by: "bind 127.0.0.1:\(cloud.port)")
        for (name, address) in nodes {
            try replace(address, by: "127.0.0.1:\(try #require(ports[name]))")
        }
        try FileManager.default.createDirectory(
            at: cloud.dataFolder, withIntermediateDirectories: true)
        let file = cloud.dataFolder.appendingPathComponent("haproxy.cfg")
        try configuration.write(to: file, atomically: true, encoding: .utf8)
        let proxy = try ChildProcess(
            URL(fileURLWithPath: "/usr/sbin/haproxy"), ["-db", "-f", file.path], mergesErrors: true)
        await eventually { LoopbackPort.answers(cloud.port) || kill(proxy.processID, 0) != 0 }
        try #require(LoopbackPort.answers(cloud.port), "HAProxy did not start")
        return proxy
    }

    private static func serve(
        _ program: TidebellProgram, as name: String
    ) async throws -> ChildProcess {
        try await program.serve(
            arguments: ["--node-name=\(name)", "--trusted-proxy=127.0.0.1"]
                + (hasStandbys ? ["--lossless-failover"] : []))
    }

    /// Has a node fail; returns the nodes after it, which all run.
    func failing(_ fault: Fault, of name: String, for time: Duration) async throws -> NodeGroup {
        var after = self
        guard let server = servers[name], let program = programs[name] else { return self }
        switch fault {
        case .kill:
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            after.servers[name] = try await Self.serve(program, as: name)
        case .stop:
            server.signal(SIGTERM)
            #expect(await server.waitUntilExit() == 0)
            after.servers[name] = try await Self.serve(program, as: name)
        case .freeze:
            server.signal(SIGSTOP)
            try await Task.sleep(for: time)
            server.signal(SIGCONT)
        case .cut:
            try await Self.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname = current_database()
                """)
        case .failover:
            let failing = try ChildProcess(
                Self.root.appendingPathComponent("Scripts/with-patroni"), ["--fail-primary"],
                mergesErrors: true)
            var said: [String] = []
            for await line in failing.lines { said.append(line) }
            #expect(await failing.waitUntilExit() == 0, "\(said.joined(separator: "\n"))")
            for (name, server) in servers {
                #expect(kill(server.processID, 0) == 0, "node \(name) has ended")
            }
        }
        return after
    }

    /// Puts the store into another life under them, as a restored backup does: all end by themselves, as failed, so that
    /// whoever looks after them starts them again.
    func endWithLife() async throws {
        proxy.signal(SIGTERM)
        _ = await proxy.waitUntilExit()
        try await Self.run("UPDATE store SET incarnation = incarnation + 1")
        for (name, server) in servers {
            #expect(await server.waitUntilExit() == 1, "node \(name)")
        }
        try? FileManager.default.removeItem(at: cloud.dataFolder)
    }

    /// Runs a statement in the database.
    private static func run(_ sql: String) async throws {
        let psql = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"), ["psql", "-qAt", store ?? "", "-c", sql],
            mergesErrors: true)
        #expect(await psql.waitUntilExit() == 0)
    }
}
