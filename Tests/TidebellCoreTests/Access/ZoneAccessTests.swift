// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("What a zone is to who calls")
struct ZoneAccessTests {
    /// Who calls.
    enum Caller: String, CaseIterable { case anna, otto, nobody }

    /// How the zone ID spells the owner.
    enum Spelling: String, CaseIterable { case nothing, currentUser, anna, otto, publicOwner }

    /// What there is under the zone's name in Anna's private database; in the public one,
    /// where nobody creates zones, the default zone alone. In Otto's there is nothing.
    enum Zone: String, CaseIterable {
        case defaultZone, custom, deleted, purged, absent

        var name: String { self == .defaultZone ? ZoneID.defaultName : rawValue }
    }

    /// What a caller finds: what each zone is to them, in the order of ``Zone``, where the
    /// owner is spelled as one of `spellings`.
    struct Row: Sendable {
        var scope: DatabaseScope
        var caller: Caller
        var spellings: Set<Spelling>
        var found: [String]
    }

    private static let missing = Array(repeating: "missing", count: 5)
    private static let signIn = Array(repeating: "sign in", count: 5)
    private static let all = Set(Spelling.allCases)

    static let table: [Row] = [
        Row(
            scope: .private, caller: .anna, spellings: [.nothing, .currentUser, .anna],
            found: [
                "stored in private of anna, readWrite", "stored in private of anna, readWrite",
                "missing", "purged", "missing",
            ]
        ),
        Row(scope: .private, caller: .anna, spellings: [.otto, .publicOwner], found: missing),
        Row(
            scope: .private, caller: .otto, spellings: [.nothing, .currentUser, .otto],
            found: ["unused in private of otto, readWrite"] + missing.dropFirst()
        ),
        // Somebody else's zones are in the shared database, if anywhere.
        Row(scope: .private, caller: .otto, spellings: [.anna, .publicOwner], found: missing),
        Row(scope: .private, caller: .nobody, spellings: all, found: signIn),
        Row(
            scope: .public, caller: .anna, spellings: all,
            found: ["stored in public of all, byGrants"] + missing.dropFirst()
        ),
        Row(
            scope: .public, caller: .otto, spellings: all,
            found: ["stored in public of all, byGrants"] + missing.dropFirst()
        ),
        Row(
            scope: .public, caller: .nobody, spellings: all,
            found: ["stored in public of all, byGrants"] + missing.dropFirst()
        ),
        // Nothing is shared.
        Row(scope: .shared, caller: .anna, spellings: all, found: missing),
        Row(scope: .shared, caller: .otto, spellings: all, found: missing),
        Row(scope: .shared, caller: .nobody, spellings: all, found: signIn),
    ]

    @Test("The table has each database, caller and spelling once")
    func complete() {
        var cells: Set<String> = []
        for row in Self.table {
            for spelling in row.spellings {
                #expect(cells.insert("\(row.scope) \(row.caller) \(spelling)").inserted)
            }
            #expect(row.found.count == Zone.allCases.count)
        }
        #expect(cells.count == 3 * Caller.allCases.count * Spelling.allCases.count)
    }

    @Test(
        "ZONE-1, ZONE-8, ACCT-7, TOK-23: every zone ID is resolved by the table", arguments: table
    )
    func resolved(row: Row) async throws {
        let bench = try await Bench()
        try await bench.fillForAccess()
        var call = bench.call(row.caller == .otto ? bench.otto : bench.anna, scope: row.scope)
        if row.caller == .nobody { call.user = nil }
        for spelling in row.spellings {
            let zoneIDs = Zone.allCases.map {
                ZoneID(zoneName: $0.name, ownerRecordName: bench.name(spelling))
            }
            let found = try await bench.store.read { [call] reader in
                zoneIDs.map { zoneID in
                    bench.summary { try call.access(to: zoneID, in: reader) }
                }
            }
            #expect(found == row.found, "owner: \(spelling)")
            // Read together they are the same.
            let together = try await bench.store.read { [call] reader in
                zoneIDs.map { zoneID in
                    bench.summary {
                        try RequestZones(zoneIDs, for: call, in: reader).access(to: zoneID)
                    }
                }
            }
            #expect(together == row.found, "owner: \(spelling)")
        }
    }

