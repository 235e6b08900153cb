// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellServer
import TidebellWire

@testable import TidebellHTTP

/// The table role × request × database: who of those whom something is shared with, or was, or never,
/// may do what with it. Each row has a zone of its own, in which three records are shared: "list"
/// with people who were invited, "poster" with whoever has its URL, to read, and "board" likewise, to
/// write; and "secret" with nobody. Those who were invited ask for "list", the others for what they
/// joined.
@Suite("What roles may do", .hangs) struct RoleTableTests {
    /// What cells say: `ok` it is done; `seen` and `no`, whether a list has it; and errors: `zone` the
    /// zone does not exist, `gone` the record does not, `deny` and `auth` need other rights or a
    /// sign-in, `bad` cannot be asked there.
    private static let tables: [DatabaseScope: String] = [
        .shared: """
        request                      owner admin writer reader invited removed visitor guest stranger nobody
        zones/list                   no    seen  seen   seen   no      no      seen    seen  no       auth
        zones/lookup                 zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
        zones/modify create          bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        zones/modify delete          bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        zones/changes                no    seen  seen   seen   no      no      seen    seen  no       auth
        changes/database             no    seen  seen   seen   no      no      seen    seen  no       auth
        changes/zone                 zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
        records/changes              zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
        records/query                zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
        records/lookup               zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
        records/lookup share         zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
        records/lookup secret        zone  gone  gone   gone   zone    zone    gone    gone  zone     auth
        records/modify update        zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
        records/modify create        zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
        records/modify create top    zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
        records/modify secret        zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
        records/modify move out      zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
        records/modify delete        zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
        records/modify delete root   zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
        records/modify title         zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
        records/modify invite        zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
        records/modify open          zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
        records/modify share         zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
        records/modify leave         zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
        assets/upload                zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
        assets/rereference           zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
        assets/rereference secret    zone  gone  gone   deny   zone    zone    deny    gone  zone     auth
        subscriptions/list           ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        subscriptions/lookup         gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
        subscriptions/modify         ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        subscriptions/modify zone    bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        """,
        .private: """
        request                      owner admin writer reader invited removed visitor guest stranger nobody
        zones/list                   seen  no    no     no     no      no      no      no    no       auth
        zones/lookup                 ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        zones/modify create          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        zones/modify delete          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        zones/changes                seen  no    no     no     no      no      no      no    no       auth
        changes/database             seen  no    no     no     no      no      no      no    no       auth
        changes/zone                 seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/changes              seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/query                seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/lookup               ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/lookup share         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/lookup secret        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify update        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify create        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify create top    ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify secret        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify move out      ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify delete        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify delete root   ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify title         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify invite        ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify open          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify share         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify leave         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        assets/upload                ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        assets/rereference           ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        assets/rereference secret    ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        subscriptions/list           ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        subscriptions/lookup         gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
        subscriptions/modify         ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        subscriptions/modify zone    ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
        """,
        .public: """
        request                      owner admin writer reader invited removed visitor guest stranger nobody
        zones/list                   no    no    no     no     no      no      no      no    no       no
        zones/lookup                 zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
        zones/modify create          bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        zones/modify delete          bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        zones/changes                bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
        changes/database             bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
        changes/zone                 bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
        records/changes              bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
        records/query                zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
        records/lookup               zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
        records/lookup share         zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
        records/lookup secret        zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
        records/modify update        zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify create        zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify create top    zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify secret        zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify move out      zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify delete        zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify delete root   zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify title         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify invite        zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify open          zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify share         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/modify leave         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        records/resolve              ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
        records/resolve open         ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        records/accept               ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
        records/accept open          ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        assets/upload                zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        assets/rereference           zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        assets/rereference secret    zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
        subscriptions/list           ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
        subscriptions/lookup         gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
        subscriptions/modify         bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        subscriptions/modify zone    bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
        """,
    ]

