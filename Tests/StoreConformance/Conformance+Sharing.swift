// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let sharing: [Check] = [
        Check("SHARE-3, SHARE-6: shares are found by name, root and URL, and end with their zone") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Lists")
                let other = try transaction.makeZone("Others")
                let list = StoredShare.of("list", participants: [.invited(.ben)])
                let whole = StoredShare(
                    name: ShareNames.zoneWideShare, root: nil, shortGUID: "guid-whole",
                    publicPermission: .readOnly)
                try transaction.putShares([list], in: zone.key)
                try transaction.putShares([whole], in: other.key)
                #expect(try transaction.shares([list.name, "none"], in: zone.key) == [list])
                #expect(try transaction.shares(ofRoots: ["list", "no"], in: zone.key) == [list])
                #expect(try transaction.shares([list.name], in: other.key) == [])
                #expect(try transaction.shares(ofRoots: [], in: zone.key) == [])
                let next = StoredShare.of("next")
                try transaction.putShares([next], in: zone.key)
                #expect(
                    try transaction.shares(in: zone.key, after: "", limit: 1) == [list])
                #expect(
                    try transaction.shares(in: zone.key, after: list.name, limit: 9) == [next])
                func roots(after name: String, _ limit: Int) throws -> [String] {
                    try transaction.shareRoots(in: zone.key, after: name, limit: limit).map {
                        "\($0.share) \($0.root)"
                    }
                }
                #expect(try roots(after: "", 9) == ["share-list list", "share-next next"])
                #expect(try roots(after: "", 1) == ["share-list list"])
                #expect(try roots(after: "share-list", 9) == ["share-next next"])
                #expect(
                    try transaction.shareRoots(in: other.key, after: "", limit: 9).isEmpty)
                try transaction.removeShares([next.name], in: zone.key)
                let found = try #require(try transaction.share(shortGUID: "guid-whole"))
                #expect(found.share == whole && found.zone.name == "Others")
                #expect(found.zone.sharing == .zoneWide && found.database.id == other.database)
                #expect(try transaction.share(shortGUID: "guid-list")?.zone.sharing == .hierarchies)
                var changed = list
                changed.publicPermission = .readWrite
                changed.participants = []
                try transaction.putShares([changed], in: zone.key)
                #expect(try transaction.shares([list.name], in: zone.key) == [changed])
                try transaction.removeShares([list.name], in: zone.key)
                #expect(try transaction.share(shortGUID: "guid-list") == nil)
                #expect(try transaction.zones(["Lists"], in: zone.database)[0].sharing == .none)
                try transaction.delete(other)
                #expect(try transaction.share(shortGUID: "guid-whole") == nil)
                #expect(try transaction.zones(["Others"], in: other.database)[0].sharing == .none)
            }
        },
        Check("SHARE-20, SHARE-21: a share keeps who asked, who is blocked, and one-time URLs") {
            store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("Lists")
                let other = try transaction.makeZone("Others")
                var list = StoredShare.of("list", participants: [.invited(.ben)])
                list.participants[0].isApprovedRequester = true
                list.participants[0].oneTimeKey = "key"
                list.participants[0].user = nil
                list.allowsAccessRequests = true
                list.outsiders = [
                    .of(.anna, since: 7, isBlocked: true), .of(.ben, since: 8),
                    StoredOutsider(
                        user: UserID(rawValue: 99),
                        identity: UserIdentity(
                            userRecordName: "_x", lookup: .emailAddress("a\u{0}\"b@example.org")),
                        since: Instant(rawValue: 8)),
                ]
                var next = StoredShare.of("next")
                next.outsiders = [.of(.ben, since: 1)]
                try transaction.putShares([list, next], in: zone.key)
                let whole = StoredShare(
                    name: list.name, root: nil, shortGUID: "guid-whole",
                    outsiders: [.of(.ben, since: 2)])
                try transaction.putShares([whole], in: other.key)
                func all() throws -> [StoredShare] {
                    try transaction.shares(in: zone.key, after: "", limit: 9)
                }
                #expect(try all() == [list, next])
                #expect(try transaction.shares([list.name], in: zone.key) == [list])
                #expect(try transaction.shares(ofRoots: ["list"], in: zone.key) == [list])
                #expect(try transaction.share(shortGUID: "guid-list")?.share == list)
                // One goes, one is another now.
                list.outsiders.remove(at: 1)
                list.outsiders[0].isBlocked = false
                list.allowsAccessRequests = false
                try transaction.putShares([list], in: zone.key)
                #expect(try all() == [list, next])
                // Nothing of a share that ended comes back with it.
                try transaction.removeShares([list.name], in: zone.key)
                list.outsiders = []
                try transaction.putShares([list], in: zone.key)
                #expect(try all() == [list, next])
                #expect(try transaction.shares([list.name], in: other.key) == [whole])
            }
        },
        Check("SHARE-17: a user finds the zones that are shared with them by owner and name") {
            store in
            try await store.write(.everything) { transaction throws in
                let (anna, ben) = try (transaction.makeUser("anna"), transaction.makeUser("ben"))
                let first = try transaction.makeZone("A", in: .privateNotes(anna.id))
                let second = try transaction.makeZone("B", in: .privateNotes(anna.id))
                let grants = [
                    ShareGrant.of("s1", first, ben.id, at: 5),
                    .of("s2", first, ben.id, at: 6, hasEnded: true),
                    .of("s3", second, ben.id, at: 7),
                ]
                try transaction.putGrants(grants)
                let all = try transaction.grantedZones(to: ben.id, among: nil)
                #expect(all.map(\.zone.name) == ["A", "B"] && all.allSatisfy { $0.owner == anna })
                #expect(all.map { Set($0.grants) } == [Set(grants[...1]), [grants[2]]])
                let wanted: Set = [
                    GrantedZoneID(owner: anna.recordName, zone: "B"),
                    GrantedZoneID(owner: ben.recordName, zone: "A"),
                ]
                let some = try transaction.grantedZones(to: ben.id, among: wanted)
                #expect(some.map(\.zone.key) == [second.key] && some[0].grants == [grants[2]])
                #expect(try transaction.grantedZones(to: anna.id, among: nil) == [])
                // Where the last one has ended, the zone is not there.
                try transaction.putGrants([.of("s3", second, ben.id, at: 8, hasEnded: true)])
                #expect(
                    try transaction.grantedZones(to: ben.id, among: nil).map(\.zone.name) == ["A"])
                try transaction.delete(first)
                #expect(try transaction.grantedZones(to: ben.id, among: nil) == [])
            }
        },
        Check("Grants of a zone come in the order of their users, a user's together") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A")
                let users = (1...4).map { UserID(rawValue: $0) }
                try transaction.putGrants(
                    users.flatMap {
                        [ShareGrant.of("s1", zone, $0, at: 1), .of("s2", zone, $0, at: 1)]
                    }
                        + [.of("s1", zone, UserID(rawValue: 9), at: 2, hasEnded: true)])
                func page(_ share: String?, _ after: UserID?, _ limit: Int) throws -> [String] {
                    try transaction.grants(in: zone.key, of: share, after: after, limit: limit)
                        .map { "\($0.user.rawValue) \($0.share)" }
                }
                #expect(try page(nil, nil, 3) == ["1 s1", "1 s2", "2 s1", "2 s2"])
                #expect(try page(nil, users[1], 10) == ["3 s1", "3 s2", "4 s1", "4 s2"])
                #expect(try page("s2", nil, 2) == ["1 s2", "2 s2"])
                #expect(try page("s2", users[2], 9) == ["4 s2"])
                #expect(try transaction.grantedUsers(in: zone.key) == users)
            }
        },
        Check("TOK-25: a hierarchy has a history of its own, with what left it") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A").key
                try transaction.putShares([.of("list"), .of("other")], in: zone)
                try transaction.putRecords(
                    [
                        .note("a", at: 2), .note("b", at: 3), .note("c", at: 4),
                        .tombstone("d", at: 5), .note("loose", at: 6),
                    ], in: zone)
                try transaction.putSharedRecords(
                    [
                        // `a` came in after it changed, `c` left for the other hierarchy.
                        SharedRecord(name: "a", share: "share-list", position: 9),
                        SharedRecord(name: "b", share: "share-list", position: 3),
                        SharedRecord(
                            name: "c", share: "share-list", position: 8, leftAt: .noon),
                        SharedRecord(name: "c", share: "share-other", position: 8),
                        SharedRecord(name: "d", share: "share-list", position: 5),
                    ], in: zone)
                #expect(
                    try transaction.sharesHolding(["a", "b", "c", "d", "loose", "none"], in: zone)
                        == ["a": "share-list", "b": "share-list", "c": "share-other"])
                func page(
                    _ shares: Set<String>, after position: Position, limit: Int = 9,
                    bytes: Int = .max, reverse: Bool = false
                ) throws -> [String] {
                    let page = try transaction.sharedRecordChanges(
                        in: zone, of: shares, after: position, limit: limit, byteLimit: bytes,
                        reverse: reverse)
                    let records = page.changes.map {
                        "\($0.record.isDeleted ? "-" : "")\($0.record.name)@\($0.position.rawValue)"
                    }
                    return records + (page.isComplete ? [] : ["…"])
                }
                let list: Set = ["share-list"]
                let both: Set = ["share-list", "share-other"]
                #expect(try page(list, after: 0) == ["b@3", "-d@5", "-c@8", "a@9"])
                #expect(try page(list, after: 3, limit: 2) == ["-d@5", "-c@8", "…"])
                #expect(try page(list, after: 0, bytes: 1) == ["b@3", "…"])
                #expect(try page(list, after: 9, reverse: true) == ["-c@8", "-d@5", "b@3"])
                // At one position a record leaves and comes in; a page has both.
                #expect(try page(both, after: 5) == ["-c@8", "c@8", "a@9"])
                #expect(try page(both, after: 5, limit: 1) == ["-c@8", "c@8", "…"])
                #expect(try page(["share-other"], after: 0) == ["c@8"])
                #expect(try page([], after: 0) == [])
                func scan(
                    _ shares: Set<String>, after position: Position, _ limit: Int = 9
                ) throws -> [String] {
                    var scanned: [String] = []
                    try transaction.scanRecords(
                        of: "Note", in: zone, of: shares, after: position
                    ) { position, record in
                        scanned.append("\(record?.name ?? "-")@\(position.rawValue)")
                        return scanned.count < limit
                    }
                    return scanned
                }
                // What is no living record of the type, or left, is passed too.
                #expect(try scan(list, after: 2) == ["b@3", "-@5", "-@8", "a@9"])
                #expect(try scan(list, after: 3, 2) == ["-@5", "-@8"])
                #expect(try scan(both, after: 5) == ["c@8", "-@8", "a@9"])
                #expect(try scan([], after: 0) == [])
                try transaction.removeShares(["share-list"], in: zone)
                #expect(try page(list, after: 0) == [])
                #expect(
                    try transaction.sharesHolding(["a", "c"], in: zone) == ["c": "share-other"])
            }
        },
        Check("TOK-22: traces of what left a hierarchy or a shared database go, raising the floor")
        {
            store in
            try await store.write(.everything) { transaction throws in
                let (anna, ben) = try (transaction.makeUser("anna"), transaction.makeUser("ben"))
                let zone = try transaction.makeZone("A", in: .privateNotes(anna.id))
                try transaction.putShares([.of("list")], in: zone.key)
                try transaction.putGrants([.of("share-list", zone, ben.id, at: 1)])
                func newest() throws -> Position? {
                    try transaction.newestSharedPosition(
                        in: zone.key, of: ["share-list", "none"])
                }
                #expect(try newest() == nil)
                try transaction.putRecords([.note("a", at: 2), .note("b", at: 3)], in: zone.key)
                try transaction.putSharedRecords(
                    [
                        SharedRecord(name: "a", share: "share-list", position: 7, leftAt: .noon),
                        SharedRecord(name: "b", share: "share-list", position: 3),
                    ], in: zone.key)
                #expect(try newest() == 7)
                let database = try transaction.makeDatabase(.sharedNotes).id
                _ = try transaction.advance(database, by: 9)
                let trace = StoredSharedZone.of("A", zone, at: 4, deletedAt: .noon)
                let living = StoredSharedZone.of("B", zone, at: 6)
                try transaction.putSharedZone(trace, in: database)
                try transaction.putSharedZone(living, in: database)
                let later = Instant.noon.advanced(by: .seconds(1))
                #expect(try transaction.removeTombstones(modifiedBefore: .noon, limit: 9) == 0)
                _ = try transaction.removeTombstones(modifiedBefore: later, limit: 9)
                // The zone's own history lacks nothing.
                #expect(try transaction.zones(["A"], in: zone.database)[0].floor == .start)
                #expect(try transaction.grantedZones(to: ben.id, among: nil).map(\.floor) == [7])
                #expect(try transaction.database(id: database)?.floor == 4)
                let left = try transaction.sharedZoneChanges(in: database, after: 0, limit: 9)
                #expect(left == [living])
                #expect(
                    try transaction.sharesHolding(["a", "b"], in: zone.key).keys.sorted() == ["b"])
            }
        },
        Check("SHARE-17: the zones of a shared database have an order of their own") { store in
            try await store.write(.everything) { transaction throws in
                let zone = try transaction.makeZone("A")
                let database = try transaction.makeDatabase(.sharedNotes).id
                let first = StoredSharedZone.of("A", zone, at: 3)
                var second = StoredSharedZone.of("A", zone, at: 5)
                second.owner = "_cleo"
                for shared in [first, second] {
                    try transaction.putSharedZone(shared, in: database)
                }
                func page(_ position: Position, _ limit: Int) throws -> [StoredSharedZone] {
                    try transaction.sharedZoneChanges(in: database, after: position, limit: limit)
                }
                #expect(try page(0, 9) == [first, second])
                #expect(try page(0, 1) == [first] && page(3, 9) == [second])
                let id = GrantedZoneID(owner: "_cleo", zone: "A")
                #expect(try transaction.sharedZone(id, in: database) == second)
                second.position = 8
                second.source = 12
                second.deletion = .deleted
                second.deletedAt = .noon
                try transaction.putSharedZone(second, in: database)
                #expect(try page(3, 9) == [second])
                #expect(
                    try transaction.sharedZone(.init(owner: "_", zone: "A"), in: database) == nil)
            }
        },
        Check("SUB-57: what crosses to participants is kept with its change") { store in
            try await store.write(.everything) { transaction throws in
                let database = try transaction.makeDatabase(.privateNotes()).id
                var entry = OutboxEntry.change(of: "A", in: database)
                entry.sharing = SharedChange(
                    zone: ZoneKey(rawValue: 3), position: 9, isZoneWide: true,
                    hierarchies: [
                        "share \"1\"": [
                            RecordChange(recordName: "a", recordType: "Note", event: .deleted)
                        ]
                    ],
                    ended: [.ben])
                try transaction.appendOutbox([entry])
                let found = try transaction.outboxes(limit: 9).flatMap(\.entries)
                #expect(found.map(\.sharing) == [entry.sharing])
            }
        },
        Check("ACCT-5: users of a container are found by their record names, all together") {
            store in
            try await store.write(.everything) { transaction throws in
                let (anna, ben) = try (transaction.makeUser("anna"), transaction.makeUser("ben"))
                func names(_ names: Set<String>, _ container: ContainerKey) throws -> Set<String> {
                    Set(try transaction.users(recordNames: names, in: container).map(\.recordName))
                }
                let both: Set = [anna.recordName, ben.recordName]
                #expect(try names(both.union(["_none"]), .notes) == both)
                #expect(try names(both, .released) == [])
                #expect(try names([], .notes) == [])
            }
        },
    ]
}

