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

/// What a batch took to be decided.
private struct Walk {
    var reads: Int
    /// How often what is above records was read.
    var placesReads = 0
    var rounds = 0
    var failures = 0
    var moved = 0
}

extension SharingBench {
    /// Decides a batch of Anna's, without saving it.
    fileprivate func walk(_ operations: [ModifyRecords.Operation]) async throws -> Walk {
        let call = call(anna)
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
            walk.moved = batch.hierarchies.moved.count
            walk.failures = batch.outcomes.count { if case .failed = $0 { true } else { false } }
            return walk
        }
    }
}

/// Counts what is read of a store.
private final class CountingReader: RecordReading, ShareReading, SharedRecordReading {
    private let base: any RecordReading & ShareReading & SharedRecordReading
    private(set) var count = 0
    private(set) var placesCount = 0

    init(base: any RecordReading & ShareReading & SharedRecordReading) {
        self.base = base
    }

    private func counted<Result>(_ read: () throws -> Result) rethrows -> Result {
        count += 1
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
        try counted { try base.shares(in: zone, after: name, limit: limit) }
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

    func places(
        above names: Set<String>, in zone: ZoneKey, limit: Int
    ) throws -> [String: HierarchyPlace]? {
        placesCount += 1
        return try counted { try base.places(above: names, in: zone, limit: limit) }
    }

    func sharedRecordChanges(
        in zone: ZoneKey, of shares: Set<String>, after position: Position, limit: Int,
        byteLimit: Int, reverse: Bool
    ) throws -> (changes: [SharedRecordChange], isComplete: Bool) {
        try counted {
            try base.sharedRecordChanges(
                in: zone, of: shares, after: position, limit: limit, byteLimit: byteLimit,
                reverse: reverse)
        }
    }

    func scanRecords(
        of type: String, in zone: ZoneKey, of shares: Set<String>, after position: Position,
        _ body: (StoredRecord) throws -> Bool
    ) throws {
        try counted {
            try base.scanRecords(of: type, in: zone, of: shares, after: position, body)
        }
    }
}
