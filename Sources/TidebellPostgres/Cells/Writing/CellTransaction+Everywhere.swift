// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What is written in several cells, or not without looking into another one.
extension CellTransaction {
    // MARK: Users

    /// The number of a new user says in which cell their databases will be: that of their account, where it takes new ones.
    func makeUser(
        of account: AccountID, in container: ContainerKey, recordName: String, at now: Instant
    ) throws -> StoredUser {
        let user = try write(in: .directory) {
            try $0.makeUser(
                of: account, in: container, recordName: recordName, at: now,
                numberedFrom: cells.map.cellForNewUser(of: account).start)
        }
        if known(account.cell) != .directory { uncopied.users.append(user) }
        return user
    }

    /// The same as in any reader. A step of an account brings its cell a user whom that lacks: their copy was not made.
    func user(of account: AccountID, in container: ContainerKey) throws -> StoredUser? {
        let cell = known(account.cell)
        guard cell != .directory else { return try directory.user(of: account, in: container) }
        if let found = try reader(in: cell).user(of: account, in: container) { return found }
        let found = try directory.user(of: account, in: container)
        if isOfAccount, let found { uncopied.users.append(found) }
        return found
    }

    /// Brings the cell of an account a user that the directory has committed: it has a row of each of them.
    func copyUser(_ user: StoredUser) throws {
        try write(in: known(user.account.cell)) { try $0.putUsers([user]) }
    }

    /// Writes something of users in a cell, which has the rows of those who have something there: whose cell it is, who
    /// subscribed to one of its databases or was let into a zone. What they say never changes, but for how far a log was cut
    /// off, which counts in the user's own cell.
    func write<Result>(
        in cell: CellNumber, bringing users: Set<UserID>,
        _ body: (SQLTransaction) throws -> Result
    ) throws -> Result {
        guard cell != .directory else { return try write(in: cell, body) }
        let there = try reader(in: cell).users(users)
        let missing = try self.users(users.subtracting(there.keys)).values
        return try write(in: cell) {
            try $0.putUsers(missing)
            return try body($0)
        }
    }

    func makeDatabase(_ key: DatabaseKey) throws -> StoredDatabase {
        try write(
            in: cells.cellToMake(key), bringing: Set([key.owner].compactMap(\.self))
        ) { try $0.makeDatabase(key) }
    }

