// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellHTTP

@Suite("Router")
struct RouterTests {
    private static let served: [any WireEndpoint.Type] =
        Router.containerEndpoints.map { $0 } + Router.admin.values.map { $0 }
        + Router.controls.values.map { $0 }
        + Router.server.values.map { $0 } + Router.pages.map { $0 }
        + Router.assets.values.map { $0 }

    @Test("Every endpoint of the protocol is served, and no other")
    func table() {
        let known = WireProtocol.endpoints.map(ObjectIdentifier.init)
        #expect(Set(Self.served.map(ObjectIdentifier.init)) == Set(known))
        #expect(Self.served.count == known.count)
        #expect(Self.served.allSatisfy { !$0.route.methods.isEmpty }, "clients use the first")
        let tables = [Router.database, Router.publicDatabase, Router.device, Router.extensions]
        let entries =
            tables.reduce(0) { $0 + $1.count } + Router.admin.count + Router.server.count
            + Router.controls.count + Router.pages.count + Router.assets.count
        #expect(entries == WireProtocol.endpoints.reduce(0) { $0 + $1.route.paths.count })
    }

    @Test("Every path of an endpoint leads to it", arguments: [DatabaseScope.public, .private])
    func paths(scope: DatabaseScope) throws {
        for endpoint in WireProtocol.endpoints {
            for path in endpoint.route.paths {
                let text =
                    switch path.root {
                    case .server where path.action.isEmpty: path.stem
                    case .server
                    where Router.pages.contains {
                        ObjectIdentifier($0) == ObjectIdentifier(endpoint) && !$0.takesArgument
                    }: "/\(path.action)"
                    case .assets, .server: path.stem + "token"
                    case .database:
                        path.text(in: "org.example", "development", path.onlyScope ?? scope)
                    case .control: path.root.prefix + path.action
                    case .device, .ext, .admin: path.text(in: "org.example", "development")
                    }
                if let page = Router.page(of: text) {
                    #expect(ObjectIdentifier(page.page) == ObjectIdentifier(endpoint), "\(text)")
                    continue
                }
                let found: any WireEndpoint.Type =
                    switch try Router.destination(of: RequestTarget(text)) {
                    case .asset(let found, _): found
                    case .server(let found, _): found
                    case .container(let found, _, _): found
                    case .admin(let found, _): found
                    case .control(let found): found
                    }
                #expect(ObjectIdentifier(found) == ObjectIdentifier(endpoint), "\(text)")
            }
        }
    }

    @Test(
        "LIMIT-5: a request about more than 200 items is refused",
        arguments: [
            (
                "database", "records/modify", "operations",
                #"{"operationType":"forceDelete","record":{"recordName":"r"}}"#
            ),
            ("database", "records/lookup", "records", #"{"recordName":"r"}"#),
            ("database", "zones/lookup", "zones", #"{"zoneName":"Notes"}"#),
            (
                "database", "zones/modify", "operations",
                #"{"operationType":"delete","zone":{"zoneID":{"zoneName":"Notes"}}}"#
            ),
            ("database", "changes/zone", "zones", #"{"zoneID":{"zoneName":"Notes"}}"#),
            ("database", "subscriptions/lookup", "subscriptions", #"{"subscriptionID":"s"}"#),
            (
                "database", "subscriptions/modify", "operations",
                #"{"operationType":"delete","subscription":{"subscriptionID":"s"}}"#
            ),
            ("database", "assets/upload", "tokens", #"{"recordType":"Note","fieldName":"f"}"#),
            ("database", "assets/rereference", "assets", #"{"recordName":"r","fieldName":"f"}"#),
            ("ext", "notifications/markRead", "notificationIDs", #""n""#),
        ]
    )
    func itemLimit(root: String, action: String, member: String, item: String) async throws {
        let api = try await TestAPI()
        let path = root == "database" ? "private/\(action)" : action
        for (count, isRefused) in [(200, false), (201, true)] {
            let items = Array(repeating: item, count: count).joined(separator: ",")
            let answer = try await api.send(
                "POST", api.target(under: root, path), #"{"\#(member)":[\#(items)]}"#
            )
            let isTooMany =
                answer.error?.reason.hasPrefix("Your request contains 201 items") == true
            #expect(isTooMany == isRefused, "\(answer.status) \(answer.text)")
        }
    }
}
