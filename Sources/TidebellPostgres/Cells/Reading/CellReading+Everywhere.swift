// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellSQL
import TidebellWire

// What several cells have a part of.
extension CellReading {
    /// Puts pages of all cells together, the first of each of which come first: at most so many entries.
    ///
    /// What is on its way is in two cells: it counts where it is known to be.
    ///
    /// - Parameter place: The cell in which an entry is.
    func merged<Entry>(
        limit: Int, by precedes: (Entry, Entry) -> Bool, in place: (Entry) -> CellNumber,
        _ read: (any SQLReading) throws -> [Entry]
    ) throws -> [Entry] {
        let pages = try readers().map { cell, reader in
            try read(reader).filter { place($0) == cell }
        }
        guard pages.count(where: { !$0.isEmpty }) > 1 else {
            return Array(pages.first { !$0.isEmpty }?.prefix(limit) ?? [])
        }
        return Array(pages.joined().sorted(by: precedes).prefix(limit))
    }

    /// Reads on in one cell after the other, as long as there is room.
    func concatenated<Entry>(
        limit: Int, in place: ((Entry) -> CellNumber)? = nil,
        _ read: (any SQLReading, _ left: Int) throws -> [Entry]
    ) throws -> [Entry] {
        var found: [Entry] = []
        for (cell, reader) in try readers() {
            guard found.count < limit else { break }
            found += try read(reader, limit - found.count).filter { place?($0) ?? cell == cell }
        }
        return found
    }

    /// What the first cell answers that has an answer, and is where that is.
    private func first<Answer>(
        in place: (Answer) -> CellNumber, _ read: (any SQLReading) throws -> Answer?
    ) throws -> Answer? {
        for (cell, reader) in try readers() {
            if let answer = try read(reader), place(answer) == cell { return answer }
        }
        return nil
    }

    func noteWork(_ bytes: Int) throws { try directory.noteWork(bytes) }

    // MARK: Databases and zones

    func containers(limit: Int) throws -> [ContainerKey] {
        func name(_ key: ContainerKey) -> [String] { [key.container, key.environment.rawValue] }
        let found = Set(try readers().flatMap { try $0.reader.containers(limit: limit) })
        return Array(
            found.sorted { name($0).lexicographicallyPrecedes(name($1)) }.prefix(limit))
    }

    func databases(
        of container: ContainerKey, after last: DatabaseID?, limit: Int
    ) throws -> [DatabaseID] {
        try merged(limit: limit, by: { $0.rawValue < $1.rawValue }, in: { cells.cell(of: $0) }) {
            try $0.databases(of: container, after: last, limit: limit)
        }
    }

    func unsettledZones(from first: ZoneKey, limit: Int) throws -> [UnsettledZone] {
        try merged(
            limit: limit, by: { $0.zone.key < $1.zone.key }, in: { cells.cell(of: $0.zone.key) }
        ) {
            try $0.unsettledZones(from: first, limit: limit)
        }
    }

    /// Zones of one cell that follow one another are read at once.
    func scanRecords(
        of type: String, in zones: [ZoneKey], after cursor: RecordCursor?,
        _ body: (StoredRecord, ZoneKey) throws -> Bool
    ) throws {
        var left = zones[...]
        var goesOn = true
        while goesOn, let first = left.first {
            let cell = cells.cell(of: first)
            let together = left.prefix { cells.cell(of: $0) == cell }
            left = left.dropFirst(together.count)
            if let cursor, let last = together.last, last < cursor.zone { continue }
            try reader(in: cell).scanRecords(of: type, in: Array(together), after: cursor) {
                goesOn = try body($0, $1)
                return goesOn
            }
        }
    }

    // MARK: Indexes of fields

    func unfinishedFieldIndexes(
        after last: FieldIndexID, limit: Int
    ) throws -> [StoredFieldIndex] {
        try merged(
            limit: limit, by: { $0.id.rawValue < $1.id.rawValue }, in: { cells.cell(of: $0.id) }
        ) {
            try $0.unfinishedFieldIndexes(after: last, limit: limit)
        }
    }

    func fieldIndexes(
        unusedSince moment: Instant, limit: Int
    ) throws -> [StoredFieldIndex] {
        try concatenated(limit: limit, in: { cells.cell(of: $0.id) }) {
            try $0.fieldIndexes(unusedSince: moment, limit: $1)
        }
    }

    // MARK: Sharing

    func share(shortGUID: String) throws -> LocatedShare? {
        try first(in: { cells.cell(of: $0.zone.key) }) { try $0.share(shortGUID: shortGUID) }
    }

