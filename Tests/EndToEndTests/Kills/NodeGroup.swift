// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
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
        /// It stands still for a few seconds, and goes on.
        case freeze
        /// It stands still until others have what it had a lease of, and goes on.
        case standstill
        /// All connections to the database and to Apple's push service are cut, of all nodes.
        case cut
        /// The primary of the database is killed, and a standby takes its place.
        case failover
        /// The same, and meanwhile a node is killed and started again.
        case failoverWithKill
        /// Of the primary only Patroni is killed, so that it goes on when a standby takes its place.
        case split
        /// The primary stands still until a standby has taken its place, and goes on.
        case frozenPrimary
        /// What the users own is moved to the other cell; the node is killed meanwhile, and every second time the
        /// move too, which goes on when it is run again.
        case move

        /// How it is brought about by `Scripts/with-patroni`; nil where it is not.
        var option: String? {
            switch self {
            case .failover, .failoverWithKill: "--fail-primary"
            case .split: "--kill-patroni"
            case .frozenPrimary: "--freeze-primary"
            case .kill, .stop, .freeze, .standstill, .cut, .move: nil
            }
        }

        /// Whether it takes about half a minute or more.
        var isLong: Bool { option != nil || self == .standstill }
    }

    /// The faults that can happen here: the database has standbys where `Scripts/with-patroni` gave it.
    private static var faults: [Fault] {
        Fault.allCases.filter { fault in
            switch fault {
            case .standstill: standstill != nil
            case .move: cell != nil
            default: hasStandbys || fault.option == nil
            }
        }
    }
    private static let hasStandbys =
        ProcessInfo.processInfo.environment["TIDEBELL_TEST_CLUSTER"] != nil
    /// The address of the database of another cell; nil where there is none (`Scripts/with-patroni` within itself).
    private static let cell = ProcessInfo.processInfo.environment["TIDEBELL_TEST_CELL"]
    private static let cellName = "east"
    /// Counts primaries that failed, which are of both clusters in turn, and moves.
    private static let failovers = Atomic(0)
    private static let moves = Atomic(0)
    private static let freeze = Duration.seconds(4)
    /// How long a node stands still that loses what it has a lease of, for 60 seconds at most; nil where none does.
    private static let standstill = number("TIDEBELL_TEST_FREEZE").map { Duration.seconds($0) }

    /// How often something fails: 12 times unless `TIDEBELL_TEST_NODE_FAULTS` says otherwise.
    static let times = number("TIDEBELL_TEST_NODE_FAULTS") ?? 12
    /// One fault of so many is a long one.
    private static let timesPerLongFault = 6
    /// About how long all faults take by themselves.
    static var minutes: Int { times / timesPerLongFault + times / 5 }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Which fault happens to which node, in turn.
    static func plan(using random: inout SeededGenerator) -> [(fault: Fault, node: String)] {
        let long = faults.filter(\.isLong).shuffled(using: &random)
        let short = faults.filter { !$0.isLong }.shuffled(using: &random)
        var (longs, shorts) = (0, 0)
        var plan = (0..<times).map { number in
            if number % timesPerLongFault == timesPerLongFault - 1, !long.isEmpty {
                longs += 1
                return long[longs % long.count]
            }
            shorts += 1
            return short[shorts % short.count]
        }
        plan.shuffle(using: &random)
        return plan.map { ($0, random.pick(names)) }
    }

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
    /// Where all of them send pushes to Apple's devices.
    let apple: AppleReceiver
    private let programs: [String: TidebellProgram]
    private var servers: [String: ChildProcess]
    private let proxy: ChildProcess

    private init(
        _ cloud: TidebellProgram, _ apple: AppleReceiver, _ programs: [String: TidebellProgram],
        _ servers: [String: ChildProcess], _ proxy: ChildProcess
    ) {
        self.cloud = cloud
        self.apple = apple
        self.programs = programs
        self.servers = servers
        self.proxy = proxy
    }

    /// Each node as clients see it that do not pass by HAProxy.
    var nodes: [TidebellProgram] { programs.sorted { $0.key < $1.key }.map(\.value) }

    /// Starts all of them, with a push service that has so many devices.
    static func start(appleDevices: Int) async throws -> NodeGroup {
        let cloud = try Built.tidebell()
        let apple = try await AppleReceiver(devices: appleDevices, folder: cloud.dataFolder)
        if let cell {
            _ = try await cloud.run(["cell", "add", cellName, cell])
            // What is made here comes to the other one.
            _ = try await cloud.run(["cell", "change", "directory", "--no-takes-new"])
        }
        var programs: [String: TidebellProgram] = [:]
        var servers: [String: ChildProcess] = [:]
        for name in names {
            var program = cloud
            program.port = try LoopbackPort.free()
            programs[name] = program
            servers[name] = try await serve(program, as: name, apple)
        }
        let proxy = try await startProxy(cloud, for: programs.mapValues(\.port))
        return NodeGroup(cloud, apple, programs, servers, proxy)
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
        _ program: TidebellProgram, as name: String, _ apple: AppleReceiver
    ) async throws -> ChildProcess {
        try await program.serve(
            arguments: ["--node-name=\(name)", "--trusted-proxy=127.0.0.1"] + apple.arguments
                + (hasStandbys ? ["--lossless-failover"] : []))
    }

    /// Has a node fail; returns the nodes after it, which all run.
    func failing(_ fault: Fault, of name: String) async throws -> NodeGroup {
        var after = self
        guard let server = servers[name], let program = programs[name] else { return self }
        switch fault {
        case .kill:
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            after.servers[name] = try await Self.serve(program, as: name, apple)
        case .stop:
            server.signal(SIGTERM)
            #expect(await server.waitUntilExit() == 0)
            after.servers[name] = try await Self.serve(program, as: name, apple)
        case .freeze, .standstill:
            server.signal(SIGSTOP)
            let time = fault == .standstill ? Self.standstill : nil
            try await Task.sleep(for: time ?? Self.freeze)
            server.signal(SIGCONT)
        case .cut:
            apple.cut()
            for store in [Self.store, Self.cell].compactMap(\.self) {
                try await Self.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid() AND datname = current_database()
                    """, on: store)
            }
        case .move:
            async let moved: Void = move()
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            after.servers[name] = try await Self.serve(program, as: name, apple)
            try await moved
        case .failoverWithKill:
            async let failing: Void = Self.failPrimary(fault)
            server.signal(SIGKILL)
            _ = await server.waitUntilExit()
            // A start without a primary ends, and whoever looks after the node starts it again.
            await eventually {
                after.servers[name] = try? await Self.serve(program, as: name, apple)
                return after.servers[name] != nil
            }
            try await failing
        case .failover, .split, .frozenPrimary:
            try await Self.failPrimary(fault)
        }
        for (name, server) in after.servers {
            #expect(kill(server.processID, 0) == 0, "node \(name) has ended: \(fault)")
        }
        return after
    }

    /// Moves what the user owns to where it is not.
    private func move() async throws {
        let number = Self.moves.wrappingAdd(1, ordering: .relaxed).oldValue
        let arguments = [
            "cell", "move", number.isMultiple(of: 2) ? "directory" : Self.cellName,
            "--user", KillScene.user,
        ]
        if number % 4 >= 2 {
            let moving = try ChildProcess(
                cloud.executable, arguments + ["--data", cloud.dataFolder.path])
            try await Task.sleep(for: .seconds(Double(number % 3) + 0.5))
            moving.signal(SIGKILL)
            _ = await moving.waitUntilExit()
            if number % 8 >= 6 {
                // Unless it had come to its end, or behind the switch.
                let cancel = ["cell", "move", "--cancel", "--user", KillScene.user]
                print((try? await cloud.run(cancel).joined(separator: "\n")) ?? "not given up")
            }
        }
        print(try await cloud.run(arguments).joined(separator: "\n"))
    }

    /// Has the primary of a database fail, and waits until its cluster is whole again.
    private static func failPrimary(_ fault: Fault) async throws {
        let number = failovers.wrappingAdd(1, ordering: .relaxed).oldValue
        let cluster = ProcessInfo.processInfo.environment["TIDEBELL_TEST_CELL_CLUSTER"]
        let failing = try ChildProcess(
            root.appendingPathComponent("Scripts/with-patroni"), [fault.option ?? ""],
            environment: number.isMultiple(of: 2)
                ? [:] : cluster.map { ["TIDEBELL_TEST_CLUSTER": $0] } ?? [:],
            mergesErrors: true)
        var said: [String] = []
        for await line in failing.lines { said.append(line) }
        #expect(await failing.waitUntilExit() == 0, "\(said.joined(separator: "\n"))")
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

    /// Runs a statement in a database.
    private static func run(_ sql: String, on store: String? = store) async throws {
        let psql = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/env"), ["psql", "-qAt", store ?? "", "-c", sql],
            mergesErrors: true)
        #expect(await psql.waitUntilExit() == 0)
    }
}
