// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@testable import TidebellCore

/// What one batch costs that moves much, or of which much fails.
@Suite("What following hierarchies costs") struct HierarchyCostTests {
    @Test("LIMIT-1, REF-7: a chain whose every second record is saved is read once, not in rounds")
    func chain() async throws {
        let few = try await walk(chainOf: 10)
        let many = try await walk(chainOf: 40)
        #expect(few.failures == 0 && many.failures == 0)
        #expect(many.moved == 40)
        #expect(few.reads > 0)
        #expect(many.reads <= 4 * few.reads, "\(few.reads) reads for 10, \(many.reads) for 40")
    }

    /// Moves `a0` below a shared record, with the chain a0, b0, a1, b1 … below it, of which the
    /// batch saves every `a`.
    private func walk(chainOf count: Int) async throws -> Walk {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        try await bench.share("list")
        var chain: [ModifyRecords.Operation] = []
        for index in 0..<count {
            let above = index == 0 ? nil : "b\(index - 1)"
            chain.append(.save(.create, "a\(index)", title: "a", parent: .some(above)))
            chain.append(.save(.create, "b\(index)", title: "b", parent: "a\(index)"))
        }
        #expect(try await bench.modify(chain).allSatisfy { $0.error == nil })
        let saves: [ModifyRecords.Operation] = (0..<count).map { index in
            index == 0
                ? .save(.forceUpdate, "a0", parent: "list")
                : .save(.forceUpdate, "a\(index)", title: "!")
        }
        return try await bench.walk(saves)
    }

    @Test(
        "LIMIT-1, REF-7: what is above many records that move is read once, also where others fail")
    func deepParents() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        try await bench.share("list")
        for index in 0..<20 {
            let above = index == 0 ? "list" : "deep\(index - 1)"
            try await bench.modify(.save(.create, "deep\(index)", title: "d", parent: .some(above)))
        }
        try await bench.modify(
            (0..<10).map { .save(.create, "leaf\($0)", title: "l", parent: "list") })
        for index in 0..<5 {
            try await bench.modify(.save(.create, "root\(index)", title: "r"))
            try await bench.share("root\(index)", as: "share\(index)")
        }
        // Each root comes below the one before: they fail one after the other.
        let walk = try await bench.walk(
            (0..<10).map { .save(.forceUpdate, "leaf\($0)", parent: "deep19") }
                + (1..<5).map { .save(.forceUpdate, "root\($0)", parent: .some("root\($0 - 1)")) })
        #expect(walk.failures == 4)
        #expect(walk.placesReads == 1)
    }

    @Test("SHARE-4: operations that fail by themselves fail together")
    func failures() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        try await bench.share("list")
        for index in 0..<5 {
            try await bench.modify(
                .save(.create, "top\(index)", title: "t"),
                .save(.create, "root\(index)", title: "r", parent: "top\(index)"))
            try await bench.share("root\(index)", as: "share\(index)")
        }
        let walk = try await bench.walk(
            (0..<5).map { .save(.forceUpdate, "top\($0)", parent: "list") })
        #expect(walk.failures == 5)
        #expect(walk.rounds == 2)
    }

    @Test("SHARE-4, REF-7: what comes below a record that leaves its share may have a shared root")
    func leavingAndComing() async throws {
        let bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "list", title: "l"),
            .save(.create, "v", title: "v", parent: "list"),
            .save(.create, "u", title: "u", parent: "v"), .save(.create, "t", title: "t"),
            .save(.create, "root", title: "r", parent: "t"))
        try await bench.share("list")
        try await bench.share("root", as: "other")
        let results = try await bench.modify(
            .save(.forceUpdate, "t", parent: "u"), .save(.forceUpdate, "v", parent: .some(nil)))
        #expect(results.map(\.error) == [nil, nil])
    }
}