    func putSubscriptions(_ subscriptions: [StoredSubscription]) throws {
        let byCell = Dictionary(grouping: subscriptions) { cells.cell(of: $0.database) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell, bringing: Set(part.map(\.user))) {
                try $0.putSubscriptions(part)
            }
        }
    }

    func putGrants(_ grants: [ShareGrant]) throws {
        let byCell = Dictionary(grouping: grants) { cells.cell(of: $0.zone) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell, bringing: Set(part.map(\.user))) { try $0.putGrants(part) }
        }
    }

    func removeAccount(_ account: AccountID, at now: Instant) throws {
        var (devices, subscriptions) = (0, 0)
        for cell in cells.numbers where cell != home {
            try write(in: cell) {
                try $0.removeSessions(of: account)
                devices += try $0.removeDevices(of: account)
                subscriptions += try $0.removeSubscriptions(of: account)
            }
        }
        try own.removeAccount(account, at: now)
        try own.noteErased(.devices, devices, of: account)
        try own.noteErased(.subscriptions, subscriptions, of: account)
    }

    func eraseRows(of user: StoredUser, at now: Instant, limit: Int) throws -> Bool {
        for cell in cells.numbers where cell != home {
            let (isDone, erased) = try write(in: cell) {
                let isDone = try $0.eraseRows(of: user, at: now, limit: limit)
                // The row of the user goes with the directory's, and is counted there.
                return (isDone, try $0.takeErased(of: user.account))
            }
            for (kind, count) in erased where kind != .users {
                try own.noteErased(kind, count, of: user.account)
            }
            guard isDone else { return false }
        }
        return try own.eraseRows(of: user, at: now, limit: limit)
    }

    func adoptLostDatabases(limit: Int) throws {
        for (cell, owner) in try lostOwnersElsewhere(limit: limit) {
            try own.adopt(owner)
            let users = try own.users([owner.id])
            try write(in: cell) { try $0.putUsers(users.values) }
        }
        try own.adoptLostDatabases(limit: limit)
    }

    // MARK: Databases

    func deleteZones(
        _ zones: [(key: ZoneKey, position: Position)], reason: ZoneDeletionReason, at now: Instant
    ) throws {
        guard let first = zones.first else { return }
        try write(in: cells.cell(of: first.key)) {
            try $0.deleteZones(zones, reason: reason, at: now)
        }
    }

    func appendOutbox(_ entries: [OutboxEntry]) throws {
        let byCell = Dictionary(grouping: entries) { cells.cell(of: $0.database) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) { try $0.appendOutbox(part) }
        }
    }

    func holds(_ lease: OutboxLease, at version: OutboxVersion) throws -> Bool {
        let cell = cells.cell(of: lease.key)
        if cell == home { return try own.holds(lease, at: version) }
        return try reader(in: cell).isHeld(
            lease, at: version, by: cells.store(of: cell).outboxLeases)
    }

    func appendNotifiedMatches(_ matches: [NotifiedMatch]) throws {
        let byCell = Dictionary(grouping: matches) { cells.cell(of: $0.change.database) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) { try $0.appendNotifiedMatches(part) }
        }
    }

    func noteUse(of indexes: Set<FieldIndexID>, at now: Instant) throws {
        let byCell = Dictionary(grouping: indexes) { cells.cell(of: $0) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            try write(in: cell) { try $0.noteUse(of: Set(part), at: now) }
            try commit(in: cell)
        }
    }

    // MARK: Kept answers

    func keepAnswer(
        _ answer: KeptAnswer, to write: WriteID, at now: Instant, exceeding bytes: Int
    ) throws {
        try own.keepAnswer(answer, to: write, at: now, exceeding: bytes)
    }

    func replaceKeptAnswers(_ answers: [Int64: KeptAnswer]) throws {
        let byCell = Dictionary(grouping: answers) { CellNumber(thatGave: $0.key) }
        for (cell, part) in byCell.sorted(by: { $0.key < $1.key }) {
            let part = Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) })
            try write(in: cell) { try $0.replaceKeptAnswers(part) }
        }
    }

    // MARK: What is old

    /// The earliest of the cells' moments: each moves its own.
    func moveRetention(to now: Instant, byAtMost step: Duration) throws -> Instant {
        try writeEverywhere { try $0.moveRetention(to: now, byAtMost: step) }.min() ?? now
    }

    func removeTombstones(modifiedBefore moment: Instant, limit: Int) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeTombstones(modifiedBefore: moment, limit: $1)
        }
    }

    func removeDeletedZones(limit: Int, at now: Instant) throws -> Int {
        try removeEverywhere(limit: limit) { try $0.removeDeletedZones(limit: $1, at: now) }
    }

    func removeAnswers(
        keptBefore moment: Instant, at now: Instant, exceeding bytes: Int, limit: Int
    ) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeAnswers(keptBefore: moment, at: now, exceeding: bytes, limit: $1)
        }
    }

    func removeExplanations(
        before moment: Instant, exceeding bounds: ExplanationBounds, limit: Int
    ) throws -> Int {
        try removeEverywhere(limit: limit) {
            try $0.removeExplanations(before: moment, exceeding: bounds, limit: $1)
        }
    }

    /// The directory has the files, and each cell who holds them.
    ///
    /// A cell's note that nobody may hold a file stays until the file is gone for good, or is found to be held: it
    /// would be lost if the directory's transaction failed afterwards.
    func removeUnusedAssets(
        since moment: Instant, limit: Int
    ) throws -> (files: [String], isComplete: Bool) {
        var noted: [CellNumber: Set<AssetContent>] = [:]
        for cell in cells.numbers {
            noted[cell] = try reader(in: cell).unusedFiles(since: moment, limit: limit)
        }
        let candidates = noted.values.reduce(into: Set()) { $0.formUnion($1) }
        var held: Set<AssetContent> = []
        for (_, reader) in try readers() {
            held.formUnion(try reader.heldFiles(among: candidates.subtracting(held)))
        }
        let there = Set(try directory.assets(candidates).keys)
        let settled = candidates.filter { held.contains($0) || !there.contains($0) }
        for (cell, contents) in noted.sorted(by: { $0.key < $1.key }) where cell != home {
            let known = contents.intersection(settled)
            if !known.isEmpty { try write(in: cell) { try $0.forgetUnused(known) } }
        }
        try own.forgetUnused(noted[home] ?? [])
        let files = try own.removeAssets(candidates.subtracting(held))
        return (files, noted.values.allSatisfy { $0.count < limit })
    }
}