extension DatabaseKey {
    fileprivate static let sharedNotes = DatabaseKey(
        container: .notes, scope: .shared, owner: .ben)
}

extension StoredShare {
    /// A share of a record.
    fileprivate static func of(
        _ root: String, participants: [StoredParticipant] = []
    ) -> StoredShare {
        StoredShare(
            name: "share-\(root)", root: root, shortGUID: "guid-\(root)",
            participants: participants)
    }
}

extension StoredParticipant {
    fileprivate static func invited(_ user: UserID) -> StoredParticipant {
        StoredParticipant(
            id: "p\(user.rawValue)", user: user,
            identity: UserIdentity(
                userRecordName: "_ben", lookup: .emailAddress("ben@example.org")),
            permission: .readWrite, role: .administrator, acceptance: .pending)
    }
}

extension StoredOutsider {
    fileprivate static func of(
        _ user: UserID, since: Int64, isBlocked: Bool = false
    ) -> StoredOutsider {
        StoredOutsider(
            user: user, identity: UserIdentity(userRecordName: "_\(user.rawValue)"),
            since: Instant(rawValue: since), isBlocked: isBlocked)
    }
}

extension ShareGrant {
    fileprivate static func of(
        _ share: String, _ zone: StoredZone, _ user: UserID, at position: Position,
        hasEnded: Bool = false
    ) -> ShareGrant {
        ShareGrant(
            zone: zone.key, user: user, share: share, root: "list", permission: .readOnly,
            isAdministrator: true, position: position, hasEnded: hasEnded)
    }
}

extension StoredSharedZone {
    fileprivate static func of(
        _ name: String, _ zone: StoredZone, at position: Position, deletedAt: Instant? = nil
    ) -> StoredSharedZone {
        StoredSharedZone(
            owner: "_anna", name: name, zone: zone.key, position: position, source: 10,
            deletion: deletedAt == nil ? nil : .deleted, deletedAt: deletedAt)
    }
}

extension StoreTransaction {
    /// Makes an account, and its user in the container of the checks.
    func makeUser(_ name: String) throws -> StoredUser {
        try makeUser(
            of: createAccount(named: name, at: .noon), in: .notes, recordName: "_\(name)",
            at: .noon)
    }
}