    @Test("ZONE-8: answers name the owner of the zone, and the zone is that of its own database")
    func answered() async throws {
        let bench = try await Bench()
        try await bench.fillForAccess()
        let call = bench.call()
        let access = try await bench.store.read {
            try call.access(to: ZoneID(zoneName: "custom"), in: $0)
        }
        #expect(
            access.zoneID
                == ZoneID(zoneName: "custom", ownerRecordName: bench.anna.recordName)
        )
        #expect(access.stored?.zone.database == access.stored?.database.id)
        #expect(access.stored?.database.key == access.database.key)
        #expect(access.database.key.owner == bench.anna.id)
        let open = bench.call(scope: .public)
        let publicAccess = try await bench.store.read {
            try open.access(to: ZoneID(zoneName: ZoneID.defaultName), in: $0)
        }
        #expect(publicAccess.zoneID.ownerRecordName == ZoneID.publicOwner)
    }

    @Test("ZONE-7: all zones of a database, the default zone first, whether it was used or not")
    func allZones() async throws {
        let bench = try await Bench()
        try await bench.fillForAccess()
        func names(_ call: Call) async throws -> [String] {
            try await bench.store.read { try RequestZones.all(for: call, in: $0) }
                .map(\.zoneID.zoneName)
        }
        try await bench.makeZone("Alpha")
        #expect(try await names(bench.call()) == ["_defaultZone", "Alpha", "custom"])
        #expect(try await names(bench.call(bench.otto)) == ["_defaultZone"])
        #expect(try await names(bench.call(scope: .public)) == ["_defaultZone"])
        #expect(try await names(bench.call(scope: .shared)) == [])
    }
}

extension Bench {
    /// Makes the zones of ``ZoneAccessTests/Zone``.
    fileprivate func fillForAccess() async throws {
        for name in ["custom", "deleted", "purged"] { try await makeZone(name) }
        try await deleteZone("deleted")
        try await modify(.save(.create, "a"), zone: ZoneID.defaultName)
        try await modify(
            .save(.create, "a"), zone: ZoneID.defaultName, call: call(scope: .public)
        )
        let call = call()
        try await store.write(.everything) { transaction in
            let zone = try call.access(to: ZoneID(zoneName: "purged"), in: transaction)
            guard let stored = zone.stored else { return }
            let position = try transaction.advance(stored.database.id, by: 1, at: call.now)
            try transaction.deleteZones(
                [(stored.zone.key, position)], reason: .purged, at: call.now
            )
        }
    }

    fileprivate func name(_ spelling: ZoneAccessTests.Spelling) -> String? {
        switch spelling {
        case .nothing: nil
        case .currentUser: ZoneID.currentUser
        case .anna: anna.recordName
        case .otto: otto.recordName
        case .publicOwner: ZoneID.publicOwner
        }
    }

    /// What was found, in a few words.
    fileprivate func summary(_ access: () throws -> ZoneAccess) -> String {
        do {
            let access = try access()
            let owner =
                switch access.database.key.owner {
                case anna.id: "anna"
                case otto.id: "otto"
                default: "all"
                }
            return "\(access.zone == nil ? "unused" : "stored") in \(access.database.scope) "
                + "of \(owner), \(access.rights)"
        } catch let error as WireError {
            switch error.code {
            case .authenticationRequired: return "sign in"
            case .zoneNotFound: return error.detail?.zoneDeletion?.rawValue ?? "missing"
            default: return error.reason
            }
        } catch {
            return "\(error)"
        }
    }
}