/// What participants' pages cost, and what is read of shares on the way.
@Suite("What pages and saves of shared zones cost") struct SharedPageCostTests {
    @Test("SHARE-1, TOK-25: a participant's page costs what is shared, whatever else the zone has")
    func pages() async throws {
        let alone = try await pageCosts(besides: 0)
        let besides = try await pageCosts(besides: 3000)
        #expect(alone.changes.rows == 52 && alone.query.rows == 52)
        #expect(alone == besides)
    }

    private struct PageCosts: Equatable {
        /// Of all that is shared, and of nothing new.
        var changes: Cost
        var nothing: Cost
        var query: Cost
    }

    private func pageCosts(besides count: Int) async throws -> PageCosts {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        for first in stride(from: 0, to: count, by: 300) {
            try await bench.modify(
                (first..<first + 300).map { .save(.create, "own\($0)", title: "o") })
        }
        for index in 0..<50 {
            try await bench.modify(.save(.create, "item\(index)", title: "i", parent: "list"))
            if count > 0 { try await bench.modify(.save(.forceUpdate, "own\(index)", title: "!")) }
        }
        let (call, zoneID) = (bench.call(bench.otto), bench.zoneID)
        return try await bench.bench.store.read { base in
            func changes(since token: String?) throws -> (Cost, String?, Int) {
                let reader = CountingReader(base: base)
                let request = FetchZoneChanges.Request(
                    zones: [.init(zoneID: zoneID, syncToken: token)])
                let page = try FetchZoneChanges.run(request, for: call, in: reader).zones[0].page
                return (reader.cost, page?.syncToken, page?.records.count ?? 0)
            }
            let (all, token, found) = try changes(since: nil)
            let (none, _, foundNone) = try changes(since: token)
            #expect(found == 52 && foundNone == 0)
            let access = try call.access(to: zoneID, in: base)
            let reader = CountingReader(base: base)
            let page = try QuerySearch(
                query: WireQuery(recordType: "Note"), zones: [try #require(access.zone)],
                hierarchies: access.hierarchies, limits: call.limits, limit: 200,
                now: call.now
            ).page(after: nil, in: reader)
            #expect(page.records.count == 51 && page.next == nil)
            return PageCosts(changes: all, nothing: none, query: reader.cost)
        }
    }

    @Test(
        "LIMIT-20, QUERY-16: a page ends where it looked enough, whatever of that is not seen yet")
    func hidden() async throws {
        let bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "list", title: "list"),
            .save(.create, "top", title: "top", parent: "list"))
        try await bench.modify(
            (0..<300).map { .save(.create, "item\($0)", title: "i", parent: "top") })
        try await bench.modify(.save(.create, "last", title: "last", parent: "list"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        var few = Limits()
        few.movedRecords = 0
        try await bench.modify(limits: few, .save(.forceUpdate, "top", parent: .some(nil)))
        var limits = Limits()
        limits.queryScan.records = 50
        var (pages, found, marker) = (0, [String](), String?.none)
        repeat {
            let page = try await bench.queryPage(as: bench.otto, limits: limits, after: marker)
            found += page.records.map(\.summary)
            marker = page.continuationMarker
            pages += 1
        } while marker != nil && pages < 100
        #expect(found.sorted() == ["last=last", "list=list"])
        #expect(pages >= 6 && pages <= 8)
        // All of it has to be looked at for an order.
        limits.querySort.records = 50
        let error = await #expect(throws: WireError.self) {
            try await bench.queryPage(
                as: bench.otto, limits: limits, sorts: [WireSort(.field("title"))])
        }
        #expect(error?.bound == .querySort)
    }