    @Test(
        "SHARE-7, SHARE-9, SHARE-13, SHARE-14, SHARE-19: every role gets what it may, and no more",
        arguments: DatabaseScope.allCases)
    func cells(database: DatabaseScope) async throws {
        let scene = try await RoleScene()
        let lines = (Self.tables[database] ?? "").split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        let roles = try #require(lines.first?.dropFirst().map { Role(rawValue: $0) })
        for line in lines.dropFirst() {
            let expected = Array(line.suffix(roles.count))
            let request = line.dropLast(roles.count).joined(separator: " ")
            let zone = try await scene.makeZone(withFiles: request.hasPrefix("assets/rereference"))
            var found = expected
            // The owner comes last: nobody else finds what that ends.
            for (index, role) in roles.enumerated().reversed() {
                found[index] = try await scene.cell(
                    request, in: zone, database, as: try #require(role))
            }
            #expect(found == expected, "\(request) in the \(database) database")
        }
    }

    @Test("The table has every endpoint that touches records, zones, subscriptions or files")
    func rows() {
        let needed = Router.database.keys.map { $0.joined(separator: "/") }.filter { path in
            ["zones", "records", "changes", "subscriptions", "assets"].contains {
                path.hasPrefix("\($0)/")
            }
        }
        let onlyPublic: Set = ["records/resolve", "records/accept"]
        for database in DatabaseScope.allCases {
            let listed = Set(
                (Self.tables[database] ?? "").split(separator: "\n").dropFirst()
                    .compactMap { $0.split(separator: " ").first.map(String.init) })
            let expected = Set(needed).subtracting(database == .public ? [] : onlyPublic)
                .union(database == .public ? onlyPublic : [])
            #expect(listed == expected, "\(database)")
        }
    }
}

/// What somebody is to the zone.
private enum Role: String, CaseIterable {
    case owner, admin, writer, reader
    /// Was invited and did not accept yet.
    case invited
    /// Accepted, and was removed.
    case removed
    /// Joined by the URL of what is open to read.
    case visitor
    /// Joined by the URL of what is open to write.
    case guest
    /// Is signed in, and has nothing to do with the zone.
    case stranger
    /// Is not signed in.
    case nobody

    /// The root of the share that they ask for.
    var root: String {
        switch self {
        case .visitor: "poster"
        case .guest: "board"
        default: "list"
        }
    }

    /// What they were invited as.
    var invitation: String? {
        switch self {
        case .admin: #""permission":"READ_WRITE","type":"ADMINISTRATOR""#
        case .writer, .invited, .removed: #""permission":"READ_WRITE""#
        case .reader: #""permission":"READ_ONLY""#
        default: nil
        }
    }
}

/// People of all roles in one cloud.
private final class RoleScene {
    /// A zone in which something is shared.
    struct Zone {
        var name: String
        /// The last parts of the URLs of its shares, by their roots.
        var guids: [String: String] = [:]
    }

    private let api: TestAPI
    private var tokens: [Role: String] = [:]
    private var names: [Role: String] = [:]
    private var zones = 0

    init() async throws {
        api = try await TestAPI()
        tokens[.owner] = api.webToken
        names[.owner] = api.user
        for role in Role.allCases where role != .owner && role != .nobody {
            _ = try await api.cloud.accounts.add(named: role.rawValue)
            let token = try await api.cloud.accounts.makeWebToken(for: role.rawValue)
            tokens[role] = token
            let caller = try await api.send(
                "GET",
                TestAPI.target("public/users/caller", apiToken: api.apiToken, webToken: token))
            names[role] = try JSONReader.read(Array(caller.text.utf8)) {
                try CallerResponse(from: &$0)
            }.userRecordName
        }
    }

    /// Calls an endpoint of a database.
    private func send(
        _ path: String, _ body: String, as role: Role
    ) async throws -> TestAPI.Answer {
        var target =
            "/database/1/\(TestAPI.container)/development/\(path)?ckAPIToken=\(api.apiToken)"
        if let token = tokens[role] { target += "&ckWebAuthToken=\(token)" }
        return try await api.send("POST", target, body)
    }

    /// Does what must work.
    @discardableResult
    private func done(_ path: String, _ body: String, as role: Role) async throws -> String {
        let answer = try await send(path, body, as: role)
        #expect(!answer.text.contains("serverErrorCode"), "\(path) as \(role): \(answer.text)")
        return answer.text
    }

    private func zoneID(_ zone: Zone) -> String {
        #""zoneID":{"zoneName":"\#(zone.name)","ownerRecordName":"\#(names[.owner] ?? "")"}"#
    }

    private func modify(_ operations: String..., in zone: Zone) -> String {
        "{\(zoneID(zone)),\"operations\":[\(operations.joined(separator: ","))]}"
    }

