// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellWire

@testable import TidebellHTTP

/// The table role × request × database: who of those whom something is shared with, or was, or never,
/// may do what with it, where records below a root are shared and where a zone is as a whole
/// (``RoleScene``). Each row has a zone, or zones, of its own; who was invited asks for the list, others
/// for what they joined. Nobody sees "secret", a record that is below no root.
@Suite("What roles may do", .hangs) struct RoleTableTests {
    @Test(
        "SHARE-3, SHARE-7, SHARE-9, SHARE-13, SHARE-14, SHARE-19 to 21: every role gets what it may, and no more",
        arguments: RoleTable.all)
    func cells(table: RoleTable) async throws {
        let scene = try await RoleScene(isZoneWide: table.isZoneWide)
        for row in table.rows {
            let place = try await scene.makePlace(
                withFiles: row.request.hasPrefix("assets/rereference"))
            var found = row.cells
            // The owner comes last: nobody else finds what that ends.
            for (index, role) in table.roles.enumerated().reversed() {
                found[index] = try await scene.cell(
                    row.request, in: place, table.database, as: role)
            }
            #expect(found == row.cells, "\(table): \(row.request)")
            guard row.request.hasPrefix("records/requestAccess") else { continue }
            // Whoever is blocked does not learn of it, and the owner does not hear of them.
            var asked: Set<Role> = [.asking]
            if !row.request.hasSuffix("open") { asked.formUnion([.removed, .stranger]) }
            if row.request.hasSuffix("plain") { asked.insert(.holder) }
            #expect(
                try await scene.requesters(in: place)
                    == asked.filter { table.roles.contains($0) || $0 == .asking },
                "\(table): \(row.request)")
        }
    }

    @Test("The tables have all roles, and every endpoint that touches what is shared, or users")
    func rows() {
        for isZoneWide in [false, true] {
            for database in DatabaseScope.allCases {
                let tables = RoleTable.all.filter {
                    $0.isZoneWide == isZoneWide && $0.database == database
                }
                #expect(tables.flatMap(\.roles).count == Role.allCases.count)
                #expect(Set(tables.flatMap(\.roles)) == Set(Role.allCases))
                let paths =
                    Array(Router.database.keys)
                    + (database == .public ? Array(Router.publicDatabase.keys) : [])
                let needed = paths.map { $0.joined(separator: "/") }.filter { path in
                    ["zones", "records", "changes", "subscriptions", "assets", "users"].contains {
                        path.hasPrefix("\($0)/")
                    }
                }
                for table in tables {
                    let listed = table.rows.map { $0.request.prefix { $0 != " " } }
                    #expect(Set(listed.map(String.init)) == Set(needed), "\(table)")
                }
            }
        }
    }
}

/// Some roles and all requests in one database. What cells say: `ok` it is done; `seen` and `no`,
/// whether a list has it; and errors: `zone` the zone does not exist, `gone` the record, share or user
/// does not, `deny` and `auth` need other rights or a sign-in, `bad` cannot be asked there, `wait` they
/// have an invitation to accept first. With `plain` whoever has a one-time URL comes by the share's own,
/// with `open` everybody by that of what is open.
struct RoleTable: CustomTestStringConvertible, Sendable {
    struct Row {
        var request: String
        var cells: [String]
    }

    let isZoneWide: Bool
    let database: DatabaseScope
    let roles: [Role]
    let rows: [Row]

    private init(_ isZoneWide: Bool, _ database: DatabaseScope, _ text: String) {
        self.isZoneWide = isZoneWide
        self.database = database
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let roles = (lines.first ?? []).dropFirst().compactMap(Role.init(rawValue:))
        self.roles = roles
        rows = lines.dropFirst().map { line in
            Row(
                request: line.dropLast(roles.count).joined(separator: " "),
                cells: line.suffix(roles.count))
        }
    }

    var testDescription: String {
        "\(isZoneWide ? "zone" : "hierarchy") \(database) \(roles.first.map { "\($0)" } ?? "")"
    }