    @Test("LIMIT-20: what is above the records of a page is read once, and counted")
    func paths() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        for index in 0..<20 {
            let above = index == 0 ? "list" : "deep\(index - 1)"
            try await bench.modify(.save(.create, "deep\(index)", title: "d", parent: .some(above)))
        }
        for first in stride(from: 0, to: 900, by: 300) {
            try await bench.modify(
                (first..<first + 300).map {
                    .save(.create, "item\($0)", title: "i", parent: "deep19")
                })
        }
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        try await bench.settle()
        try await bench.modify(
            .save(.create, "other", title: "o"),
            .save(.create, "below", title: "b", parent: "other"))
        var few = Limits()
        few.movedRecords = 0
        try await bench.modify(limits: few, .save(.forceUpdate, "other", parent: "list"))
        #expect(try await !bench.isSettled())
        let (call, zoneID) = (bench.call(bench.otto), bench.zoneID)
        try await bench.bench.store.read { base in
            let access = try call.access(to: zoneID, in: base)
            let reader = CountingReader(base: base)
            let search = QuerySearch(
                query: WireQuery(recordType: "Note"), zones: [try #require(access.zone)],
                hierarchies: access.hierarchies, limits: call.limits, limit: 2000,
                now: call.now)
            let page = try search.page(after: nil, in: reader)
            // With the other one, and without what is below that.
            #expect(page.records.count == 922)
            #expect(reader.placesCount <= 3)
            // Every record once.
            #expect(reader.placesRows <= 930)
        }
    }

    @Test("SHARE-4: of the shares of a zone, a large move reads names and roots alone")
    func roots() async throws {
        let bench = try await SharingBench()
        try await bench.modify(
            .save(.create, "list", title: "l"), .save(.create, "top", title: "t"),
            .save(.create, "below", title: "b", parent: "top"))
        try await bench.share("list")
        for index in 0..<20 {
            try await bench.modify(.save(.create, "root\(index)", title: "r"))
            try await bench.share("root\(index)", as: "share\(index)")
        }
        var few = Limits()
        few.movedRecords = 0
        let walk = try await bench.walk(
            [.save(.forceUpdate, "top", parent: "list")], limits: few)
        #expect(walk.failures == 0)
        #expect(walk.sharesRead == 0)
    }

