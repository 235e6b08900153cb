// SPDX-License-Identifier: Apache-2.0
import Foundation
import PostgresTestServer
import Synchronization
import TidebellPostgresClient
import TidebellProcesses

/// The same work on a server on SQLite, on one on PostgreSQL, and by bare SQL on that PostgreSQL, which waits for its
/// disk: what the engines of a store cost beside one another, and beside what there is to gain.
///
/// All take turns in each round, and every figure is the median of the rounds. Bare SQL is what a save cannot do
/// without: it counts its database's changes, and writes a row of the same size, in one transaction that is sent in
/// one pipeline, by connections of its own without a server between.
struct EngineBenchmark {
    private static let databases = 1000
    /// Whose they are: each user has as many, in a container each. The quota adds up what a person has in all of theirs.
    private static let users = 50
    private static let seconds = 3.0
    private static let batch = 200

    /// One that does the work.
    private protocol Subject: Sendable {
        var name: String { get }
        /// Makes what one client sends by: creates `count` records in a database.
        func makeClient() throws -> (_ database: Int, _ count: Int) throws -> Void
        /// Makes what reads a page of 200 changes.
        func makeReader() throws -> () throws -> Void
    }

    static func run() async throws {
        let database = try MeasuredServer.Database()
        defer { database.server.end() }
        let nodes = try MeasuredServer.Database()
        defer { nodes.server.end() }
        let sqlite = try await BenchServer.start()
        defer { sqlite.stop() }
        let postgres = try await BenchServer.start(
            environment: ["TIDEBELL_STORE": database.server.address()])
        defer { postgres.stop() }
        let bare = try BareSQL(PostgresAddress(database.server.address()))
        let subjects: [any Subject] = [
            try await Server(name: "SQLite", bench: sqlite),
            try await Server(name: "PostgreSQL", bench: postgres),
            bare,
        ]
        for (clients, databases) in [(1, 1), (1, Self.databases), (32, 1), (32, Self.databases)] {
            try compare(
                "creates, \(clients) client\(clients == 1 ? "" : "s"), \(databases) database"
                    + (databases == 1 ? "" : "s"), subjects
            ) { try rate(of: $0, clients: clients, databases: databases, records: 1) }
        }
        try compare("records in batches of \(batch), 8 clients, 8 databases", subjects) {
            try rate(of: $0, clients: 8, databases: 8, records: batch)
        }
        try compare("pages of 200 changes, 1 client", subjects) { try pages(of: $0) }
        try await measureDelivery(on: nodes)
    }

    /// Has the subjects take turns, and prints the rates of each and their ratios to the last one's.
    private static func compare(
        _ what: String, _ subjects: [any Subject], _ measure: (any Subject) throws -> Double
    ) throws {
        var rates = subjects.map { _ in [Double]() }
        for _ in 0..<repetitions {
            for (index, subject) in subjects.enumerated() {
                rates[index].append(try measure(subject))
            }
        }
        for (subject, runs) in zip(subjects, rates) {
            report("\(what): \(subject.name)", runs, unit: "per s")
        }
        guard let last = rates.last else { return }
        for (subject, runs) in zip(subjects, rates).dropLast() {
            report(
                "\(what): \(subject.name) ÷ bare SQL", zip(runs, last).map { $0 / $1 }, unit: "×")
        }
    }

    /// Records a second, of clients that each wait for the answer to their last.
    private static func rate(
        of subject: any Subject, clients: Int, databases: Int, records: Int
    ) throws -> Double {
        let count = Atomic(0)
        let start = Date()
        try runClients(clients) { client in
            let create = try subject.makeClient()
            var number = client
            while Date().timeIntervalSince(start) < seconds {
                try create(number % databases, records)
                // Another database each time, and another one than the other clients.
                number += clients
                count.wrappingAdd(records, ordering: .relaxed)
            }
        }
        return Double(count.load(ordering: .relaxed)) / Date().timeIntervalSince(start)
    }

    private static func pages(of subject: any Subject) throws -> Double {
        let read = try subject.makeReader()
        let (start, pages) = (Date(), 300)
        for _ in 0..<pages { try read() }
        return Double(pages) / Date().timeIntervalSince(start)
    }

    // MARK: - Across nodes

