// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let model: [Check] = [
        Check("A seeded life of saves, deletions and new zones agrees with a model") { store in
            let seed = UInt64.random(in: .min ... .max)
            try await store.write(.everything) { transaction in
                var life = try Life(seed: seed, in: transaction)
                for step in 1...300 {
                    try life.liveOn(in: transaction)
                    let differences = try life.differences(in: transaction)
                    guard differences.isEmpty else {
                        Issue.record("seed \(seed), step \(step): \(differences)")
                        return
                    }
                }
            }
        }
    ]
}

/// What a store should hold, kept as simply as possible.
private struct Life {
    private var generator: SeededGenerator
    private let database: DatabaseID
    private var zones: [String: (key: ZoneKey, floor: Position)] = [:]
    private var records: [String: [String: StoredRecord]] = [:]
    private var now = Instant.noon

    private static let zoneNames = ["diary", "letters"]
    private static let recordNames = (0..<8).map { "r\($0)" }

    init(seed: UInt64, in transaction: any StoreTransaction) throws {
        generator = SeededGenerator(seed: seed)
        database = try transaction.makeDatabase(.privateNotes()).id
        for name in Self.zoneNames { try create(name, in: transaction) }
    }

    /// Does one thing at random, in the store and in the model.
    mutating func liveOn(in transaction: any StoreTransaction) throws {
        now = now.advanced(by: .seconds(1))
        let zone = Self.zoneNames[Int.random(in: 0..<Self.zoneNames.count, using: &generator)]
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: try recreate(zone, in: transaction)
        case 1: try forget(in: transaction)
        default: try save(in: zone, transaction)
        }
    }

    /// Where the store differs from the model.
    func differences(in transaction: any StoreTransaction) throws -> [String] {
        try zones.flatMap { name, zone -> [String] in
            let expected = (records[name] ?? [:]).values.sorted { $0.position < $1.position }
            let living = expected.filter { !$0.isDeleted }
            var differences: [String] = []
            func compare(_ what: String, _ isEqual: Bool) {
                if !isEqual { differences.append("\(what) of \(name)") }
            }
            compare("history", try pages(of: zone.key, in: transaction) == expected)
            let backward = try pages(of: zone.key, reverse: true, in: transaction)
            compare("reverse history", backward == expected.reversed())
            let found = try transaction.records(Set(Self.recordNames), in: zone.key)
            compare(
                "look-up", found == Dictionary(uniqueKeysWithValues: living.map { ($0.name, $0) }))
            let stored = try transaction.zones([name], in: database)
            compare("floor", stored.map(\.floor) == [zone.floor])
            return differences
        }
    }

    private func pages(
        of zone: ZoneKey, reverse: Bool = false, in transaction: any StoreTransaction
    ) throws -> [StoredRecord] {
        var all: [StoredRecord] = []
        while true {
            let next = all.last?.position ?? (reverse ? Position(rawValue: .max) : .start)
            let page = try transaction.recordChanges(
                in: zone, after: next, limit: 3, byteLimit: .max, reverse: reverse
            )
            all += page.records
            if page.isComplete { return all }
        }
    }

    private mutating func create(_ name: String, in transaction: any StoreTransaction) throws {
        let zone = try transaction.makeZone(name)
        zones[name] = (zone.key, .start)
        records[name] = [:]
    }

    private mutating func recreate(_ name: String, in transaction: any StoreTransaction) throws {
        guard let zone = zones[name] else { return }
        let position = try transaction.advance(database, by: 1)
        try transaction.deleteZones([(zone.key, position)], reason: .deleted, at: now)
        try create(name, in: transaction)
    }

    private mutating func save(in zone: String, _ transaction: any StoreTransaction) throws {
        guard let key = zones[zone]?.key else { return }
        let count = Int.random(in: 1...4, using: &generator)
        let names = Self.recordNames.shuffled(using: &generator).prefix(count)
        var position = try transaction.advance(database, by: count)
        var batch: [StoredRecord] = []
        for name in names {
            let isDeleted = Bool.random(using: &generator)
            batch.append(
                isDeleted
                    ? .tombstone(name, at: position, modified: now)
                    : .note(name, at: position, text: "\(now.rawValue)", modified: now)
            )
            position = position.advanced(by: 1)
        }
        try transaction.putRecords(batch, in: key)
        for record in batch { records[zone]?[record.name] = record }
    }

    /// Removes the tombstones older than the last dozen steps.
    private mutating func forget(in transaction: any StoreTransaction) throws {
        let moment = Instant(rawValue: now.rawValue - 12_000)
        _ = try transaction.removeTombstones(modifiedBefore: moment, limit: .max)
        for (name, zone) in zones {
            let old = (records[name] ?? [:]).values.filter {
                $0.isDeleted && $0.modified.timestamp < moment.rawValue
            }
            for record in old { records[name]?[record.name] = nil }
            zones[name]?.floor = old.map(\.position).reduce(zone.floor, max)
        }
    }
}
