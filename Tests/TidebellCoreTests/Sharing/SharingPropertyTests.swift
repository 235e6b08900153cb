// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

/// Random owners and participants against a plain model of who sees what.
@Suite("Sharing, at random") struct SharingPropertyTests {
    @Test(
        "TOK-25: whoever fetches what changed has all they may see, and never more",
        arguments: 0..<12)
    func walk(seed: UInt64) async throws {
        var walk = try await SharingWalk(seed: seed)
        for step in 0..<60 {
            try await walk.step()
            try await walk.check("seed \(seed), step \(step)")
        }
    }

    @Test(
        "TOK-25: nobody sees more while records follow step by step, and all of it in the end",
        arguments: 0..<16)
    func settlingWalk(seed: UInt64) async throws {
        var walk = try await SharingWalk(seed: 1000 + seed, movedRecords: Int(seed % 3))
        try await walk.begin()
        for step in 0..<50 {
            try await walk.moveOrStep()
            try await walk.settleSome()
            try await walk.check("seed \(seed), step \(step)")
        }
        try await walk.settleAll()
        for _ in 0..<3 { try await walk.check("seed \(seed), in the end", fetchesAll: true) }
    }
}

/// One zone, its tree as it should be, and what each participant has fetched.
private struct SharingWalk {
    private let bench: SharingBench
    private let limits: Limits
    /// Whether nothing is left to follow.
    private var isSettled = true
    /// Whether devices forget what they have now and then: what a new one was not shown must come
    /// to it later.
    private let beginsAnew: Bool
    private var random: SeededGenerator
    /// The parent of every note that lives.
    private var parents: [String: String?] = [:]
    /// By root, with who accepted.
    private var shares: [String: Share] = [:]
    private var replicas: [Replica]
    private var made = 0
    /// The names of notes that were deleted.
    private var gone: [String] = []
    /// What was done, for whoever reads a failure.
    private var done: [String] = []

    private struct Share {
        var record: WireRecord
        var members: Set<Int> = []
    }

    /// What a participant has.
    private struct Replica {
        var user: StoredUser
        var names: Set<String> = []
        var token: String?
    }

    init(seed: UInt64, movedRecords: Int? = nil) async throws {
        bench = try await SharingBench()
        var limits = Limits()
        if let movedRecords { limits.movedRecords = movedRecords }
        self.limits = limits
        beginsAnew = movedRecords != nil
        random = SeededGenerator(seed: seed)
        replicas = [Replica(user: bench.otto), Replica(user: bench.mia)]
    }

    // MARK: The model

    private func children(of name: String) -> [String] {
        parents.filter { $0.value == name }.keys.sorted()
    }

    private func below(_ name: String) -> Set<String> {
        children(of: name).reduce([name]) { $0.union(below($1)) }
    }

    private func root(of name: String) -> String? {
        var name: String? = name
        while let current = name {
            if shares[current] != nil { return current }
            name = parents[current] ?? nil
        }
        return nil
    }

    private func visible(to member: Int) -> Set<String> {
        var names = Set(
            parents.keys.filter { name in
                root(of: name).map { shares[$0]?.members.contains(member) ?? false } ?? false
            })
        for (root, share) in shares where share.members.contains(member) {
            names.insert("share-\(root)")
        }
        return names
    }

    // MARK: Steps

    mutating func step() async throws {
        let names = parents.keys.sorted()
        guard names.count > 3 else { return try await create() }
        switch random.below(14) {
        case 0...2: try await create()
        case 3...5: try await move(random.pick(names))
        case 12, 13: try await moveSeveral(names)
        case 6: try await touch(random.pick(names))
        case 7: try await delete(random.pick(names))
        case 8: try await share(random.pick(names))
        case 9: try await accept()
        case 10: try await leave()
        default: try await stop()
        }
    }

    private mutating func create() async throws {
        // Names of what was deleted come again.
        made += 1
        let name = gone.isEmpty || random.oneIn(2) ? "n\(made)" : gone.removeFirst()
        let parent = random.oneIn(3) ? nil : parents.keys.sorted().randomElement(using: &random)
        // Participants write too, where they may.
        let root = parent.flatMap(root(of:))
        let member = root.flatMap { shares[$0]?.members.min() }
        let user = random.oneIn(2) ? member.map { replicas[$0].user } : nil
        let results = try await bench.modify(
            as: user, limits: limits, .save(.create, name, title: name, parent: .some(parent)))
        guard results[0].error == nil || user == nil || isSettled else {
            // A participant does not see the parent yet.
            gone.append(name)
            return
        }
        #expect(results[0].error == nil)
        parents[name] = .some(parent)
        done.append("create \(name) in \(parent ?? "-")")
    }