    /// Zones are granted by whoever owns them: those that are named are looked for in the cells of their owners.
    func grantedZones(
        to user: UserID, among ids: Set<GrantedZoneID>?
    ) throws -> [GrantedZone] {
        var asked = Set(cells.numbers)
        if let ids {
            guard let container = try directory.users([user])[user]?.container else { return [] }
            let owners = try directory.users(
                recordNames: Set(ids.map(\.owner)), in: container)
            asked = Set(owners.map { cells.cell(of: $0.id) })
        }
        let found = try asked.sorted().map { cell in
            try reader(in: cell).grantedZones(to: user, among: ids)
                .filter { cells.cell(of: $0.zone.key) == cell }
        }
        guard found.count > 1 else { return found.first ?? [] }
        guard ids == nil else { return found.joined().sorted { $0.zone.key < $1.zone.key } }
        func name(_ zone: GrantedZone) -> [[UInt8]] {
            [Array(zone.owner.recordName.utf8), Array(zone.zone.name.utf8)]
        }
        return found.joined().sorted { left, right in
            let (left, right) = (name(left), name(right))
            return left[0] == right[0]
                ? left[1].lexicographicallyPrecedes(right[1])
                : left[0].lexicographicallyPrecedes(right[0])
        }
    }

    // MARK: Subscriptions and the outbox

    func subscriptions(
        _ serials: [SubscriptionSerial], byteLimit: Int
    ) throws -> (
        subscriptions: [StoredSubscription], damaged: [SubscriptionSerial], bytes: Int
    ) {
        let byCell = Dictionary(grouping: serials) { cells.cell(of: $0) }
        var all: (subscriptions: [StoredSubscription], damaged: [SubscriptionSerial], bytes: Int)
        all = ([], [], 0)
        for cell in byCell.keys.sorted() {
            guard all.bytes < byteLimit else { break }
            let page = try reader(in: cell).subscriptions(
                byCell[cell] ?? [], byteLimit: byteLimit - all.bytes)
            all.subscriptions += page.subscriptions
            all.damaged += page.damaged
            all.bytes += page.bytes
        }
        return all
    }

    func querySubscriptions(
        of container: ContainerKey, after serial: SubscriptionSerial, limit: Int
    ) throws -> [SubscriptionSerial] {
        try merged(limit: limit, by: <, in: { cells.cell(of: $0) }) {
            try $0.querySubscriptions(of: container, after: serial, limit: limit)
        }
    }

    func queuedDatabases(limit: Int) throws -> [DatabaseID] {
        try concatenated(limit: limit, in: { cells.cell(of: $0) }) {
            try $0.queuedDatabases(limit: $1)
        }
    }

    /// Each cell has its share of the limits.
    func outboxes(
        of databases: [DatabaseID], limit: Int, byteLimit: Int
    ) throws -> [DatabaseOutbox] {
        let byCell = Dictionary(grouping: databases) { cells.cell(of: $0) }
        let found = try byCell.sorted { $0.key < $1.key }.flatMap { cell, part in
            func share(_ whole: Int) -> Int {
                // The limit may be as large as there are numbers.
                max(1, whole / databases.count * part.count)
            }
            return try reader(in: cell).outboxes(
                of: part, limit: share(limit), byteLimit: share(byteLimit))
        }
        guard byCell.count > 1 else { return found }
        let places = Dictionary(zip(databases, 0...)) { first, _ in first }
        return found.sorted { (places[$0.database] ?? 0) < (places[$1.database] ?? 0) }
    }

    // MARK: Explanations

    /// Of several cells, by the moments of the changes; the cursor has the place in each cell.
    func keptChanges(_ query: KeptChangeQuery, limit: Int) throws -> [KeptChange] {
        let places = CellCursor(query.after)
        var pages: [(cell: CellNumber, changes: ArraySlice<KeptChange>)] = []
        for cell in cells.numbers {
            var query = query
            query.after = places[cell]
            pages.append(
                (
                    cell,
                    try reader(in: cell).keptChanges(query, limit: limit)
                        .filter { cells.cell(of: $0.entry.database) == cell }[...]
                ))
        }
        var all: [KeptChange] = []
        var cursor = places
        while all.count < limit {
            let newest = pages.indices.filter { !pages[$0].changes.isEmpty }
                .max { index, other in
                    pages[index].changes.first!.entry.committedAt
                        < pages[other].changes.first!.entry.committedAt
                }
            guard let newest, var change = pages[newest].changes.popFirst() else { break }
            cursor[pages[newest].cell] = change.cursor
            change.cursor = cursor.text
            all.append(change)
        }
        return all
    }

    func oldestKeptChange() throws -> Instant? {
        try readers().compactMap { try $0.reader.oldestKeptChange() }.min()
    }

    func notifiedMatches(
        notificationID: String, limit: Int
    ) throws -> [NotifiedMatch] {
        try concatenated(limit: limit) {
            try $0.notifiedMatches(notificationID: notificationID, limit: $1)
        }
    }