    /// From a save's answer, and from when it was sent, to its push on a device at another node and at the same one.
    private static func measureDelivery(on database: MeasuredServer.Database) async throws {
        let store = ["TIDEBELL_STORE": database.server.address()]
        let first = try await BenchServer.start(
            arguments: ["--node-name", "a"], environment: store)
        defer { first.stop() }
        let other = try await first.startAnotherNode("b", environment: store)
        defer { other.stop() }
        try first.makeZone("pushes")
        let writer = try HTTPConnection(port: first.program.port)
        try first.subscribe(to: "pushes", as: "bench")
        for (name, server) in [("another node", other), ("the same node", first)] {
            let device = try HTTPConnection(port: server.program.port)
            try device.openStream(server.streamPath(clientID: name == "another node" ? "b" : "a"))
            try device.read(until: "event: ready")
            var (sent, answered): ([Double], [Double]) = ([], [])
            for _ in 0..<repetitions {
                let times = try (0..<100).map { number in
                    let start = Date()
                    _ = try writer.post(
                        first.path("records/modify"),
                        createNotes(number..<number + 1, zone: "pushes"))
                    let answer = Date()
                    try device.read(until: #""sid":"bench""#)
                    let told = Date()
                    return (told.timeIntervalSince(start), told.timeIntervalSince(answer))
                }
                sent.append(times.map { $0.0 * 1000 }.sorted()[times.count / 2])
                answered.append(times.map { max(0, $0.1) * 1000 }.sorted()[times.count / 2])
            }
            report("save to push on \(name), median", sent, unit: "ms")
            report("commit to push on \(name), median", answered, unit: "ms")
        }
    }

    // MARK: - Subjects

    /// A server whose databases are the private ones of users in containers.
    private struct Server: Subject {
        let name: String
        private let bench: BenchServer
        /// The web auth token of each user.
        private let tokens: [String]

        /// Makes the databases, with a zone and a record each, so that schemas grow no more.
        init(name: String, bench: BenchServer) async throws {
            self.name = name
            self.bench = bench
            var tokens: [String] = []
            for user in 0..<EngineBenchmark.users {
                tokens.append(try await bench.program.token(["user", "add", "user-\(user)"]))
            }
            self.tokens = tokens
            let connection = try HTTPConnection(port: bench.program.port)
            for database in 0..<EngineBenchmark.databases {
                _ = try connection.post(
                    path("zones/modify", database),
                    #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"bench"}}}]}"#
                )
                _ = try connection.post(
                    path("records/modify", database), createNotes(0..<1, zone: "bench"))
            }
        }

        private func path(_ call: String, _ database: Int) -> String {
            bench.path(
                call, container: "\(BenchServer.container).\(database / tokens.count)",
                token: tokens[database % tokens.count])
        }

        func makeClient() throws -> (Int, Int) throws -> Void {
            let connection = try HTTPConnection(port: bench.program.port)
            return { database, count in
                _ = try connection.post(
                    path("records/modify", database), createNotes(0..<count, zone: "bench"))
            }
        }

        func makeReader() throws -> () throws -> Void {
            let connection = try HTTPConnection(port: bench.program.port)
            return {
                _ = try connection.post(
                    path("changes/zone", 0),
                    #"{"zones":[{"zoneID":{"zoneName":"bench"},"resultsLimit":200}]}"#)
            }
        }
    }

    /// PostgreSQL without a server of ours.
    private struct BareSQL: Subject {
        let name = "bare SQL"
        private let address: PostgresAddress

        init(_ address: PostgresAddress) throws {
            self.address = address
            let connection = try PostgresConnection(address)
            defer { connection.close() }
            try connection.execute("CREATE SCHEMA bare")
            try connection.execute(
                "CREATE TABLE bare.database (id bigint PRIMARY KEY, head bigint NOT NULL)")
            try connection.execute(
                """
                CREATE TABLE bare.record (
                    database bigint NOT NULL, position bigint NOT NULL, name bytea NOT NULL,
                    fields bytea NOT NULL, PRIMARY KEY (database, position))
                """)
            try connection.execute(
                "CREATE UNIQUE INDEX record_name ON bare.record (database, name)")
            try connection.execute(
                "INSERT INTO bare.database SELECT number, 0 FROM generate_series(0, 999) AS number")
        }

        func makeClient() throws -> (Int, Int) throws -> Void {
            let connection = try PostgresConnection(address)
            return { database, count in
                connection.enqueue("BEGIN")
                connection.enqueue(
                    "UPDATE bare.database SET head = head + $2 WHERE id = $1",
                    [.int64(Int64(database)), .int64(Int64(count))])
                for number in 0..<count {
                    connection.enqueue(
                        """
                        INSERT INTO bare.record
                        SELECT $1, head - $2, $3, $4 FROM bare.database WHERE id = $1
                        """,
                        [
                            .int64(Int64(database)), .int64(Int64(number)),
                            .bytea(Array(UUID().uuidString.utf8)),
                            .bytea(Array(noteFields(number).utf8)),
                        ])
                }
                guard case .committed = connection.commit() else {
                    throw BenchmarkError("bare SQL did not commit")
                }
            }
        }

        func makeReader() throws -> () throws -> Void {
            let connection = try PostgresConnection(address)
            return {
                var found = 0
                try connection.rows(
                    """
                    SELECT name, position, fields FROM bare.record
                    WHERE database = 0 AND position > 0 ORDER BY position LIMIT 200
                    """
                ) { row in
                    found += row.bytes(2).count
                }
                guard found > 0 else { throw BenchmarkError("bare SQL read nothing") }
            }
        }
    }
}