    private mutating func move(_ name: String) async throws {
        let others = parents.keys.filter { !below(name).contains($0) }.sorted()
        let parent = random.oneIn(4) ? nil : others.randomElement(using: &random)
        let results = try await bench.modify(
            limits: limits, .save(.forceUpdate, name, parent: .some(parent)))
        let isRefused = parent.flatMap(root(of:)).map { above in
            below(name).contains { shares[$0] != nil && $0 != above }
        }
        guard isRefused != true else {
            #expect(results[0].error?.ckErrorCode == CKErrorCode.alreadyShared)
            return
        }
        #expect(results[0].error == nil)
        parents[name] = .some(parent)
        done.append("move \(name) to \(parent ?? "-")")
    }

    /// Moves several records with one save, some of them below each other.
    private mutating func moveSeveral(_ names: [String]) async throws {
        var after = parents
        var operations: [ModifyRecords.Operation] = []
        for name in names.shuffled(using: &random).prefix(2 + random.below(4)) {
            let parent = random.oneIn(4) ? nil : names.randomElement(using: &random)
            // A circle is no tree.
            guard !above(parent, in: after).contains(name) else { continue }
            after[name] = .some(parent)
            operations.append(.save(.forceUpdate, name, parent: .some(parent)))
        }
        let results = try await bench.modify(limits: limits, operations)
        let before = parents
        parents = after
        let isRefused = shares.keys.contains { root in
            (after[root] ?? nil).flatMap { self.root(of: $0) } != nil
        }
        if isRefused { parents = before }
        for result in results {
            #expect(
                (result.error == nil) != isRefused,
                "\(operations.map { "\($0.recordName ?? "") to \(($0.parent ?? nil) ?? "-")" })")
        }
        done.append(isRefused ? "refused" : "move \(operations.compactMap(\.recordName))")
    }

    /// A record with all that is above it.
    private func above(_ name: String?, in parents: [String: String?]) -> Set<String> {
        var above: Set<String> = []
        var name = name
        while let current = name, above.insert(current).inserted {
            name = parents[current] ?? nil
        }
        return above
    }

    private func touch(_ name: String) async throws {
        #expect(
            try await bench.modify(limits: limits, .save(.forceUpdate, name, title: "!"))[0].error
                == nil)
    }

    private mutating func delete(_ name: String) async throws {
        guard children(of: name).isEmpty else { return }
        #expect(try await bench.modify(limits: limits, .forceDelete(name))[0].error == nil)
        parents[name] = nil
        shares[name] = nil
        gone.append(name)
        done.append("delete \(name)")
    }

    private mutating func share(_ name: String) async throws {
        let isShared = root(of: name) != nil || below(name).contains { shares[$0] != nil }
        let results = try await bench.modify(
            limits: limits,
            .share(
                .create, "share-\(name)", of: name,
                participants: [.invited(bench.otto), .invited(bench.mia)]))
        guard !isShared else {
            #expect(results[0].error != nil)
            return
        }
        shares[name] = Share(record: try #require(results[0].record))
        done.append("share \(name)")
    }

    private mutating func accept() async throws {
        guard let root = shares.keys.sorted().randomElement(using: &random) else { return }
        let member = random.below(2)
        guard let share = shares[root] else { return }
        let isPending =
            try await bench.lookup("share-\(root)", as: bench.anna)[0].record?.participants
            .contains { $0.contains(replicas[member].user.recordName) } ?? false
        guard isPending else { return }
        _ = try await bench.accept(share.record, as: replicas[member].user)
        shares[root]?.members.insert(member)
        done.append("accept \(root) as \(member)")
    }

    private mutating func leave() async throws {
        guard let root = shares.keys.sorted().randomElement(using: &random),
            let member = shares[root]?.members.sorted().randomElement(using: &random)
        else { return }
        let user = replicas[member].user
        #expect(
            try await bench.modify(as: user, limits: limits, .share(.forceDelete, "share-\(root)"))[
                0
            ].error == nil)
        shares[root]?.members.remove(member)
        done.append("leave \(root) as \(member)")
    }

    private mutating func stop() async throws {
        guard let root = shares.keys.sorted().randomElement(using: &random) else { return }
        #expect(
            try await bench.modify(limits: limits, .share(.forceDelete, "share-\(root)"))[0].error
                == nil)
        shares[root] = nil
        done.append("stop \(root)")
    }

    // MARK: Following step by step

    /// Makes a tree that is deeper than chance makes one, and shares most of it with both.
    mutating func begin() async throws {
        for index in 0..<14 {
            let parent = index < 2 ? nil : index % 4 == 0 ? "t\(index / 2)" : "t\(index - 1)"
            let saved = try await bench.modify(
                .save(.create, "t\(index)", title: "t\(index)", parent: .some(parent)))
            #expect(saved[0].error == nil)
            parents["t\(index)"] = .some(parent)
        }
        try await share("t1")
        try await settleAll()
        try await shareWithAll()
    }

    /// Moves much, mostly.
    mutating func moveOrStep() async throws {
        if shares.isEmpty { try await share(random.pick(parents.keys.sorted())) }
        try await shareWithAll()
        guard random.below(3) > 0 else { return try await step() }
        let tops = parents.keys.filter { shares[$0] == nil && below($0).count > 2 }.sorted()
        guard let name = tops.randomElement(using: &random) else { return try await step() }
        try await move(name)
    }

    private mutating func shareWithAll() async throws {
        for _ in 0..<3 { try await accept() }
    }

    /// Takes a step, all of them or none.
    mutating func settleSome() async throws {
        switch random.below(8) {
        case 0: try await bench.settle()
        case 1...4: try await bench.settle(1 + random.below(3), steps: 1)
        default: break
        }
        isSettled = try await bench.isSettled()
        if !isSettled { done.append("unsettled") }
    }

    mutating func settleAll() async throws {
        try await bench.settle()
        isSettled = try await bench.isSettled()
        #expect(isSettled)
    }

    // MARK: What is seen

    mutating func check(_ place: String, fetchesAll: Bool = false) async throws {
        for member in replicas.indices {
            let expected = visible(to: member)
            // Some fetch seldom, and find much at once.
            if fetchesAll || random.oneIn(3) { try await fetch(member, expected, place) }
            let user = replicas[member].user
            guard !expected.isEmpty else {
                #expect(
                    try await bench.changes(as: user).error?.code == .zoneNotFound, "\(place)")
                continue
            }
            let names = parents.keys.sorted()
            let notes = expected.filter { parents[$0] != nil }
            let found = try await bench.modelLookup(names, as: user)
            let queried = Set(
                try await bench.query(as: user).map { String($0.prefix { $0 != "=" }) })
            #expect(found == queried, "\(place): \(done.suffix(12))")
            // What is to follow is seen nowhere until then.
            #expect(
                isSettled ? found == notes : found.isSubset(of: notes),
                "\(place): \(found) of \(notes): \(done.suffix(12))")
        }
    }

    private mutating func fetch(
        _ member: Int, _ expected: Set<String>, _ place: String
    ) async throws {
        if beginsAnew, random.oneIn(2) {
            (replicas[member].names, replicas[member].token) = ([], nil)
        }
        var isDone = false
        while !isDone {
            let answer = try await bench.changes(
                as: replicas[member].user, since: replicas[member].token, limit: 3)
            if let error = answer.error {
                // A device that hears either of these throws away what it has.
                replicas[member].names = []
                replicas[member].token = nil
                if error.code == .zoneNotFound {
                    #expect(expected.isEmpty, "\(place)")
                    return
                }
                #expect(error.ckErrorCode == CKErrorCode.changeTokenExpired, "\(place)")
                continue
            }
            let page = try #require(answer.page)
            for result in page.records {
                switch result {
                case .record(let record):
                    #expect(expected.contains(record.recordName), "\(place): \(done.suffix(12))")
                    replicas[member].names.insert(record.recordName)
                case .deleted(let tombstone): replicas[member].names.remove(tombstone.recordName)
                case .failed(let name, let error): Issue.record("\(name): \(error)")
                }
            }
            replicas[member].token = page.syncToken
            isDone = !page.moreComing
        }
        guard isSettled else { return }
        #expect(replicas[member].names == expected, "\(place): \(done.suffix(12))")
    }
}

extension SharingBench {
    /// Those of the names that a user finds by looking them up.
    fileprivate func modelLookup(_ names: [String], as user: StoredUser) async throws -> Set<String>
    {
        let call = call(user)
        let request = LookupRecords.Request(
            zoneID: ZoneID(zoneName: "Notes", ownerRecordName: anna.recordName),
            records: names.map { .init(recordName: $0) })
        let results = try await bench.store.read {
            try LookupRecords.run(request, for: call, in: $0)
        }.records
        return Set(results.compactMap { $0.record?.recordName })
    }
}