    @Test("REF-7: what is above records is looked at once for each, however many are below")
    func ways() {
        var ways = WaysUp<String>()
        var looks = 0
        func find(from name: Int) -> String? {
            ways.find(from: "\(name)") { name in
                looks += 1
                let number = Int(name) ?? 0
                return number == 0 ? .found("top") : .up("\(min(number, 1000) - 1)")
            } passing: { found, name in
                name == "500" ? "middle" : found
            }
        }
        for name in 1000..<1200 { #expect(find(from: name) == "middle") }
        #expect(find(from: 499) == "top")
        #expect(looks == 1200)
        // In a circle there is nothing above.
        var circle = WaysUp<String>()
        #expect(circle.find(from: "a") { $0 == "a" ? .up("b") : .up("a") } == nil)
        #expect(circle.find(from: "b") { _ in .found("new") } == nil)
    }

    @Test("SHARE-9, SHARE-11: whom a save names is looked up only where it may be saved")
    func lookups() async throws {
        let bench = try await SharingBench()
        try await bench.modify(.save(.create, "list", title: "list"))
        let share = try await bench.share("list", with: [.invited(bench.otto)])
        _ = try await bench.accept(share, as: bench.otto)
        let many = (0..<2000).map {
            UserIdentity(userRecordName: nil, lookup: .emailAddress("a\($0)@example.org"))
        }
        func changes(_ named: Int, blocked: Int) -> ShareChanges {
            var changes = ShareChanges()
            changes.participants = many.prefix(named).map {
                WireParticipant(identity: $0, permission: .readOnly, role: .privateUser)
            }
            changes.blocked = Array(many.prefix(blocked))
            return changes
        }
        func lookedUp(as user: StoredUser, _ changes: ShareChanges) async throws -> Int {
            let operation = ModifyRecords.Operation(
                .update, recordName: "share", recordType: ShareNames.recordType,
                fields: FieldChanges([:]), share: changes)
            return try await bench.lookups([operation], as: user)
        }
        #expect(try await lookedUp(as: bench.anna, changes(3, blocked: 4)) == 7)
        #expect(try await lookedUp(as: bench.anna, changes(2000, blocked: 4)) == 0)
        #expect(try await lookedUp(as: bench.anna, changes(3, blocked: 2000)) == 0)
        #expect(try await lookedUp(as: bench.otto, changes(3, blocked: 4)) == 0)
        var administrator = WireParticipant.invited(bench.otto)
        administrator.role = .administrator
        var promoted = ShareChanges()
        promoted.participants = [administrator]
        #expect(try await bench.change(promoted).error == nil)
        #expect(try await lookedUp(as: bench.otto, changes(3, blocked: 4)) == 7)
    }
}

/// What a batch took to be decided.
private struct Walk {
    var reads: Int
    /// How often what is above records was read.
    var placesReads = 0
    /// How many shares were read page by page.
    var sharesRead = 0
    var rounds = 0
    var failures = 0
    var moved = 0
}

extension SharingBench {
    /// Decides a batch of Anna's, without saving it.
    fileprivate func walk(
        _ operations: [ModifyRecords.Operation], limits: Limits = Limits()
    ) async throws -> Walk {
        let call = call(anna, limits: limits)
        let request = ModifyRecords.Request(zoneID: zoneID, operations: operations, atomic: false)
        let scope = try await bench.store.scope(of: zoneID, for: call)
        return try await bench.store.write(scope) { transaction in
            var access = try call.access(to: request.zoneID, in: transaction)
            let stored = try access.make(in: transaction)
            access.stored = stored
            var batch = try RecordBatch(
                request, by: call.requireUser(), for: call, to: access, stored, in: transaction)
            try batch.plan()
            let reader = CountingReader(base: transaction)
            var walk = Walk(reads: 0)
            repeat {
                walk.rounds += 1
                try batch.followReferences(in: transaction)
            } while try batch.followHierarchies(in: reader)
            walk.reads = reader.count
            walk.placesReads = reader.placesCount
            walk.sharesRead = reader.pagedShares
            walk.moved = batch.hierarchies.moved.count
            walk.failures = batch.outcomes.count { if case .failed = $0 { true } else { false } }
            return walk
        }
    }
}

extension SharingBench {
    /// How many a batch of a user's would look up.
    fileprivate func lookups(
        _ operations: [ModifyRecords.Operation], as user: StoredUser
    ) async throws -> Int {
        let call = call(user)
        let request = ModifyRecords.Request(zoneID: zoneID, operations: operations)
        return try await bench.store.read { reader in
            let access = try call.access(to: request.zoneID, in: reader)
            let zone = try #require(access.zone)
            let sharing = try BatchSharing(
                request, names: ["share"], demanded: [], in: zone, access, for: call, reader)
            return sharing.lookups(of: request, in: access, for: call).count
        }
    }

