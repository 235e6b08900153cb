// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Logging
import TestSupport
import Testing
import TidebellCore
import TidebellHTTP
import TidebellPostgresClient
import TidebellPush
import TidebellScheduling
import TidebellServer
import TidebellWire

@testable import TidebellPostgres

@Suite("What requests cost in waits for PostgreSQL", .hangs)
struct TripCountTests {
    /// Requests of a client with the extensions, each after one of the same kind.
    @Test("A save costs at most two round trips, a batch of 400 no more, a page of changes one")
    func endpoints() async throws {
        let cloud = try await CountedCloud()
        try await cloud.prepare()
        for request in CountedRequest.all {
            for run in 1...2 {
                let trips = try await cloud.send(request, run: run)
                guard run == 2 else { continue }
                #expect(trips.count <= request.most, "\(request.name): \(trips)")
            }
        }
        try await cloud.close()
    }

    /// What else stands in rows is remembered, at the revision that this reads.
    @Test(
        "A save reads no more of a schema that is known than its revision, and sends at most 21 statements"
    )
    func statements() async throws {
        let cloud = try await CountedCloud()
        try await cloud.prepare()
        let save = try #require(CountedRequest.all.first)
        _ = try await cloud.send(save, run: 1)
        _ = cloud.takeStatements()
        _ = try await cloud.send(save, run: 2)
        let statements = cloud.takeStatements()
        let ofSchemas = statements.filter { statement in
            ["schema", "field"].contains { statement.contains($0 + "_") }
        }
        #expect(
            ofSchemas == [
                "SELECT revision FROM schema_revision WHERE container = $1 AND environment = $2"
            ])
        #expect(statements.count <= 21, "\(statements.joined(separator: "\n"))")
        try await cloud.close()
    }

    /// From the claim to the look that finds nothing more; the last three are after the push.
    @Test("A node's pass over a change, for one user, costs at most 17 round trips")
    func pass() async throws {
        let cloud = try await CountedCloud(as: NodeName("a"))
        try await cloud.prepare()
        let save = try #require(CountedRequest.all.first)
        for run in 1...2 {
            _ = try await cloud.send(save, run: run)
            let trips = try await cloud.drain()
            guard run == 2 else { continue }
            #expect(trips.count <= 17, "\(trips.joined(separator: "\n"))")
        }
        try await cloud.close()
    }
}

extension TripCountTests {
    /// Callers are forgotten in between, so that their session is read again.
    @Test(
        "What somebody does whose cell is another one asks the directory nothing, nor does its push"
    )
    func directory() async throws {
        let cloud = try await CountedCloud(inCells: true)
        try await cloud.prepare()
        // Who had the token of a device before is looked for everywhere.
        let everywhere = try #require(CountedRequest.all.first { $0.path.hasPrefix("device/") })
        #expect(try await !cloud.send(everywhere, run: 1).isEmpty)
        for run in 1...2 {
            for request in CountedRequest.all where !request.path.hasPrefix("device/") {
                cloud.forgetCallers()
                let trips = try await cloud.send(request, run: run)
                guard run == 2 else { continue }
                #expect(trips == [], "\(request.name)")
            }
            let trips = try await cloud.drain()
            guard run == 2 else { continue }
            // It is a cell, too, whose queue is looked at.
            #expect(trips.allSatisfy { $0.hasPrefix("SELECT database FROM outbox_queue") })
        }
        try await cloud.close()
    }
}

/// A request, and how many round trips it may cost.
private struct CountedRequest: Sendable {
    var name: String
    var path: String
    var most: Int
    /// The body of the first and the second time.
    var body: @Sendable (_ run: Int) -> String

    static let all: [CountedRequest] = [
        CountedRequest(name: "save of a new record", path: "private/records/modify", most: 2) {
            save(["new-"], run: $0)
        },
        CountedRequest(name: "save of the same record", path: "private/records/modify", most: 2) {
            save(["same"], run: $0, isSame: true)
        },
        CountedRequest(name: "save of 400 new records", path: "private/records/modify", most: 2) {
            save((0..<400).map { "many-\($0)-" }, run: $0)
        },
        CountedRequest(
            name: "save of the same 400 records", path: "private/records/modify", most: 2
        ) {
            save((0..<400).map { "some-\($0)" }, run: $0, isSame: true)
        },
        CountedRequest(name: "deletion of a record", path: "private/records/modify", most: 2) {
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"many-\($0)-\($0)"}}]}
            """
        },
        CountedRequest(name: "save with a parent", path: "private/records/modify", most: 2) {
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceReplace",\
            "record":{"recordName":"child-\($0)","recordType":"Note","parent":{"recordName":"same"},\
            "fields":{"note":{"value":{"recordName":"same","action":"DELETE_SELF"},"type":"REFERENCE"}}}}]}
            """
        },
        CountedRequest(name: "a page of changes", path: "private/changes/zone", most: 1) { _ in
            #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#
        },
        CountedRequest(name: "the changes of a database", path: "private/changes/database", most: 1)
        {
            _ in "{}"
        },
        CountedRequest(name: "a query", path: "private/records/query", most: 2) { _ in
            """
            {"zoneID":{"zoneName":"Notes"},"resultsLimit":20,"query":{"recordType":"Note"}}
            """
        },
        CountedRequest(name: "a look-up", path: "private/records/lookup", most: 1) { _ in
            """
            {"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"same"},{"recordName":"some-7"}]}
            """
        },
        CountedRequest(name: "the zones", path: "private/zones/list", most: 1) { _ in "" },
        CountedRequest(name: "zones by name", path: "private/zones/lookup", most: 1) { _ in
            #"{"zones":[{"zoneName":"Notes"}]}"#
        },
        CountedRequest(name: "a new zone", path: "private/zones/modify", most: 4) {
            """
            {"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Zone\($0)"}}}]}
            """
        },
        CountedRequest(name: "subscriptions", path: "private/subscriptions/list", most: 2) { _ in
            ""
        },
        CountedRequest(name: "the caller", path: "public/users/caller", most: 0) { _ in "" },
        CountedRequest(name: "a push token", path: "device/tokens/create", most: 12) { _ in
            #"{"apnsEnvironment":"development"}"#
        },
    ]

    private static func save(_ names: [String], run: Int, isSame: Bool = false) -> String {
        let operations = names.map { name in
            """
            {"operationType":"forceReplace","record":{"recordName":"\(name)\(isSame ? "" : "\(run)")",\
            "recordType":"Note","fields":{"text":{"value":"a text of a note"}}}}
            """
        }
        return """
            {"zoneID":{"zoneName":"Notes"},"operations":[\(operations.joined(separator: ","))]}
            """
    }
}