    private func save(_ name: String, parent: String? = nil, file: String? = nil) -> String {
        let fields = file.map { #""file":{"value":\#($0)}"# } ?? ""
        let above = parent.map { #","parent":{"recordName":"\#($0)"}"# } ?? ""
        return """
            {"operationType":"forceUpdate","record":{"recordName":"\(name)","recordType":"Item",\
            "fields":{\(fields)}\(above)}}
            """
    }

    private func share(
        _ root: String, type: String = "create", tag: String = "", _ content: String
    ) -> String {
        let tagged = type == "create" ? "" : #""recordChangeTag":"\#(tag)","#
        let about = type == "create" ? #""forRecord":{"recordName":"\#(root)"},"# : ""
        return """
            {"operationType":"\(type)","record":{"recordName":"share-\(root)",\(tagged)\(about)\
            "recordType":"cloudkit.share",\(content)}}
            """
    }

    private func delete(_ name: String) -> String {
        #"{"operationType":"forceDelete","record":{"recordName":"\#(name)"}}"#
    }

    private func participants(_ roles: [Role]) -> String {
        let list = roles.map { role in
            """
            {"userIdentity":{"lookupInfo":{"userRecordName":"\(names[role] ?? "")"}},\
            \(role.invitation ?? #""permission":"READ_ONLY""#)}
            """
        }
        return #""participants":[\#(list.joined(separator: ","))]"#
    }

    // MARK: Zones

    /// Makes a zone, shares what is in it, and has everybody join who is to.
    func makeZone(withFiles: Bool) async throws -> Zone {
        zones += 1
        var zone = Zone(name: "zone-\(zones)")
        try await api.makeZone(zone.name)
        for name in ["list", "poster", "board", "secret"] {
            let file = withFiles ? try await upload(for: name, in: zone) : nil
            try await done(
                "private/records/modify", modify(save(name, file: file), in: zone), as: .owner)
        }
        for name in ["list", "poster", "board"] {
            // Everybody deletes a record of their own.
            let children = Role.allCases.filter { $0.root == name || $0 == .owner }.map {
                save("\(name)-\($0)", parent: name)
            }
            try await done(
                "private/records/modify",
                modify(children.joined(separator: ","), in: zone), as: .owner)
        }
        let invited = Role.allCases.filter { $0.invitation != nil }
        try await done(
            "private/records/modify",
            modify(
                share("list", participants(invited)),
                share("poster", #""publicPermission":"READ_ONLY""#),
                share("board", #""publicPermission":"READ_WRITE""#), in: zone),
            as: .owner)
        for root in ["list", "poster", "board"] {
            let text = try await done(
                "private/records/lookup",
                #"{\#(zoneID(zone)),"records":[{"recordName":"share-\#(root)"}]}"#, as: .owner)
            zone.guids[root] = String(try #require(text.firstMatch(of: /"shortGUID":"([^"]+)"/)).1)
        }
        for role in [Role.admin, .writer, .reader, .removed, .visitor, .guest] {
            try await done("public/records/accept", guids(zone, role.root), as: role)
        }
        let tag = try await tag("share-list", in: zone, "private", as: .owner)
        try await done(
            "private/records/modify",
            modify(
                share(
                    "list", type: "update", tag: tag,
                    participants(invited.filter { $0 != .removed })), in: zone),
            as: .owner)
        _ = try await api.cloud.pipeline.drain()
        return zone
    }

    private func upload(for name: String, in zone: Zone) async throws -> String {
        let text = try await done(
            "private/assets/upload",
            """
            {\(zoneID(zone)),"tokens":[{"recordName":"\(name)","recordType":"Item",\
            "fieldName":"file"}]}
            """, as: .owner)
        let path = try #require(text.firstMatch(of: /\/assets\/1\/upload\/[^"]+/)).0
        let answer = try await api.send("POST", String(path), "bytes of \(name)")
        return String(try #require(answer.text.firstMatch(of: /"singleFile":(\{.*\})\}$/)).1)
    }

    private func guids(_ zone: Zone, _ root: String) -> String {
        #"{"shortGUIDs":[{"value":"\#(zone.guids[root] ?? "")"}]}"#
    }

    private func tag(
        _ name: String, in zone: Zone, _ database: String, as role: Role
    ) async throws -> String {
        let answer = try await send(
            "\(database)/records/lookup",
            #"{\#(zoneID(zone)),"records":[{"recordName":"\#(name)"}]}"#, as: role)
        // Whoever does not see it guesses.
        return answer.text.firstMatch(of: /"recordChangeTag":"([^"]+)"/).map { String($0.1) } ?? "1"
    }

    // MARK: Cells

    /// What a request comes to for a role.
    func cell(
        _ request: String, in zone: Zone, _ database: DatabaseScope, as role: Role
    ) async throws -> String {
        let path = String(request.prefix { $0 != " " })
        let body = try await body(of: request, in: zone, database, as: role)
        let answer = try await send("\(database.rawValue)/\(path)", body, as: role)
        if let code = answer.text.firstMatch(of: /"serverErrorCode":"([A-Z_]+)"/) {
            return switch code.1 {
            case "ZONE_NOT_FOUND": "zone"
            case "NOT_FOUND": "gone"
            case "ACCESS_DENIED": "deny"
            case "AUTHENTICATION_REQUIRED": "auth"
            case "BAD_REQUEST": "bad"
            case let other: String(other)
            }
        }
        #expect(answer.status == 200, "\(request) in \(database) as \(role): \(answer.text)")
        let wanted: String
        switch path {
        case "zones/list", "zones/changes", "changes/database": wanted = zone.name
        case "changes/zone", "records/changes", "records/query": wanted = role.root
        default: return "ok"
        }
        let others = ["list", "poster", "board", "secret"].filter { $0 != role.root }
        for other in others where role != .owner {
            #expect(
                !answer.text.contains(#""recordName":"\#(other)""#),
                "\(request) in \(database) shows \(role) '\(other)'")
        }
        return answer.text.contains("\"\(wanted)\"") ? "seen" : "no"
    }

    private func body(
        of request: String, in zone: Zone, _ database: DatabaseScope, as role: Role
    ) async throws -> String {
        let root = role.root
        func looking(for name: String) -> String {
            #"{\#(zoneID(zone)),"records":[{"recordName":"\#(name)"}]}"#
        }
        func rereferring(to name: String) -> String {
            #"{\#(zoneID(zone)),"assets":[{"recordName":"\#(name)","fieldName":"file"}]}"#
        }
        func changing(_ content: String) async throws -> String {
            let tag = try await tag("share-\(root)", in: zone, database.rawValue, as: role)
            // Whoever does not see the share cannot name its version; that they may not change it
            // is what they are told then.
            return modify(share(root, type: "update", tag: tag, content), in: zone)
        }
        switch request {
        case "zones/list", "zones/changes", "changes/database", "subscriptions/list": return "{}"
        case "zones/lookup": return #"{"zones":[{\#(zoneID(zone).dropFirst(10).dropLast())}]}"#
        case "zones/modify create", "zones/modify delete":
            let type = request.hasSuffix("create") ? "create" : "delete"
            return #"{"operations":[{"operationType":"\#(type)","zone":{\#(zoneID(zone))}}]}"#
        case "changes/zone": return #"{"zones":[{\#(zoneID(zone))}]}"#
        case "records/changes": return "{\(zoneID(zone))}"
        case "records/query": return #"{\#(zoneID(zone)),"query":{"recordType":"Item"}}"#
        case "records/lookup": return looking(for: root)
        case "records/lookup share": return looking(for: "share-\(root)")
        case "records/lookup secret": return looking(for: "secret")
        case "records/modify update": return modify(save(root), in: zone)
        case "records/modify create":
            return modify(save("new-\(role)", parent: root), in: zone)
        case "records/modify create top": return modify(save("top-\(role)"), in: zone)
        case "records/modify secret": return modify(save("secret"), in: zone)
        case "records/modify move out":
            return modify(
                """
                {"operationType":"forceUpdate","record":{"recordName":"\(root)-\(role)",\
                "recordType":"Item","fields":{},"parent":null}}
                """, in: zone)
        case "records/modify delete": return modify(delete("\(root)-\(role)"), in: zone)
        case "records/modify delete root":
            // A root goes with its children.
            let children = Role.allCases.filter { $0.root == root || $0 == .owner }
            guard role == .owner else { return modify(delete(root), in: zone) }
            return modify(
                (children.map { "\(root)-\($0)" } + [root]).map { delete($0) }
                    .joined(separator: ","), in: zone)
        case "records/modify title":
            return try await changing(#""fields":{"cloudkit.title":{"value":"Ours"}}"#)
        case "records/modify invite":
            let kept: [Role] = [.admin, .writer, .reader, .invited, .stranger]
            return try await changing(participants(kept))
        case "records/modify open":
            return try await changing(#""publicPermission":"READ_ONLY""#)
        case "records/modify share":
            return modify(share("secret", participants([.stranger])), in: zone)
        case "records/modify leave": return modify(delete("share-\(root)"), in: zone)
        case "records/resolve", "records/accept": return guids(zone, root)
        case "records/resolve open", "records/accept open": return guids(zone, "poster")
        case "assets/upload":
            return """
                {\(zoneID(zone)),"tokens":[{"recordName":"\(root)","recordType":"Item",\
                "fieldName":"file"}]}
                """
        case "assets/rereference": return rereferring(to: root)
        case "assets/rereference secret": return rereferring(to: "secret")
        case "subscriptions/lookup":
            return #"{"subscriptions":[{"subscriptionID":"none"}]}"#
        case "subscriptions/modify":
            return """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":"all",\
                "subscriptionType":"database",\
                "notificationInfo":{"shouldSendContentAvailable":true}}}]}
                """
        case "subscriptions/modify zone":
            return """
                {"operations":[{"operationType":"create","subscription":{"subscriptionID":\
                "\(zone.name)","subscriptionType":"zone",\(zoneID(zone)),\
                "notificationInfo":{"shouldSendContentAvailable":true}}}]}
                """
        default:
            Issue.record("no request '\(request)'")
            return "{}"
        }
    }
}
