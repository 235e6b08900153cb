// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellWire
import TidebellServer
import HTTPTypes
import TidebellPush

/// The origin of a change is not notified of it: the device, not the user, whatever was
/// done and however the device is notified.
@Suite("The origin") struct OriginTests {
    /// What the device does.
    enum Act: String, CaseIterable {
        case create, update, delete, deleteOthers, cascade, batch, createZone, deleteZone

        /// The pushes of everybody else: one of the database, and one for each
        /// record.
        var pushes: Int {
            switch self {
            case .create, .update, .delete, .deleteOthers: 2
            case .cascade, .batch: 3
            case .createZone, .deleteZone: 1
            }
        }
    }

    /// How devices are notified: from the log, as it happens, or by a poll.
    enum Route: CaseIterable { case stream, liveStream, courier }

    @Test(
        "SUB-46, SUB-47, SUB-60, T-10: on every route the origin alone is not notified",
        arguments: Act.allCases, Route.allCases)
    func origin(act: Act, route: Route) async throws {
        var scene = try await Scene(route)
        try await scene.perform(act, as: "origin")
        try await scene.finish()
        #expect(try await scene.received(by: "origin") == 0)
        #expect(try await scene.received(by: "other") == act.pushes)
    }

    @Test(
        "SUB-46: a change without client ID has no origin, everybody is notified",
        arguments: Route.allCases)
    func noOrigin(route: Route) async throws {
        var scene = try await Scene(route)
        try await scene.perform(.cascade, as: nil)
        try await scene.finish()
        #expect(try await scene.received(by: "origin") == Act.cascade.pushes)
        #expect(try await scene.received(by: "other") == Act.cascade.pushes)
    }
}

/// Two devices of one user who watch a database and its records.
private struct Scene {
    let api: TestAPI
    let route: OriginTests.Route
    private var couriers: [String: String] = [:]
    private var streams: [String: Pieces] = [:]

    init(_ route: OriginTests.Route) async throws {
        self.route = route
        api = try await TestAPI()
        try await api.makeZone("A")
        try await save(#"{"recordName":"own","recordType":"Note","fields":{}}"#, as: "origin")
        for name in ["theirs", "parent"] {
            try await save(
                #"{"recordName":"\#(name)","recordType":"Note","fields":{}}"#, as: "other"
            )
        }
        try await save(
            """
            {"recordName":"child","recordType":"Note","fields":{"of":{"type":"REFERENCE",\
            "value":{"recordName":"parent","action":"DELETE_SELF"}}}}
            """, as: "other"
        )
        _ = try await api.post(
            "private/subscriptions/modify",
            """
            {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
            "subscriptionType":"database","notificationInfo":{"alertBody":"!"}}},\
            {"operationType":"create","subscription":{"subscriptionID":"notes",\
            "subscriptionType":"query","query":{"recordType":"Note"},"zoneWide":true,\
            "firesOn":["create","update","delete"],"notificationInfo":{"alertBody":"!"}}}]}
            """
        )
        for client in ["origin", "other"] {
            if route == .courier {
                couriers[client] = try await makeCourier(of: client)
            } else {
                try await send("ext", "notifications/ack", #"{"cursor":"0"}"#, as: client)
            }
        }
        guard route == .liveStream else { return }
        // Reads what a stream has in the log: the rest comes live.
        try await finish()
        for client in ["origin", "other"] {
            streams[client] = try await openStream(of: client)
            _ = try await received(by: client)
        }
    }

    /// Does one thing, as one device.
    func perform(_ act: OriginTests.Act, as client: String?) async throws {
        switch act {
        case .create, .update:
            let name = act == .create ? "new" : "theirs"
            try await save(
                #"{"recordName":"\#(name)","recordType":"Note","fields":{}}"#, as: client)
        case .delete: try await modify([Self.deletion("own")], as: client)
        case .deleteOthers: try await modify([Self.deletion("theirs")], as: client)
        case .cascade: try await modify([Self.deletion("parent")], as: client)
        case .batch: try await modify([Self.deletion("own"), Self.deletion("theirs")], as: client)
        case .createZone, .deleteZone:
            let isNew = act == .createZone
            try await send(
                "database", "private/zones/modify",
                """
                {"operations":[{"operationType":"\(isNew ? "create" : "delete")",\
                "zone":{"zoneID":{"zoneName":"\(isNew ? "B" : "A")"}}}]}
                """, as: client
            )
        }
    }

    /// Makes a change that both devices are notified of as the last.
    func finish() async throws {
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"_defaultZone"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"last","recordType":"Note","fields":{}}}]}
            """, query: "&clientId=somebody"
        )
        _ = try await api.cloud.pipeline.drain()
    }

    /// How many notifications a device received before the last.
    mutating func received(by client: String) async throws -> Int {
        var count = 0
        switch route {
        case .stream, .liveStream:
            let open = streams.removeValue(forKey: client)
            var pieces = if let open { open } else { try await openStream(of: client) }
            var isLast = false
            while !isLast, let piece = try await pieces.next() {
                // Events that waited come in one piece.
                let events = piece.split(separator: "\n\n")
                isLast = events.last.map { String($0).isLast } ?? false
                count += events.count - (isLast ? 1 : 0)
            }
            streams[client] = pieces
        case .courier:
            let path = try #require(couriers[client])
            while try await !api.send("GET", path).text.isLast { count += 1 }
        }
        return count
    }

    private func openStream(of client: String) async throws -> Pieces {
        let target = api.target(under: "ext", "notifications/stream") + "&clientId=\(client)"
        var pieces = Pieces(await api.cloud.respond(.get, target))
        // The event `ready`.
        _ = try await pieces.next()
        return pieces
    }

    private func makeCourier(of client: String) async throws -> String {
        let answer = try await api.send(
            "POST", api.target(under: "device", "tokens/create"),
            #"{"apnsEnvironment":"development","clientId":"\#(client)"}"#
        )
        let start = try #require(answer.text.firstRange(of: "/courier/")).lowerBound
        return String(answer.text[start...].prefix { $0 != "\"" })
    }

    private static func deletion(_ name: String) -> String {
        #"{"operationType":"forceDelete","record":{"recordName":"\#(name)"}}"#
    }

    private func save(_ record: String, as client: String?) async throws {
        try await modify([#"{"operationType":"forceUpdate","record":\#(record)}"#], as: client)
    }

    private func modify(_ operations: [String], as client: String?) async throws {
        try await send(
            "database", "private/records/modify",
            """
            {"zoneID":{"zoneName":"A"},"operations":[\(operations.joined(separator: ","))]}
            """, as: client
        )
    }

    private func send(
        _ root: String, _ path: String, _ body: String, as client: String?
    ) async throws {
        let answer = try await api.send(
            "POST", api.target(under: root, path) + (client.map { "&clientId=\($0)" } ?? ""), body
        )
        #expect(answer.status == 200)
        #expect(!answer.text.contains("serverErrorCode"))
    }
}

extension String {
    /// Whether a push is of the last change.
    fileprivate var isLast: Bool { contains(#""rid":"last""#) }
}