/// A cloud on PostgreSQL without a pipeline, of which all round trips are counted; of one in cells those to the directory.
private final class CountedCloud: Sendable {
    private let store: any OpenedStore
    private let clock = SteppedClock()
    private let cloud: CloudServices
    private let trips = RoundTripCount()
    private let tokens: String

    init(as node: NodeName? = nil, inCells: Bool = false) async throws {
        let database = try PostgresEngine.addressOfNewDatabase()
        if inCells { try PostgresEngine.addCells(to: database) }
        var address = try PostgresAddress(database)
        address.trips = trips
        // Callers are remembered for some seconds, however busy the machine is.
        let time = Time(now: { .init(rawValue: 1_800_000_000_000) }, clock: clock)
        store = try CellStore.open(
            at: address,
            { address, cell throws(StoreOpenError) in
                try PostgresStore.open(
                    at: address, for: .serving, as: node, losslessFailover: false,
                    bounds: StoreBounds(), readers: 8, time: .system, randomness: .system,
                    cell: cell)
            }, mending: true, bounds: StoreBounds(),
            // What is where is looked for each second, which is nobody's request.
            time: Time(now: time.now, clock: SteppedClock()))
        cloud = CloudServices(
            store: store,
            secret: StoreSecret(root: Array(repeating: 5, count: StoreSecret.length)),
            time: time, randomness: .system, logger: TestLog(level: .error).logger)
        let firstRun = try #require(try await cloud.accounts.prepareFirstRun())
        tokens =
            "?ckAPIToken=\(firstRun.apiToken)&ckWebAuthToken=\(firstRun.webToken)&clientId=device"
    }

    /// Makes a zone, a subscription to it, and a type.
    func prepare() async throws {
        try await post(
            "private/zones/modify",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#)
        try await post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"s",\
            "subscriptionType":"zone","zoneID":{"zoneName":"Notes"},\
            "notificationInfo":{"shouldSendContentAvailable":true}}}]}
            """)
        try await post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create",\
            "record":{"recordName":"first","recordType":"Note","fields":{"text":{"value":"a"},\
            "note":{"value":{"recordName":"first"}}}}}]}
            """)
        // Somebody whom a push can reach.
        try await post("device/tokens/create", #"{"apnsEnvironment":"development"}"#)
    }

    /// Sends a request, and returns what was waited for.
    func send(_ request: CountedRequest, run: Int) async throws -> [String] {
        _ = trips.take()
        try await post(request.path, request.body(run), named: "\(request.name) \(run)")
        return trips.take()
    }

    /// Has the server look up the next callers.
    func forgetCallers() { clock.advance(by: .seconds(60)) }

    /// What was sent since the last call.
    func takeStatements() -> [String] { trips.takeStatements() }

    /// Notifies of what is pending, and returns what was waited for meanwhile.
    func drain() async throws -> [String] {
        _ = trips.take()
        #expect(try await cloud.pipeline.drain() == 1)
        return trips.take()
    }

    private func post(_ path: String, _ body: String, named name: String? = nil) async throws {
        let root = path.hasPrefix("device/") ? "device" : "database"
        let path = path.hasPrefix("device/") ? String(path.dropFirst(7)) : path
        var headers = ["X-Tidebell-Extensions": "1"]
        if let name { headers["X-Tidebell-Request-ID"] = name }
        let response = await cloud.respond(
            body.isEmpty ? .get : .post,
            "/\(root)/1/iCloud.org.example.notes/development/\(path)\(tokens)", headers: headers,
            body: Array(body.utf8))
        let text = String(decoding: try await response.body.collect(), as: UTF8.self)
        #expect(response.status == 200 && !text.contains("serverErrorCode"), "\(path): \(text)")
    }

    func close() async throws { try await store.close() }
}