    /// One page of a query.
    fileprivate func queryPage(
        as user: StoredUser, limits: Limits, sorts: [WireSort] = [], after marker: String? = nil
    ) async throws -> QueryRecords.Response {
        let call = call(user, limits: limits)
        let request = QueryRecords.Request(
            query: WireQuery(recordType: "Note", sorts: sorts), zoneID: zoneID,
            continuationMarker: marker)
        return try await bench.store.read { try QueryRecords.run(request, for: call, in: $0) }
    }
}

/// What was read of a store.
private struct Cost: Equatable {
    /// Calls of the store.
    var reads = 0
    /// Records and rows that pages and scans returned.
    var rows = 0
}

/// Counts what is read of a store.
private final class CountingReader:
    ZoneReading, RecordReading, ShareReading, SharedRecordReading, FieldIndexReading
{
    typealias Base = ZoneReading & RecordReading & ShareReading & SharedRecordReading
        & FieldIndexReading

    private let base: any Base
    private(set) var cost = Cost()
    private(set) var placesCount = 0
    private(set) var placesRows = 0
    private(set) var pagedShares = 0
    var count: Int { cost.reads }

    init(base: any Base) { self.base = base }

    func database(_ key: DatabaseKey) throws -> StoredDatabase? {
        try counted { try base.database(key) }
    }

    func database(id: DatabaseID) throws -> StoredDatabase? {
        try counted { try base.database(id: id) }
    }

    func zones(_ names: Set<String>?, in database: DatabaseID) throws -> [StoredZone] {
        try counted { try base.zones(names, in: database) }
    }

    func zoneChanges(
        in database: DatabaseID, after position: Position, limit: Int
    ) throws -> [StoredZone] {
        try counted { try base.zoneChanges(in: database, after: position, limit: limit) }
    }

    func livingZoneCount(in database: DatabaseID) throws -> Int {
        try counted { try base.livingZoneCount(in: database) }
    }

    func containers(limit: Int) throws -> [ContainerKey] {
        try counted { try base.containers(limit: limit) }
    }

    func databases(
        of container: ContainerKey, after last: DatabaseID?, limit: Int
    ) throws -> [DatabaseID] {
        try counted { try base.databases(of: container, after: last, limit: limit) }
    }

    private func counted<Result>(_ read: () throws -> Result) rethrows -> Result {
        cost.reads += 1
        return try read()
    }

    func records(
        _ names: Set<String>, in zone: ZoneKey, byteLimit: Int
    ) throws -> [String: StoredRecord]? {
        try counted { try base.records(names, in: zone, byteLimit: byteLimit) }
    }

    func recordsWithoutFields(
        _ names: Set<String>, in zone: ZoneKey
    ) throws -> [String: StoredRecord] {
        try counted { try base.recordsWithoutFields(names, in: zone) }
    }

    func recordChanges(
        in zone: ZoneKey, after position: Position, limit: Int, byteLimit: Int, reverse: Bool
    ) throws -> (records: [StoredRecord], isComplete: Bool) {
        try counted {
            try base.recordChanges(
                in: zone, after: position, limit: limit, byteLimit: byteLimit, reverse: reverse)
        }
    }

    func scanRecords(
        of type: String, in zones: [ZoneKey], after cursor: RecordCursor?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        try counted { try base.scanRecords(of: type, in: zones, after: cursor, body) }
    }

    func records(
        createdBy user: String, in zone: ZoneKey, after position: Position, limit: Int,
        lookingAt rows: Int
    ) throws -> (names: [String], next: Position?) {
        try counted {
            try base.records(
                createdBy: user, in: zone, after: position, limit: limit, lookingAt: rows)
        }
    }

    func fieldIndexes(in zone: ZoneKey, of type: String?) throws -> [StoredFieldIndex] {
        try counted { try base.fieldIndexes(in: zone, of: type) }
    }

    func fieldIndex(_ id: FieldIndexID) throws -> StoredFieldIndex? {
        try counted { try base.fieldIndex(id) }
    }

    func unfinishedFieldIndexes(after last: FieldIndexID, limit: Int) throws -> [StoredFieldIndex] {
        try counted { try base.unfinishedFieldIndexes(after: last, limit: limit) }
    }

    func fieldIndexes(unusedSince moment: Instant, limit: Int) throws -> [StoredFieldIndex] {
        try counted { try base.fieldIndexes(unusedSince: moment, limit: limit) }
    }

    func fieldIndexEntries(
        of index: FieldIndexID, in range: FieldIndexRange, beyond entry: FieldIndexEntry?,
        reverse: Bool, limit: Int
    ) throws -> [FieldIndexEntry] {
        try counted {
            try base.fieldIndexEntries(
                of: index, in: range, beyond: entry, reverse: reverse, limit: limit)
        }
    }

    func fieldIndexEntryCount(
        of index: FieldIndexID, in range: FieldIndexRange, limit: Int
    ) throws -> Int {
        try counted { try base.fieldIndexEntryCount(of: index, in: range, limit: limit) }
    }

    func records(
        at positions: [Position], in zone: ZoneKey,
        _ body: (Int, StoredRecord) throws -> Bool
    ) throws {
        try counted { try base.records(at: positions, in: zone, body) }
    }

    func references(to targets: Set<String>, in zone: ZoneKey) throws -> [StoredReference] {
        try counted { try base.references(to: targets, in: zone) }
    }

    func children(
        of parents: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: [String]]? {
        try counted { try base.children(of: parents, in: zone, limit: limit) }
    }

    func children(
        of parent: String, in zone: ZoneKey, after last: String, limit: Int
    ) throws -> (names: [String], next: String?) {
        try counted { try base.children(of: parent, in: zone, after: last, limit: limit) }
    }

    func deleteSelfCounts(to targets: Set<String>, in zone: ZoneKey) throws -> [String: Int] {
        try counted { try base.deleteSelfCounts(to: targets, in: zone) }
    }

    func shares(_ names: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        try counted { try base.shares(names, in: zone) }
    }

    func shares(ofRoots roots: Set<String>, in zone: ZoneKey) throws -> [StoredShare] {
        try counted { try base.shares(ofRoots: roots, in: zone) }
    }

    func shares(
        in zone: ZoneKey, after name: String, limit: Int
    ) throws -> [StoredShare] {
        let found = try counted { try base.shares(in: zone, after: name, limit: limit) }
        pagedShares += found.count
        return found
    }

    func shareRoots(
        in zone: ZoneKey, after name: String, limit: Int
    ) throws -> [(share: String, root: String)] {
        try counted { try base.shareRoots(in: zone, after: name, limit: limit) }
    }

    func newestSharedPosition(in zone: ZoneKey, of shares: Set<String>) throws -> Position? {
        try counted { try base.newestSharedPosition(in: zone, of: shares) }
    }

    func share(shortGUID: String) throws -> LocatedShare? {
        try counted { try base.share(shortGUID: shortGUID) }
    }

    func grants(
        in zone: ZoneKey, of share: String?, after user: UserID?, limit: Int
    ) throws -> [ShareGrant] {
        try counted { try base.grants(in: zone, of: share, after: user, limit: limit) }
    }

    func grantedZones(
        to user: UserID, among ids: Set<GrantedZoneID>?
    ) throws -> [GrantedZone] {
        try counted { try base.grantedZones(to: user, among: ids) }
    }

    func memberships(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: HierarchyMembership] {
        try counted { try base.memberships(of: names, in: zone) }
    }

    func departures(
        of names: Set<String>, in zone: ZoneKey
    ) throws -> [String: [String: [Position]]] {
        try counted { try base.departures(of: names, in: zone) }
    }

    func places(
        above names: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: HierarchyPlace]? {
        placesCount += 1
        let found = try counted { try base.places(above: names, in: zone, limit: limit) }
        placesRows += found?.count ?? 0
        return found
    }

    func places(of names: Set<String>, in zone: ZoneKey) throws -> [String: HierarchyPlace] {
        let found = try counted { try base.places(of: names, in: zone) }
        placesRows += found.count
        return found
    }

    func sharedRecordChanges(
        in zone: ZoneKey, of shares: Set<String>, after position: Position, limit: Int,
        byteLimit: Int, reverse: Bool
    ) throws -> (changes: [SharedRecordChange], isComplete: Bool) {
        let page = try counted {
            try base.sharedRecordChanges(
                in: zone, of: shares, after: position, limit: limit, byteLimit: byteLimit,
                reverse: reverse)
        }
        cost.rows += page.changes.count
        return page
    }

    func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (Position, StoredRecord?) throws -> Bool
    ) throws {
        try counted {
            try base.scanRecords(of: type, in: zone, of: shares, after: position) {
                cost.rows += 1
                return try body($0, $1)
            }
        }
    }
}