    // MARK: What accounts and containers hold

    func privateUse(of account: AccountID) throws -> StorageUse {
        let owners = try reader(in: known(account.cell)).users(of: account, limit: .max).map(\.id)
        let byCell = Dictionary(grouping: owners) { cells.cell(of: $0) }
        return try byCell.sorted { $0.key < $1.key }.reduce(.zero) {
            $0 + (try reader(in: $1.key).use(of: Set($1.value)))
        }
    }

    /// What is on its way to another cell counts twice until it is there.
    func storageUses() throws -> [NamedStorageUse] {
        var people: [AccountID: StorageUse] = [:]
        var containers: [NamedStorageUse] = []
        for (_, reader) in try readers() {
            people.merge(try reader.accountUses(), uniquingKeysWith: +)
            containers += try reader.containerUses()
        }
        return try directory.named(people) + containers
    }

    // MARK: Who is gone

    func lostUsers(limit: Int) throws -> [UserID] {
        let lost =
            try lostOwnersElsewhere(limit: limit).map(\.owner.id)
            + directory.lostUsers(limit: limit)
        return Array(lost.sorted { $0.rawValue < $1.rawValue }.prefix(limit))
    }

    /// Owners of databases in other cells than the directory's who have no row there, nor in the directory.
    func lostOwnersElsewhere(
        limit: Int
    ) throws -> [(cell: CellNumber, owner: LostOwner)] {
        var found: [(CellNumber, LostOwner)] = []
        for cell in cells.numbers where cell != .directory && found.count < limit {
            let owners = try reader(in: cell).lostOwners(limit: limit)
            let known = try directory.users(Set(owners.map(\.id)))
            found += owners.filter { known[$0.id] == nil }.map { (cell, $0) }
        }
        return found
    }

    // MARK: Keys

    func zonesWithoutFieldKey(
        wrappedBy rootKeyID: String, limit: Int
    ) throws -> [StoredZone] {
        try merged(limit: limit, by: { $0.key < $1.key }, in: { cells.cell(of: $0.key) }) {
            try $0.zonesWithoutFieldKey(wrappedBy: rootKeyID, limit: limit)
        }
    }

    func zoneKeys(
        wrappedBy rootKeyID: String, after zone: ZoneKey?, limit: Int
    ) throws -> [WrappedZoneKey] {
        try merged(limit: limit, by: { $0.zone < $1.zone }, in: { cells.cell(of: $0.zone) }) {
            try $0.zoneKeys(wrappedBy: rootKeyID, after: zone, limit: limit)
        }
    }

    func unsealedRecords(
        limit: Int
    ) throws -> (zone: StoredZone, names: Set<String>)? {
        try first(in: { cells.cell(of: $0.zone.key) }) { try $0.unsealedRecords(limit: limit) }
    }

    /// A file that zones of several cells hold is counted in none of them, or in one.
    func lossWithout(_ rootKeyID: String) throws -> KeyLoss {
        try readers().reduce(into: KeyLoss()) { all, next in
            let loss = try next.reader.lossWithout(rootKeyID)
            all.zones += loss.zones
            all.records += loss.records
            all.files += loss.files
        }
    }

    // MARK: Kept answers

    /// Answers are kept where the write is that they answer.
    func keptAnswer(to write: WriteID) throws -> KeptAnswer? {
        try reader(in: home).keptAnswer(to: write)
    }

    func keptAnswers(after number: Int64?, limit: Int) throws -> [NumberedAnswer] {
        try merged(
            limit: limit, by: { $0.number < $1.number }, in: { CellNumber(thatGave: $0.number) }
        ) {
            try $0.keptAnswers(after: number, limit: limit)
        }
    }
}

/// A place among the kept changes of several cells: `0:17,2:90`.
private struct CellCursor {
    private var places: [CellNumber: KeptChangeCursor] = [:]

    /// Reads what ``text`` wrote; from the newest change on where there is nothing.
    init(_ cursor: KeptChangeCursor?) {
        for part in cursor?.rawValue.split(separator: ",") ?? [] {
            let pair = part.split(separator: ":")
            guard pair.count == 2, let number = Int(pair[0]) else {
                preconditionFailure("a cursor of kept changes is another engine's")
            }
            places[CellNumber(rawValue: number)] = KeptChangeCursor(rawValue: String(pair[1]))
        }
    }

    subscript(cell: CellNumber) -> KeptChangeCursor? {
        get { places[cell] }
        set { places[cell] = newValue }
    }

    var text: KeptChangeCursor {
        KeptChangeCursor(
            rawValue: places.sorted { $0.key < $1.key }
                .map { "\($0.key.rawValue):\($0.value.rawValue)" }.joined(separator: ","))
    }
}
