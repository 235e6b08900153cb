// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// The table caller × endpoint × database × environment of one container; what is granted is done, or
/// refused for what is asked, and each cell says which. Callers show an API
/// token and a web token, each of this container or of others, fresh or ended
/// (``AccessCaller``): every web token with every API token. Which callers may call what is
/// written down here, and not taken from the routes.
@Suite("Who may call what", .hangs)
struct AccessTableTests {
    /// The callers that may call each endpoint, and a request that a user may make in their private
    /// database; `API` is an API token.
    fileprivate static let table: [String: (access: WireAccess, body: String)] = [
        "database zones/list": (.reader, "{}"),
        "database zones/lookup": (.reader, #"{"zones":[]}"#),
        "database zones/modify": (.user, #"{"operations":[]}"#),
        "database zones/changes": (.reader, "{}"),
        "database records/query": (.reader, #"{"query":{"recordType":"Note"}}"#),
        "database records/lookup": (.reader, #"{"records":[{"recordName":"a"}]}"#),
        "database records/modify": (
            .user,
            """
                {"operations":[{"operationType":"forceUpdate","record":{"recordName":"a",\
                "recordType":"Note","fields":{}}}]}
            """
        ),
        "database records/resolve": (.user, #"{"shortGUIDs":[]}"#),
        "database records/accept": (.user, #"{"shortGUIDs":[]}"#),
        "database records/requestAccess": (.user, #"{"shortGUIDs":[]}"#),
        "database records/changes": (.reader, #"{"zoneID":{"zoneName":"Notes"}}"#),
        "database assets/upload": (.user, #"{"tokens":[]}"#),
        "database assets/rereference": (.user, #"{"assets":[]}"#),
        "database changes/database": (.reader, "{}"),
        "database changes/zone": (.reader, #"{"zones":[]}"#),
        "database subscriptions/list": (.user, "{}"),
        "database subscriptions/lookup": (.user, #"{"subscriptions":[]}"#),
        "database subscriptions/modify": (.user, #"{"operations":[]}"#),
        "database tokens/create": (.user, #"{"apnsEnvironment":"development"}"#),
        "database tokens/register": (.user, #"{"apnsEnvironment":"development","apnsToken":"ab"}"#),
        "database users/caller": (.user, "{}"),
        "database users/current": (.user, "{}"),
        "database users/lookup/id": (.user, #"{"users":[]}"#),
        "database users/lookup/email": (.user, #"{"users":[]}"#),
        "database users/lookup/contacts": (.user, "{}"),
        "database users/discover": (.user, #"{"lookupInfos":[]}"#),
        "device tokens/create": (.user, #"{"apnsEnvironment":"development"}"#),
        "device tokens/register": (.user, #"{"apnsEnvironment":"development","apnsToken":"ab"}"#),
        "ext account/signIn": (.anyone, "{}"),
        "ext account/deviceCode": (.anyone, "{}"),
        "ext account/deviceToken": (.anyone, #"{"deviceCode":"unknown"}"#),
        "ext account/signOut": (.user, "{}"),
        "ext account/webToken": (.user, #"{"apiToken":"API"}"#),
        "ext account/permission": (
            .user, #"{"permission":"userDiscoverability","action":"grant"}"#
        ),
        "ext notifications/stream": (.user, ""),
        "ext notifications/ack": (.user, #"{"cursor":"0"}"#),
        "ext notifications/changes": (.user, "{}"),
        "ext notifications/markRead": (.user, #"{"notificationIDs":[]}"#),
        "ext notifications/badge": (.user, #"{"value":0}"#),
    ]

    private static let containers = [
        ContainerKey(container: TestAPI.container, environment: .development),
        ContainerKey(container: TestAPI.container, environment: .production),
    ]

    private struct Row {
        var name: String
        var root: String
        var endpoint: any Endpoint.Type
        var scopes: [DatabaseScope]
        /// The only database that has it; nil for all.
        var only: DatabaseScope?

        func path(in scope: DatabaseScope) -> String {
            root == "database" ? "\(scope.rawValue)/\(name)" : name
        }

        var key: String { "\(root) \(name)" }

        /// Nil for an endpoint that is not in the table.
        func outcome(in scope: DatabaseScope, for caller: AccessCaller) -> AccessOutcome? {
            if let only, only != scope { return .elsewhere }
            guard let access = AccessTableTests.table[key]?.access else { return nil }
            let outcome = AccessOutcome(access, in: scope, for: caller)
            let isPage = caller.user == .token(.page)
            return key == "ext account/signIn" && isPage && outcome == .granted
                ? .notForPages : outcome
        }
    }

    private static let rows: [Row] =
        rows("database", Router.database, DatabaseScope.allCases)
        + rows("database", Router.publicDatabase, DatabaseScope.allCases, only: .public)
        + rows("device", Router.device, [.private])
        + rows("ext", Router.extensions, [.private])

    private static func rows(
        _ root: String, _ routes: Router.Table<any Endpoint.Type>, _ scopes: [DatabaseScope],
        only: DatabaseScope? = nil
    ) -> [Row] {
        routes.map { (name: $0.key.joined(separator: "/"), endpoint: $0.value) }
            .sorted { $0.name < $1.name }
            .map { name, endpoint in
                Row(name: name, root: root, endpoint: endpoint, scopes: scopes, only: only)
            }
    }

    @Test("Every endpoint is in the table")
    func rows() {
        #expect(Set(Self.rows.map(\.key)) == Set(Self.table.keys))
        #expect(
            Set(Router.admin.keys.map { Array($0) }) == [
                ["push", "explain"], ["query", "explain"], ["keys", "add"], ["keys", "list"],
                ["keys", "revoke"],
                ["schema", "export"], ["schema", "import"], ["schema", "validate"],
                ["schema", "diff"], ["schema", "check"], ["schema", "deploy"],
                ["schema", "history"], ["schema", "index"], ["schema", "reset"],
            ])
        #expect(Set(Router.controls.keys.map { Array($0) }) == [["clock"], ["faults"]])
        #expect(
            Set(Router.server.keys.map { Array($0) }) == [
                [], ["courier"], ["health"], ["ready"], ["openapi.json"],
                ["metrics"], ["reference"], ["tidebell.js"], ["version"],
            ])
        #expect(
            Router.pages.map { $0.route.path.action } == [
                "share", "sign-in", "sign-in/callback", "device-sign-in", "account", "reset",
            ])
        #expect(Set(Router.assets.keys.map { Array($0) }) == [["download"], ["upload"]])
    }

    @Test("Every caller gets what they may, and no more", arguments: containers)
    func cells(container: ContainerKey) async throws {
        let api = try await TestAPI()
        let tokens = try await AccessTokens(api, in: container)
        try await makeZone(tokens)
        for row in Self.rows {
            let method: HTTPRequest.Method =
                row.endpoint.route.methods.contains(.post) ? .post : .get
            for scope in row.scopes {
                for caller in AccessCaller.all {
                    let expected = row.outcome(in: scope, for: caller)
                    let response = await api.cloud.respond(
                        method,
                        tokens.path(row.root, row.path(in: scope))
                            + (row.key == "ext account/signOut"
                                ? try await tokens.queryToSignOut(caller)
                                : tokens.query(of: caller)),
                        body: Array(body(of: row, for: caller, in: api).utf8)
                    )
                    let cell: Comment = "\(row.key) in \(scope) of \(container) for \(caller)"
                    // The body of an open stream has no end.
                    let isStream = response.status == 200 && method == .get
                    let text = isStream ? "" : try await text(response)
                    let error = try? JSONReader.read(Array(text.utf8), WireError.init(from:))
                    #expect(AccessOutcome(response.status, error) == expected, cell)
                    if expected != .granted {
                        #expect(error != nil && response.status >= 400, cell)
                    } else {
                        let refusal = Self.refusal(of: row, in: scope, for: caller)
                        #expect(error?.code == refusal, "\(cell): \(text)")
                        #expect((response.status == 200) == (refusal == nil), "\(cell): \(text)")
                    }
                }
            }
        }
    }

    /// Why the requests of the table, by whoever may make them, are refused in other databases than a
    /// private one: the public database has one zone and tracks no changes; in the shared one nobody
    /// makes zones, a query names one, and these callers have accepted no share, so that they have none.
    private static let refusals: [DatabaseScope: [String: ServerErrorCode]] = [
        .public: [
            "database changes/database": .badRequest, "database changes/zone": .badRequest,
            "database records/changes": .badRequest, "database zones/changes": .badRequest,
            "database zones/modify": .badRequest,
        ],
        .shared: [
            "database assets/rereference": .zoneNotFound, "database assets/upload": .zoneNotFound,
            "database records/changes": .zoneNotFound, "database records/lookup": .zoneNotFound,
            "database records/modify": .zoneNotFound, "database records/query": .badRequest,
            "database zones/modify": .badRequest,
        ],
    ]

    /// Why a caller who may ask is refused all the same; nil where it is done.
    private static func refusal(
        of row: Row, in scope: DatabaseScope, for caller: AccessCaller
    ) -> ServerErrorCode? {
        // A name without a password is no sign-in.
        if row.key == "ext account/signIn", caller.user == .none { return .badRequest }
        if row.key == "ext account/deviceToken" { return .notFound }
        return refusals[scope]?[row.key]
    }

    @Test("Where no token is asked for, none makes a difference", arguments: containers)
    func capabilities(container: ContainerKey) async throws {
        let api = try await TestAPI()
        let tokens = try await AccessTokens(api, in: container)
        let paths = [
            ("GET", "/", 200), ("GET", "/version", 200), ("GET", "/tidebell.js", 200),
            ("GET", "/openapi.json", 200), ("GET", "/reference", 200),
            ("GET", "/health", 200), ("GET", "/ready", 200), ("GET", "/courier/unknown", 404),
            ("POST", "/assets/1/upload/unknown", 0), ("GET", "/assets/1/download/unknown", 403),
            // The form for signing in, whoever asks; a form of nobody's.
            ("GET", "/share/AAAA", 200), ("POST", "/share/AAAA", 400),
            ("GET", "/device-sign-in", 200), ("POST", "/device-sign-in", 400),
            ("GET", "/account", 200), ("POST", "/account", 400), ("GET", "/reset/AAAA", 404),
            ("POST", "/reset/AAAA", 400),
            // Of no app, since none is named, and without a provider.
            ("GET", "/sign-in", 404), ("POST", "/sign-in", 400), ("GET", "/sign-in/callback", 404),
        ]
        for (method, path, status) in paths {
            let plain = try await api.send(method, path).withoutHeaders
            if status > 0 { #expect(plain.status == status) } else { #expect(plain.status >= 400) }
            for caller in AccessCaller.all {
                let answer = try await api.send(method, path + tokens.query(of: caller))
                #expect(answer.status == plain.status, "\(path) for \(caller)")
                #expect(answer.error == plain.error, "\(path) for \(caller)")
            }
        }
    }

    @Test(
        "The operator's endpoints take a management token, and nothing else; one for metrics alone gets only these",
        arguments: containers)
    func admin(container: ContainerKey) async throws {
        let api = try await TestAPI(hasControls: true)
        let tokens = try await AccessTokens(api, in: container)
        let accounts = api.cloud.accounts
        let fresh = try await accounts.makeAdminToken(named: "fresh")
        let metrics = try await accounts.makeAdminToken(named: "metrics", for: .metrics)
        let expired = try await accounts.makeAdminToken(named: "expired", lifetime: .seconds(1))
        let revoked = try await accounts.makeAdminToken(named: "revoked")
        for token in try await accounts.tokens(.management) where token.name == "revoked" {
            _ = try await accounts.revoke(.management, token.id)
        }
        api.clock.advance(by: .seconds(1))
        let isDevelopment = container.environment == .development
        for (path, body, granted) in [
            (tokens.path("admin", "push/explain"), "", 200),
            (
                tokens.path("admin", "query/explain"),
                #"{"database":"public","request":{"query":{"recordType":"None"}}}"#, 404
            ),
            (tokens.path("admin", "keys/list"), "", 200),
            (tokens.path("admin", "keys/add"), "{}", 400),
            (tokens.path("admin", "keys/revoke"), #"{"keyID":"none"}"#, 404),
            ("/admin/1/clock", "", 200), ("/admin/1/faults", "", 200), ("/metrics", nil, 200),
            (tokens.path("admin", "schema/export"), "", 200),
            (tokens.path("admin", "schema/diff"), "", 200),
            (tokens.path("admin", "schema/history"), "", 200),
            (tokens.path("admin", "schema/check"), "", 200),
            (tokens.path("admin", "schema/deploy"), "", isDevelopment ? 400 : 200),
            (tokens.path("admin", "schema/reset"), "", isDevelopment ? 200 : 400),
            (tokens.path("admin", "schema/import"), "{}", 400),
            (tokens.path("admin", "schema/validate"), "{}", 400),
            (tokens.path("admin", "schema/index"), "{}", 400),
        ] {
            for (token, status) in [
                (nil, 401), ("unknown", 401), (expired, 401), (revoked, 401), (api.apiToken, 401),
                (api.webToken, 401), (metrics, path == "/metrics" ? granted : 401),
                (fresh, granted),
            ] {
                let headers = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
                for caller in AccessCaller.all {
                    let answer = try await api.send(
                        body == nil ? "GET" : "POST", path + tokens.query(of: caller), body ?? "",
                        headers: headers
                    )
                    #expect(answer.status == status, "\(path) for \(caller)")
                    if status == 401 { #expect(answer.error?.code == .authenticationFailed) }
                }
            }
        }
    }

    /// What a program gets that signs with a key of the container: what a user gets, but for the
    /// databases and endpoints that are closed to it (web-services 2.1).
    private static let closedToKeys: [String: ServerErrorCode] = [
        "database records/resolve": .accessDenied, "database records/accept": .accessDenied,
        "database records/requestAccess": .accessDenied,
        "database users/lookup/id": .authenticationFailed,
        "database users/lookup/email": .authenticationFailed,
        "database users/lookup/contacts": .authenticationFailed,
        "database users/discover": .authenticationFailed,
        "ext account/signIn": .accessDenied, "ext account/signOut": .accessDenied,
        "ext account/deviceCode": .accessDenied, "ext account/deviceToken": .accessDenied,
        "ext account/webToken": .accessDenied, "ext account/permission": .accessDenied,
    ]

    @Test(
        "A server-to-server key reaches the public database and its own pushes, and nothing else",
        arguments: containers)
    func serverKeys(container: ContainerKey) async throws {
        let api = try await TestAPI()
        let tokens = try await AccessTokens(api, in: container)
        let pair = try await TestKey(api, in: container)
        let elsewhere = try await TestKey(
            api, in: ContainerKey(container: "iCloud.org.example.other", environment: .development))
        for row in Self.rows {
            let method: HTTPRequest.Method =
                row.endpoint.route.methods.contains(.post) ? .post : .get
            let body = (Self.table[row.key]?.body ?? "").replacing("API", with: api.apiToken)
            for scope in row.scopes {
                let target = tokens.path(row.root, row.path(in: scope)) + "?clientId=server"
                let cell: Comment = "\(row.key) in \(scope) of \(container)"
                let strange = try await elsewhere.send(method, target, body)
                let isElsewhere = row.only.map { $0 != scope } ?? false
                #expect(
                    strange.error?.code == (isElsewhere ? .badRequest : .authenticationFailed), cell
                )
                var expected = Self.refusals[scope]?[row.key]
                if row.root == "database", scope != .public { expected = .accessDenied }
                if let closed = Self.closedToKeys[row.key], expected == nil { expected = closed }
                if isElsewhere { expected = .badRequest }
                let answer = try await pair.send(method, target, body)
                #expect(answer.error?.code == expected, cell)
                #expect((answer.status == 200) == (expected == nil), cell)
            }
        }
    }

    private func makeZone(_ tokens: AccessTokens) async throws {
        let answer = try await tokens.api.send(
            "POST",
            tokens.path("database", "private/zones/modify")
                + tokens.query(of: AccessCaller(page: .everywhere, user: .token(.everywhere))),
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}}]}"#
        )
        #expect(answer.status == 200)
    }

    private func body(of row: Row, for caller: AccessCaller, in api: TestAPI) -> String {
        // Without token and password the answer asks for them; a name alone makes no sense.
        if row.key == "ext account/signIn", caller.user == .none { return #"{"user":"anna"}"# }
        return (Self.table[row.key]?.body ?? "").replacing("API", with: api.apiToken)
    }

    private func text(_ response: WebResponse) async throws -> String {
        String(decoding: try await response.body.collect(), as: UTF8.self)
    }
}