    static let all = [
        RoleTable(
            false, .shared,
            """
            request                       owner admin writer reader invited removed visitor guest stranger nobody
            zones/list                    no    seen  seen   seen   no      no      seen    seen  no       auth
            zones/lookup                  zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
            zones/modify create           bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            zones/modify delete           bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            zones/changes                 no    seen  seen   seen   no      no      seen    seen  no       auth
            changes/database              no    seen  seen   seen   no      no      seen    seen  no       auth
            changes/zone                  zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
            records/changes               zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
            records/query                 zone  seen  seen   seen   zone    zone    seen    seen  zone     auth
            records/lookup                zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
            records/lookup share          zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
            records/lookup secret         zone  gone  gone   gone   zone    zone    gone    gone  zone     auth
            records/modify update         zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
            records/modify create         zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
            records/modify create top     zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
            records/modify secret         zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
            records/modify move out       zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
            records/modify delete         zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
            records/modify delete root    zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
            records/modify title          zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
            records/modify invite         zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
            records/modify answer         zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
            records/modify open           zone  ok    deny   deny   zone    zone    deny    deny  zone     auth
            records/modify share          zone  deny  deny   deny   zone    zone    deny    deny  zone     auth
            records/modify leave          zone  ok    ok     ok     zone    zone    ok      ok    zone     auth
            assets/upload                 zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
            assets/rereference            zone  ok    ok     deny   zone    zone    deny    ok    zone     auth
            assets/rereference secret     zone  gone  gone   deny   zone    zone    deny    gone  zone     auth
            subscriptions/list            ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            subscriptions/lookup          gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
            subscriptions/modify          ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            subscriptions/modify zone     bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            """),
        RoleTable(
            false, .private,
            """
            request                       owner admin writer reader invited removed visitor guest stranger nobody
            zones/list                    seen  no    no     no     no      no      no      no    no       auth
            zones/lookup                  ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            zones/modify create           ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            zones/modify delete           ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            zones/changes                 seen  no    no     no     no      no      no      no    no       auth
            changes/database              seen  no    no     no     no      no      no      no    no       auth
            changes/zone                  seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/changes               seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/query                 seen  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/lookup                ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/lookup share          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/lookup secret         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify update         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify create         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify create top     ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify secret         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify move out       ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify delete         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify delete root    ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify title          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify invite         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify answer         ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify open           ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify share          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify leave          ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            assets/upload                 ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            assets/rereference            ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            assets/rereference secret     ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            subscriptions/list            ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            subscriptions/lookup          gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
            subscriptions/modify          ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            subscriptions/modify zone     ok    zone  zone   zone   zone    zone    zone    zone  zone     auth
            """),
        RoleTable(
            false, .public,
            """
            request                       owner admin writer reader invited removed visitor guest stranger nobody
            zones/list                    no    no    no     no     no      no      no      no    no       no
            zones/lookup                  zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
            zones/modify create           bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            zones/modify delete           bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            zones/changes                 bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
            changes/database              bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
            changes/zone                  bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
            records/changes               bad   bad   bad    bad    bad     bad     bad     bad   bad      bad
            records/query                 zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
            records/lookup                zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
            records/lookup share          zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
            records/lookup secret         zone  zone  zone   zone   zone    zone    zone    zone  zone     zone
            records/modify update         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify create         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify create top     zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify secret         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify move out       zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify delete         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify delete root    zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify title          zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify invite         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify answer         zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify open           zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify share          zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/modify leave          zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            records/resolve               ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
            records/resolve plain         ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
            records/resolve open          ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            records/accept                ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
            records/accept plain          ok    ok    ok     ok     ok      gone    ok      ok    gone     auth
            records/accept open           ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            records/requestAccess         ok    ok    ok     ok     wait    ok      ok      ok    ok       auth
            records/requestAccess plain   ok    ok    ok     ok     wait    ok      ok      ok    ok       auth
            records/requestAccess open    ok    bad   bad    bad    bad     bad     ok      bad   bad      auth
            assets/upload                 zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            assets/rereference            zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            assets/rereference secret     zone  zone  zone   zone   zone    zone    zone    zone  zone     auth
            subscriptions/list            ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            subscriptions/lookup          gone  gone  gone   gone   gone    gone    gone    gone  gone     auth
            subscriptions/modify          bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            subscriptions/modify zone     bad   bad   bad    bad    bad     bad     bad     bad   bad      auth
            users/caller                  ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            users/current                 ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            users/lookup/id               seen  seen  seen   seen   seen    seen    seen    seen  seen     auth
            users/lookup/email            no    no    no     no     no      no      no      no    no       auth
            users/lookup/contacts         ok    ok    ok     ok     ok      ok      ok      ok    ok       auth
            users/discover                no    no    no     no     no      no      no      no    no       auth
            """),
        RoleTable(
            false, .shared,
            """
            request                       viewer joined holder asking blocked
            zones/list                    seen   seen   no     no     no
            zones/lookup                  ok     ok     zone   zone   zone
            zones/modify create           bad    bad    bad    bad    bad
            zones/modify delete           bad    bad    bad    bad    bad
            zones/changes                 seen   seen   no     no     no
            changes/database              seen   seen   no     no     no
            changes/zone                  seen   seen   zone   zone   zone
            records/changes               seen   seen   zone   zone   zone
            records/query                 seen   seen   zone   zone   zone
            records/lookup                ok     ok     zone   zone   zone
            records/lookup share          ok     ok     zone   zone   zone
            records/lookup secret         gone   gone   zone   zone   zone
            records/modify update         deny   ok     zone   zone   zone
            records/modify create         deny   ok     zone   zone   zone
            records/modify create top     deny   deny   zone   zone   zone
            records/modify secret         deny   deny   zone   zone   zone
            records/modify move out       deny   deny   zone   zone   zone
            records/modify delete         deny   ok     zone   zone   zone
            records/modify delete root    deny   deny   zone   zone   zone
            records/modify title          ok     deny   zone   zone   zone
            records/modify invite         ok     deny   zone   zone   zone
            records/modify answer         ok     deny   zone   zone   zone
            records/modify open           ok     deny   zone   zone   zone
            records/modify share          deny   deny   zone   zone   zone
            records/modify leave          ok     ok     zone   zone   zone
            assets/upload                 deny   ok     zone   zone   zone
            assets/rereference            deny   ok     zone   zone   zone
            assets/rereference secret     deny   gone   zone   zone   zone
            subscriptions/list            ok     ok     ok     ok     ok
            subscriptions/lookup          gone   gone   gone   gone   gone
            subscriptions/modify          ok     ok     ok     ok     ok
            subscriptions/modify zone     bad    bad    bad    bad    bad
            """),
        RoleTable(
            false, .private,
            """
            request                       viewer joined holder asking blocked
            zones/list                    no     no     no     no     no
            zones/lookup                  zone   zone   zone   zone   zone
            zones/modify create           zone   zone   zone   zone   zone
            zones/modify delete           zone   zone   zone   zone   zone
            zones/changes                 no     no     no     no     no
            changes/database              no     no     no     no     no
            changes/zone                  zone   zone   zone   zone   zone
            records/changes               zone   zone   zone   zone   zone
            records/query                 zone   zone   zone   zone   zone
            records/lookup                zone   zone   zone   zone   zone
            records/lookup share          zone   zone   zone   zone   zone
            records/lookup secret         zone   zone   zone   zone   zone
            records/modify update         zone   zone   zone   zone   zone
            records/modify create         zone   zone   zone   zone   zone
            records/modify create top     zone   zone   zone   zone   zone
            records/modify secret         zone   zone   zone   zone   zone
            records/modify move out       zone   zone   zone   zone   zone
            records/modify delete         zone   zone   zone   zone   zone
            records/modify delete root    zone   zone   zone   zone   zone
            records/modify title          zone   zone   zone   zone   zone
            records/modify invite         zone   zone   zone   zone   zone
            records/modify answer         zone   zone   zone   zone   zone
            records/modify open           zone   zone   zone   zone   zone
            records/modify share          zone   zone   zone   zone   zone
            records/modify leave          zone   zone   zone   zone   zone
            assets/upload                 zone   zone   zone   zone   zone
            assets/rereference            zone   zone   zone   zone   zone
            assets/rereference secret     zone   zone   zone   zone   zone
            subscriptions/list            ok     ok     ok     ok     ok
            subscriptions/lookup          gone   gone   gone   gone   gone
            subscriptions/modify          ok     ok     ok     ok     ok
            subscriptions/modify zone     zone   zone   zone   zone   zone
            """),
        RoleTable(
            false, .public,
            """
            request                       viewer joined holder asking blocked
            zones/list                    no     no     no     no     no
            zones/lookup                  zone   zone   zone   zone   zone
            zones/modify create           bad    bad    bad    bad    bad
            zones/modify delete           bad    bad    bad    bad    bad
            zones/changes                 bad    bad    bad    bad    bad
            changes/database              bad    bad    bad    bad    bad
            changes/zone                  bad    bad    bad    bad    bad
            records/changes               bad    bad    bad    bad    bad
            records/query                 zone   zone   zone   zone   zone
            records/lookup                zone   zone   zone   zone   zone
            records/lookup share          zone   zone   zone   zone   zone
            records/lookup secret         zone   zone   zone   zone   zone
            records/modify update         zone   zone   zone   zone   zone
            records/modify create         zone   zone   zone   zone   zone
            records/modify create top     zone   zone   zone   zone   zone
            records/modify secret         zone   zone   zone   zone   zone
            records/modify move out       zone   zone   zone   zone   zone
            records/modify delete         zone   zone   zone   zone   zone
            records/modify delete root    zone   zone   zone   zone   zone
            records/modify title          zone   zone   zone   zone   zone
            records/modify invite         zone   zone   zone   zone   zone
            records/modify answer         zone   zone   zone   zone   zone
            records/modify open           zone   zone   zone   zone   zone
            records/modify share          zone   zone   zone   zone   zone
            records/modify leave          zone   zone   zone   zone   zone
            records/resolve               ok     ok     ok     gone   gone
            records/resolve plain         ok     ok     gone   gone   gone
            records/resolve open          ok     ok     ok     ok     ok
            records/accept                ok     ok     ok     gone   gone
            records/accept plain          ok     ok     gone   gone   gone
            records/accept open           ok     ok     ok     ok     ok
            records/requestAccess         ok     ok     wait   ok     ok
            records/requestAccess plain   ok     ok     ok     ok     ok
            records/requestAccess open    bad    bad    bad    bad    bad
            assets/upload                 zone   zone   zone   zone   zone
            assets/rereference            zone   zone   zone   zone   zone
            assets/rereference secret     zone   zone   zone   zone   zone
            subscriptions/list            ok     ok     ok     ok     ok
            subscriptions/lookup          gone   gone   gone   gone   gone
            subscriptions/modify          bad    bad    bad    bad    bad
            subscriptions/modify zone     bad    bad    bad    bad    bad
            users/caller                  ok     ok     ok     ok     ok
            users/current                 ok     ok     ok     ok     ok
            users/lookup/id               seen   seen   seen   seen   seen
            users/lookup/email            no     no     no     no     no
            users/lookup/contacts         ok     ok     ok     ok     ok
            users/discover                no     no     no     no     no
            """),
        RoleTable(
            true, .shared,
            """
            request                       owner admin writer joined guest viewer reader visitor
            zones/list                    no    seen  seen   seen   seen  seen   seen   seen
            zones/lookup                  zone  ok    ok     ok     ok    ok     ok     ok
            zones/modify create           bad   bad   bad    bad    bad   bad    bad    bad
            zones/modify delete           bad   bad   bad    bad    bad   bad    bad    bad
            zones/changes                 no    seen  seen   seen   seen  seen   seen   seen
            changes/database              no    seen  seen   seen   seen  seen   seen   seen
            changes/zone                  zone  seen  seen   seen   seen  seen   seen   seen
            records/changes               zone  seen  seen   seen   seen  seen   seen   seen
            records/query                 zone  seen  seen   seen   seen  seen   seen   seen
            records/lookup                zone  ok    ok     ok     ok    ok     ok     ok
            records/lookup share          zone  ok    ok     ok     ok    ok     ok     ok
            records/lookup secret         zone  ok    ok     ok     ok    ok     ok     ok
            records/modify update         zone  ok    ok     ok     ok    deny   deny   deny
            records/modify create         zone  ok    ok     ok     ok    deny   deny   deny
            records/modify create top     zone  ok    ok     ok     ok    deny   deny   deny
            records/modify secret         zone  ok    ok     ok     ok    deny   deny   deny
            records/modify move out       zone  ok    ok     ok     ok    deny   deny   deny
            records/modify delete         zone  ok    ok     ok     ok    deny   deny   deny
            records/modify delete root    zone  ok    ok     ok     ok    deny   deny   deny
            records/modify title          zone  ok    deny   deny   deny  ok     deny   deny
            records/modify invite         zone  ok    deny   deny   deny  ok     deny   deny
            records/modify answer         zone  ok    deny   deny   deny  ok     deny   deny
            records/modify open           zone  ok    deny   deny   deny  ok     deny   deny
            records/modify share          zone  bad   bad    bad    bad   bad    bad    bad
            records/modify leave          zone  ok    ok     ok     ok    ok     ok     ok
            assets/upload                 zone  ok    ok     ok     ok    deny   deny   deny
            assets/rereference            zone  ok    ok     ok     ok    deny   deny   deny
            assets/rereference secret     zone  ok    ok     ok     ok    deny   deny   deny
            subscriptions/list            ok    ok    ok     ok     ok    ok     ok     ok
            subscriptions/lookup          gone  gone  gone   gone   gone  gone   gone   gone
            subscriptions/modify          ok    ok    ok     ok     ok    ok     ok     ok
            subscriptions/modify zone     bad   bad   bad    bad    bad   bad    bad    bad
            """),
        RoleTable(
            true, .private,
            """
            request                       owner admin writer joined guest viewer reader visitor
            zones/list                    seen  no    no     no     no    no     no     no
            zones/lookup                  ok    zone  zone   zone   zone  zone   zone   zone
            zones/modify create           ok    zone  zone   zone   zone  zone   zone   zone
            zones/modify delete           ok    zone  zone   zone   zone  zone   zone   zone
            zones/changes                 seen  no    no     no     no    no     no     no
            changes/database              seen  no    no     no     no    no     no     no
            changes/zone                  seen  zone  zone   zone   zone  zone   zone   zone
            records/changes               seen  zone  zone   zone   zone  zone   zone   zone
            records/query                 seen  zone  zone   zone   zone  zone   zone   zone
            records/lookup                ok    zone  zone   zone   zone  zone   zone   zone
            records/lookup share          ok    zone  zone   zone   zone  zone   zone   zone
            records/lookup secret         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify update         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify create         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify create top     ok    zone  zone   zone   zone  zone   zone   zone
            records/modify secret         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify move out       ok    zone  zone   zone   zone  zone   zone   zone
            records/modify delete         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify delete root    ok    zone  zone   zone   zone  zone   zone   zone
            records/modify title          ok    zone  zone   zone   zone  zone   zone   zone
            records/modify invite         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify answer         ok    zone  zone   zone   zone  zone   zone   zone
            records/modify open           ok    zone  zone   zone   zone  zone   zone   zone
            records/modify share          bad   zone  zone   zone   zone  zone   zone   zone
            records/modify leave          ok    zone  zone   zone   zone  zone   zone   zone
            assets/upload                 ok    zone  zone   zone   zone  zone   zone   zone
            assets/rereference            ok    zone  zone   zone   zone  zone   zone   zone
            assets/rereference secret     ok    zone  zone   zone   zone  zone   zone   zone
            subscriptions/list            ok    ok    ok     ok     ok    ok     ok     ok
            subscriptions/lookup          gone  gone  gone   gone   gone  gone   gone   gone
            subscriptions/modify          ok    ok    ok     ok     ok    ok     ok     ok
            subscriptions/modify zone     ok    zone  zone   zone   zone  zone   zone   zone
            """),
        RoleTable(
            true, .public,
            """
            request                       owner admin writer joined guest viewer reader visitor
            zones/list                    no    no    no     no     no    no     no     no
            zones/lookup                  zone  zone  zone   zone   zone  zone   zone   zone
            zones/modify create           bad   bad   bad    bad    bad   bad    bad    bad
            zones/modify delete           bad   bad   bad    bad    bad   bad    bad    bad
            zones/changes                 bad   bad   bad    bad    bad   bad    bad    bad
            changes/database              bad   bad   bad    bad    bad   bad    bad    bad
            changes/zone                  bad   bad   bad    bad    bad   bad    bad    bad
            records/changes               bad   bad   bad    bad    bad   bad    bad    bad
            records/query                 zone  zone  zone   zone   zone  zone   zone   zone
            records/lookup                zone  zone  zone   zone   zone  zone   zone   zone
            records/lookup share          zone  zone  zone   zone   zone  zone   zone   zone
            records/lookup secret         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify update         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify create         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify create top     zone  zone  zone   zone   zone  zone   zone   zone
            records/modify secret         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify move out       zone  zone  zone   zone   zone  zone   zone   zone
            records/modify delete         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify delete root    zone  zone  zone   zone   zone  zone   zone   zone
            records/modify title          zone  zone  zone   zone   zone  zone   zone   zone
            records/modify invite         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify answer         zone  zone  zone   zone   zone  zone   zone   zone
            records/modify open           zone  zone  zone   zone   zone  zone   zone   zone
            records/modify share          zone  zone  zone   zone   zone  zone   zone   zone
            records/modify leave          zone  zone  zone   zone   zone  zone   zone   zone
            records/resolve               ok    ok    ok     ok     ok    ok     ok     ok
            records/resolve plain         ok    ok    ok     ok     ok    ok     ok     ok
            records/resolve open          ok    ok    ok     ok     ok    ok     ok     ok
            records/accept                ok    ok    ok     ok     ok    ok     ok     ok
            records/accept plain          ok    ok    ok     ok     ok    ok     ok     ok
            records/accept open           ok    ok    ok     ok     ok    ok     ok     ok
            records/requestAccess         ok    ok    ok     ok     ok    ok     ok     ok
            records/requestAccess plain   ok    ok    ok     ok     ok    ok     ok     ok
            records/requestAccess open    ok    bad   bad    bad    bad   bad    bad    ok
            assets/upload                 zone  zone  zone   zone   zone  zone   zone   zone
            assets/rereference            zone  zone  zone   zone   zone  zone   zone   zone
            assets/rereference secret     zone  zone  zone   zone   zone  zone   zone   zone
            subscriptions/list            ok    ok    ok     ok     ok    ok     ok     ok
            subscriptions/lookup          gone  gone  gone   gone   gone  gone   gone   gone
            subscriptions/modify          bad   bad   bad    bad    bad   bad    bad    bad
            subscriptions/modify zone     bad   bad   bad    bad    bad   bad    bad    bad
            users/caller                  ok    ok    ok     ok     ok    ok     ok     ok
            users/current                 ok    ok    ok     ok     ok    ok     ok     ok
            users/lookup/id               seen  seen  seen   seen   seen  seen   seen   seen
            users/lookup/email            no    no    no     no     no    no     no     no
            users/lookup/contacts         ok    ok    ok     ok     ok    ok     ok     ok
            users/discover                no    no    no     no     no    no     no     no
            """),
        RoleTable(
            true, .shared,
            """
            request                       invited holder asking removed blocked stranger nobody
            zones/list                    no      no     no     no      no      no       auth
            zones/lookup                  zone    zone   zone   zone    zone    zone     auth
            zones/modify create           bad     bad    bad    bad     bad     bad      auth
            zones/modify delete           bad     bad    bad    bad     bad     bad      auth
            zones/changes                 no      no     no     no      no      no       auth
            changes/database              no      no     no     no      no      no       auth
            changes/zone                  zone    zone   zone   zone    zone    zone     auth
            records/changes               zone    zone   zone   zone    zone    zone     auth
            records/query                 zone    zone   zone   zone    zone    zone     auth
            records/lookup                zone    zone   zone   zone    zone    zone     auth
            records/lookup share          zone    zone   zone   zone    zone    zone     auth
            records/lookup secret         zone    zone   zone   zone    zone    zone     auth
            records/modify update         zone    zone   zone   zone    zone    zone     auth
            records/modify create         zone    zone   zone   zone    zone    zone     auth
            records/modify create top     zone    zone   zone   zone    zone    zone     auth
            records/modify secret         zone    zone   zone   zone    zone    zone     auth
            records/modify move out       zone    zone   zone   zone    zone    zone     auth
            records/modify delete         zone    zone   zone   zone    zone    zone     auth
            records/modify delete root    zone    zone   zone   zone    zone    zone     auth
            records/modify title          zone    zone   zone   zone    zone    zone     auth
            records/modify invite         zone    zone   zone   zone    zone    zone     auth
            records/modify answer         zone    zone   zone   zone    zone    zone     auth
            records/modify open           zone    zone   zone   zone    zone    zone     auth
            records/modify share          zone    zone   zone   zone    zone    zone     auth
            records/modify leave          zone    zone   zone   zone    zone    zone     auth
            assets/upload                 zone    zone   zone   zone    zone    zone     auth
            assets/rereference            zone    zone   zone   zone    zone    zone     auth
            assets/rereference secret     zone    zone   zone   zone    zone    zone     auth
            subscriptions/list            ok      ok     ok     ok      ok      ok       auth
            subscriptions/lookup          gone    gone   gone   gone    gone    gone     auth
            subscriptions/modify          ok      ok     ok     ok      ok      ok       auth
            subscriptions/modify zone     bad     bad    bad    bad     bad     bad      auth
            """),
        RoleTable(
            true, .private,
            """
            request                       invited holder asking removed blocked stranger nobody
            zones/list                    no      no     no     no      no      no       auth
            zones/lookup                  zone    zone   zone   zone    zone    zone     auth
            zones/modify create           zone    zone   zone   zone    zone    zone     auth
            zones/modify delete           zone    zone   zone   zone    zone    zone     auth
            zones/changes                 no      no     no     no      no      no       auth
            changes/database              no      no     no     no      no      no       auth
            changes/zone                  zone    zone   zone   zone    zone    zone     auth
            records/changes               zone    zone   zone   zone    zone    zone     auth
            records/query                 zone    zone   zone   zone    zone    zone     auth
            records/lookup                zone    zone   zone   zone    zone    zone     auth
            records/lookup share          zone    zone   zone   zone    zone    zone     auth
            records/lookup secret         zone    zone   zone   zone    zone    zone     auth
            records/modify update         zone    zone   zone   zone    zone    zone     auth
            records/modify create         zone    zone   zone   zone    zone    zone     auth
            records/modify create top     zone    zone   zone   zone    zone    zone     auth
            records/modify secret         zone    zone   zone   zone    zone    zone     auth
            records/modify move out       zone    zone   zone   zone    zone    zone     auth
            records/modify delete         zone    zone   zone   zone    zone    zone     auth
            records/modify delete root    zone    zone   zone   zone    zone    zone     auth
            records/modify title          zone    zone   zone   zone    zone    zone     auth
            records/modify invite         zone    zone   zone   zone    zone    zone     auth
            records/modify answer         zone    zone   zone   zone    zone    zone     auth
            records/modify open           zone    zone   zone   zone    zone    zone     auth
            records/modify share          zone    zone   zone   zone    zone    zone     auth
            records/modify leave          zone    zone   zone   zone    zone    zone     auth
            assets/upload                 zone    zone   zone   zone    zone    zone     auth
            assets/rereference            zone    zone   zone   zone    zone    zone     auth
            assets/rereference secret     zone    zone   zone   zone    zone    zone     auth
            subscriptions/list            ok      ok     ok     ok      ok      ok       auth
            subscriptions/lookup          gone    gone   gone   gone    gone    gone     auth
            subscriptions/modify          ok      ok     ok     ok      ok      ok       auth
            subscriptions/modify zone     zone    zone   zone   zone    zone    zone     auth
            """),
        RoleTable(
            true, .public,
            """
            request                       invited holder asking removed blocked stranger nobody
            zones/list                    no      no     no     no      no      no       no
            zones/lookup                  zone    zone   zone   zone    zone    zone     zone
            zones/modify create           bad     bad    bad    bad     bad     bad      auth
            zones/modify delete           bad     bad    bad    bad     bad     bad      auth
            zones/changes                 bad     bad    bad    bad     bad     bad      bad
            changes/database              bad     bad    bad    bad     bad     bad      bad
            changes/zone                  bad     bad    bad    bad     bad     bad      bad
            records/changes               bad     bad    bad    bad     bad     bad      bad
            records/query                 zone    zone   zone   zone    zone    zone     zone
            records/lookup                zone    zone   zone   zone    zone    zone     zone
            records/lookup share          zone    zone   zone   zone    zone    zone     zone
            records/lookup secret         zone    zone   zone   zone    zone    zone     zone
            records/modify update         zone    zone   zone   zone    zone    zone     auth
            records/modify create         zone    zone   zone   zone    zone    zone     auth
            records/modify create top     zone    zone   zone   zone    zone    zone     auth
            records/modify secret         zone    zone   zone   zone    zone    zone     auth
            records/modify move out       zone    zone   zone   zone    zone    zone     auth
            records/modify delete         zone    zone   zone   zone    zone    zone     auth
            records/modify delete root    zone    zone   zone   zone    zone    zone     auth
            records/modify title          zone    zone   zone   zone    zone    zone     auth
            records/modify invite         zone    zone   zone   zone    zone    zone     auth
            records/modify answer         zone    zone   zone   zone    zone    zone     auth
            records/modify open           zone    zone   zone   zone    zone    zone     auth
            records/modify share          zone    zone   zone   zone    zone    zone     auth
            records/modify leave          zone    zone   zone   zone    zone    zone     auth
            records/resolve               ok      ok     gone   gone    gone    gone     auth
            records/resolve plain         ok      gone   gone   gone    gone    gone     auth
            records/resolve open          ok      ok     ok     ok      ok      ok       auth
            records/accept                ok      ok     gone   gone    gone    gone     auth
            records/accept plain          ok      gone   gone   gone    gone    gone     auth
            records/accept open           ok      ok     ok     ok      ok      ok       auth
            records/requestAccess         wait    wait   ok     ok      ok      ok       auth
            records/requestAccess plain   wait    ok     ok     ok      ok      ok       auth
            records/requestAccess open    bad     bad    bad    bad     bad     bad      auth
            assets/upload                 zone    zone   zone   zone    zone    zone     auth
            assets/rereference            zone    zone   zone   zone    zone    zone     auth
            assets/rereference secret     zone    zone   zone   zone    zone    zone     auth
            subscriptions/list            ok      ok     ok     ok      ok      ok       auth
            subscriptions/lookup          gone    gone   gone   gone    gone    gone     auth
            subscriptions/modify          bad     bad    bad    bad     bad     bad      auth
            subscriptions/modify zone     bad     bad    bad    bad     bad     bad      auth
            users/caller                  ok      ok     ok     ok      ok      ok       auth
            users/current                 ok      ok     ok     ok      ok      ok       auth
            users/lookup/id               seen    seen   seen   seen    seen    seen     auth
            users/lookup/email            no      no     no     no      no      no       auth
            users/lookup/contacts         ok      ok     ok     ok      ok      ok       auth
            users/discover                no      no     no     no      no      no       auth
            """),
    ]
}
